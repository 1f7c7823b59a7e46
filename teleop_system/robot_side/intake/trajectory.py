# SPDX-License-Identifier: Apache-2.0
"""Trajectories of one part: checked when received, sampled once per cycle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces.causes import Rule
from teleop_system.safety.command_check import Fault
from teleop_system.safety.staleness import TRAJECTORY_START

Array = NDArray[np.float64]

ENGAGE_TIMEOUT = 0.3
"""How long in [s] a trajectory waits for the robot to be engaged before it is dropped."""
LARGEST_LEAD_TIME = 1.0
"""How far ahead in [s] a trajectory may start: its sender may have stopped by then."""
SETTLING_TIME = 1.0
"""How long in [s] the last point is still commanded after the end, as limits may delay it."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Points for the joints of a part, in the part's own order.

    Attributes:
        times: Time of each point after the start in [s], shape (K,), rising.
        positions: Joint positions of each point in [rad] or [m], shape (K, N).
        velocities: Joint velocities, same shape; None joins the points by straight lines.
    """

    times: Array
    positions: Array
    velocities: Array | None = None

    @classmethod
    def checked(
        cls,
        joints: Sequence[str],
        names: Sequence[str],
        times: Sequence[float],
        positions: Sequence[Sequence[float]],
        velocities: Sequence[Sequence[float]],
    ) -> "Trajectory":
        """Return the trajectory of a part, whatever the order of the names.

        Args:
            joints: The joints of the part.
            names: The joints as the points name them.
            times: Time of each point after the start in [s].
            positions: One row per point, in the order of `names`.
            velocities: One row a point, same order; or empty rows.

        Raises:
            InvalidJointStateError: Names, lengths, numbers or times are wrong.
        """
        if sorted(names) != sorted(joints):
            raise InvalidJointStateError(f"needs the joints {list(joints)}, got {list(names)}")
        order = [list(names).index(joint) for joint in joints]
        due = np.asarray(times, dtype=np.float64)
        if not due.size:
            raise InvalidJointStateError("needs at least one point, got none")
        if not np.isfinite(due).all() or due[0] < 0.0:
            raise InvalidJointStateError(f"times must be finite and not negative, got {times}")
        if (np.diff(due) <= 0.0).any():
            raise InvalidJointStateError(f"times must rise from point to point, got {list(times)}")
        has_velocities = all(len(row) for row in velocities) and len(velocities) == len(due)
        return cls(
            due,
            _table("positions", positions, len(order))[:, order],
            _table("velocities", velocities, len(order))[:, order] if has_velocities else None,
        )

    @property
    def duration(self) -> float:
        """Time from the start to the last point in [s]."""
        return float(self.times[-1])

    def sample(self, elapsed: float, start: Array) -> Array:
        """Return positions `elapsed` [s] after a start at the positions `start`, shape (N,)."""
        index = int(np.searchsorted(self.times, elapsed, side="right"))
        if index == len(self.times):
            last: Array = self.positions[-1]
            return last
        since = float(self.times[index - 1]) if index else 0.0
        before = self.positions[index - 1] if index else start
        span = float(self.times[index]) - since
        share = (elapsed - since) / span
        after = self.positions[index]
        if self.velocities is None:
            return np.asarray(before + share * (after - before))
        velocity = self.velocities[index - 1] if index else np.zeros_like(start)
        return _hermite(share, span, before, velocity, after, self.velocities[index])


class TrajectoryPlayer:
    """Plays one trajectory; a new one replaces it."""

    def __init__(self) -> None:
        self._trajectory: Trajectory | None = None
        self._received_at = self._start_time = 0.0
        self._settling = SETTLING_TIME
        self._start: Array | None = None
        self._elapsed: float | None = None

    @property
    def is_playing(self) -> bool:
        """Whether a trajectory is running or waits to start."""
        return self._trajectory is not None

    @property
    def elapsed(self) -> float | None:
        """Time since the trajectory started in [s], up to its end; None before it started."""
        return self._elapsed

    @property
    def start(self) -> Array | None:
        """Commanded positions when the trajectory started; None before it started."""
        return self._start

    def put(
        self,
        trajectory: Trajectory,
        now: float,
        start_time: float | None = None,
        *,
        settling: float = SETTLING_TIME,
    ) -> None:
        """Store a trajectory at time `now` [s].

        Args:
            trajectory: The trajectory to play.
            now: Time in [s].
            start_time: When it starts in [s]; at once where it is None or past.
            settling: How long after its end the last point is still commanded in [s].
        """
        self._trajectory = trajectory
        self._received_at = now
        self._start_time = now if start_time is None else start_time
        self._settling = settling
        self._start = self._elapsed = None

    def cancel(self) -> None:
        """Drop the trajectory; the part holds."""
        self._trajectory = None

    def update(self, now: float, *, following: bool, commanded: Array) -> Array | None:
        """Return the positions to command at time `now` [s]; None while nothing plays.

        Args:
            now: Time in [s].
            following: Whether the robot follows its operator. A trajectory is dropped when it
                does not start soon, and when following ends while it runs.
            commanded: Positions commanded at present in [rad] or [m], shape (N,).
        """
        trajectory = self._trajectory
        if trajectory is None:
            return None
        if not following:
            if self._start is not None or now - self._received_at > ENGAGE_TIMEOUT:
                self.cancel()
            return None
        if self._start is None:
            if now < self._start_time:
                return commanded.copy()
            self._start = commanded.copy()
            self._start_time = max(self._start_time, self._received_at)
        elapsed = self._elapsed = now - self._start_time
        if elapsed > trajectory.duration + self._settling:
            self.cancel()
        return trajectory.sample(elapsed, self._start)


def start_fault(part: str, start_time: float | None, now: float) -> tuple[Fault, str] | None:
    """Return the fault of a trajectory's start time, also in words; None where it is good.

    Args:
        part: Name of the part.
        start_time: When it starts in [s]; None for at once, which is always good.
        now: Time in [s].
    """
    if start_time is None:
        return None
    ahead = start_time - now
    if ahead > LARGEST_LEAD_TIME:
        words = f"it starts in {ahead:.2f} s, allowed are {LARGEST_LEAD_TIME:g} s"
        return Fault(Rule.TIME_ORDER, f"{part} trajectory", ahead, LARGEST_LEAD_TIME), words
    if not -ahead <= TRAJECTORY_START.timeout:
        words = f"it started {-ahead:.2f} s ago, allowed are {TRAJECTORY_START.timeout:g} s"
        return Fault(Rule.STALE, f"{part} trajectory", -ahead, TRAJECTORY_START.timeout), words
    return None


def _table(name: str, rows: Sequence[Sequence[float]], width: int) -> Array:
    wrong = [len(row) for row in rows if len(row) != width]
    if wrong:
        raise InvalidJointStateError(f"{name} need {width} numbers per point, got {wrong[0]}")
    table = np.asarray(rows, dtype=np.float64)
    if not all(map(math.isfinite, table.ravel().tolist())):
        raise InvalidJointStateError(f"{name} must be finite")
    return table


def _hermite(
    share: float, span: float, before: Array, velocity: Array, after: Array, end_velocity: Array
) -> Array:
    """Return the cubic through both positions with both velocities."""
    s2, s3 = share * share, share * share * share
    return np.asarray(
        (2.0 * s3 - 3.0 * s2 + 1.0) * before
        + (s3 - 2.0 * s2 + share) * span * velocity
        + (3.0 * s2 - 2.0 * s3) * after
        + (s3 - s2) * span * end_velocity
    )
