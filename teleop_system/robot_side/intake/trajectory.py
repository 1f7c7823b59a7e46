# SPDX-License-Identifier: Apache-2.0
"""Whole trajectories for one part: checked when they come, sampled once a cycle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces.causes import Rule
from teleop_system.safety.command_check import Fault

Array = NDArray[np.float64]

LONGEST_WAIT = 0.3
"""How long in [s] a trajectory waits for somebody to take control before it is dropped."""
FURTHEST_START = 1.0
"""How far ahead in [s] a trajectory may say that it begins: a sender may be gone by then."""
OLDEST_START = 0.5
"""How long ago in [s] a trajectory may say that it began. It is played from its start all the
same, so that of an older one would be a motion that nobody asks for any more."""
SETTLING_TIME = 1.0
"""How long in [s] after its end the last point is still asked for, as limits may delay it."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Points that joints should pass, in a part's own order.

    Attributes:
        times: When each point is due after the start in [s], shape (K,), rising.
        positions: Where joints should be then in [rad] or [m], shape (K, N).
        velocities: How fast they should be then, likewise; None joins the points by lines.
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
            times: When each point is due after the start in [s].
            positions: One row a point, in the order of `names`.
            velocities: Likewise, or empty rows.

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
        has_speeds = all(len(row) for row in velocities) and len(velocities) == len(due)
        return cls(
            due,
            _table("positions", positions, len(order))[:, order],
            _table("velocities", velocities, len(order))[:, order] if has_speeds else None,
        )

    @property
    def duration(self) -> float:
        """Time from the start to the last point in [s]."""
        return float(self.times[-1])

    def sample(self, elapsed: float, start: Array) -> Array:
        """Return positions `elapsed` [s] after a start at the positions `start`, shape (N,)."""
        place = int(np.searchsorted(self.times, elapsed, side="right"))
        if place == len(self.times):
            last: Array = self.positions[-1]
            return last
        since = float(self.times[place - 1]) if place else 0.0
        before = self.positions[place - 1] if place else start
        span = float(self.times[place]) - since
        share = (elapsed - since) / span
        after = self.positions[place]
        if self.velocities is None:
            return np.asarray(before + share * (after - before))
        speed = self.velocities[place - 1] if place else np.zeros_like(start)
        return _hermite(share, span, before, speed, after, self.velocities[place])


class TrajectoryPlayer:
    """Plays one trajectory at a time; a new one replaces it."""

    def __init__(self) -> None:
        self._trajectory: Trajectory | None = None
        self._came_at = self._begins_at = 0.0
        self._settling = SETTLING_TIME
        self._start: Array | None = None
        self._elapsed: float | None = None

    @property
    def is_playing(self) -> bool:
        """Whether a trajectory is under way or waits."""
        return self._trajectory is not None

    @property
    def elapsed(self) -> float | None:
        """Time since the trajectory began in [s], up to its end; None where it never did."""
        return self._elapsed

    @property
    def start(self) -> Array | None:
        """Where the part was told to be when the trajectory began; None where it never did."""
        return self._start

    def put(
        self,
        trajectory: Trajectory,
        now: float,
        begins_at: float | None = None,
        *,
        settling: float = SETTLING_TIME,
    ) -> None:
        """Take a trajectory at time `now` [s].

        Args:
            trajectory: What to play.
            now: Time in [s].
            begins_at: When it begins in [s]; at once where it is None or past.
            settling: How long after its end the last point is still asked for in [s].
        """
        self._trajectory = trajectory
        self._came_at = now
        self._begins_at = now if begins_at is None else begins_at
        self._settling = settling
        self._start = self._elapsed = None

    def cancel(self) -> None:
        """Drop the trajectory; the part holds."""
        self._trajectory = None

    def update(self, now: float, *, following: bool, commanded: Array) -> Array | None:
        """Return where the part should be at time `now` [s]; None while nothing plays.

        Args:
            now: Time in [s].
            following: Whether the robot follows its operator; what does not begin soon is
                dropped, and what is under way when that ends is, too.
            commanded: Positions commanded at present in [rad] or [m], shape (N,).
        """
        trajectory = self._trajectory
        if trajectory is None:
            return None
        if not following:
            if self._start is not None or now - self._came_at > LONGEST_WAIT:
                self.cancel()
            return None
        if self._start is None:
            if now < self._begins_at:
                return commanded.copy()
            self._start = commanded.copy()
            self._begins_at = max(self._begins_at, self._came_at)
        elapsed = self._elapsed = now - self._begins_at
        if elapsed > trajectory.duration + self._settling:
            self.cancel()
        return trajectory.sample(elapsed, self._start)


def start_fault(part: str, begins_at: float | None, now: float) -> tuple[Fault, str] | None:
    """Return what is wrong with the start of a trajectory, and in words; None where it is good.

    Args:
        part: Name of the part that it is for.
        begins_at: When it says that it begins in [s]; None for at once, which is always good.
        now: Time in [s].
    """
    if begins_at is None:
        return None
    ahead = begins_at - now
    if ahead > FURTHEST_START:
        words = f"it begins {ahead:.2f} s ahead, but at most {FURTHEST_START:g} s are waited"
        return Fault(Rule.TIME_ORDER, f"{part} trajectory", ahead, FURTHEST_START), words
    if not -ahead <= OLDEST_START:
        words = (
            f"it should have begun {-ahead:.2f} s ago, but at most {OLDEST_START:g} s are made up"
        )
        return Fault(Rule.STALE, f"{part} trajectory", -ahead, OLDEST_START), words
    return None


def _table(name: str, rows: Sequence[Sequence[float]], width: int) -> Array:
    wrong = [len(row) for row in rows if len(row) != width]
    if wrong:
        raise InvalidJointStateError(f"{name} need {width} numbers a point, got {wrong[0]}")
    table = np.asarray(rows, dtype=np.float64)
    if not all(map(math.isfinite, table.ravel().tolist())):
        raise InvalidJointStateError(f"{name} must be finite")
    return table


def _hermite(
    share: float, span: float, before: Array, speed: Array, after: Array, end_speed: Array
) -> Array:
    """Return the cubic that meets both positions and both velocities."""
    s2, s3 = share * share, share * share * share
    return np.asarray(
        (2.0 * s3 - 3.0 * s2 + 1.0) * before
        + (s3 - 2.0 * s2 + share) * span * speed
        + (3.0 * s2 - 2.0 * s3) * after
        + (s3 - s2) * span * end_speed
    )
