# SPDX-License-Identifier: Apache-2.0
"""Judges a trajectory whose sender waits for the result: running, reached or failed."""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.robot_side.intake.trajectory import Trajectory, TrajectoryPlayer

Array = NDArray[np.float64]

GOAL_TOLERANCE = 0.02
"""Distance from the last point that counts as reached in [rad] or [m], unless a goal sets it."""
START_TOLERANCE = 0.1
"""Largest distance of the first point from the robot in [rad] or [m]."""
ARRIVED = 0.002
"""Distance of the commanded positions from the last point that ends a trajectory early."""


class Outcome(enum.Enum):
    """How a goal ended."""

    REACHED = "reached"
    REFUSED = "refused"
    """It cannot be played, or cannot be played now."""
    WRONG_JOINTS = "wrong joints"
    """Its joints are not those of the part."""
    TOO_OLD = "too old"
    """Its start time had long passed when it was received."""
    LEFT_PATH = "left its path"
    """The robot stopped following, or left the path tolerance."""
    MISSED = "missed"
    """The robot did not reach the last point in time."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a goal ended, and the reason in words."""

    outcome: Outcome
    words: str = ""


class Tolerances:
    """Largest error of each joint in [rad] or [m].

    Args:
        joints: The joints of the part.
        default: The limit of joints without one of their own.
    """

    def __init__(self, joints: Sequence[str], default: float) -> None:
        self._joints = tuple(joints)
        self._limits = np.full(len(self._joints), default)

    def allow(self, joint: str, limit: float) -> None:
        """Set the limit of a joint; 0 keeps it, a negative one removes it.

        Raises:
            InvalidJointStateError: There is no such joint, or the limit is not a number.
        """
        if joint not in self._joints:
            raise InvalidJointStateError(
                f"a tolerance needs one of the joints {list(self._joints)}, got {joint!r}"
            )
        if math.isnan(limit):
            raise InvalidJointStateError(f"the tolerance of {joint} must be a number, got nan")
        if limit:
            self._limits[self._joints.index(joint)] = limit if limit > 0.0 else math.inf

    def violation(self, error: Array) -> str:
        """Return the joint furthest outside its limit, in words; empty where all are inside."""
        excess = np.abs(error) - self._limits
        worst = int(np.argmax(excess))
        if not excess[worst] > 0.0:
            return ""
        distance, limit = abs(error[worst]), self._limits[worst]
        return f"{self._joints[worst]} is off by {distance:.3f}, tolerance {limit:.3g}"


class TrajectoryGoal:
    """A trajectory and its tolerances.

    Args:
        trajectory: The trajectory.
        player: Plays it.
        path: Tolerances along the path.
        end: Tolerances at the last point.

    Attributes:
        desired: Desired positions of the part in [rad] or [m]; None before it starts.
    """

    def __init__(
        self, trajectory: Trajectory, player: TrajectoryPlayer, path: Tolerances, end: Tolerances
    ) -> None:
        self._trajectory, self._player = trajectory, player
        self._path, self._end = path, end
        self.desired: Array | None = None

    @property
    def elapsed(self) -> float:
        """Time since it started in [s], at most its duration."""
        return min(self._player.elapsed or 0.0, self._trajectory.duration)

    def judge(
        self, measured: Array, commanded: Array, *, following: bool, why: Callable[[], str]
    ) -> Verdict | None:
        """Return how it ended; None while it runs.

        Args:
            measured: Positions of the part in [rad] or [m], shape (N,).
            commanded: Positions commanded to it, same order.
            following: Whether the robot follows its operator.
            why: Returns why it does not follow, or what limits it.
        """
        player, last = self._player, self._trajectory.positions[-1]
        if player.elapsed is None or player.start is None:
            if player.is_playing:
                return None
            return Verdict(Outcome.REFUSED, f"the robot was not engaged ({why()})")
        self.desired = self._trajectory.sample(player.elapsed, player.start)
        is_over = player.elapsed >= self._trajectory.duration
        missed = self._end.violation(measured - last)
        if is_over and not missed and np.abs(commanded - last).max() <= ARRIVED:
            return Verdict(Outcome.REACHED)
        if not player.is_playing:
            return self._ended(player.elapsed, missed, following=following, why=why)
        strayed = self._path.violation(measured - self.desired)
        return Verdict(Outcome.LEFT_PATH, strayed) if strayed else None

    def _ended(
        self, elapsed: float, missed: str, *, following: bool, why: Callable[[], str]
    ) -> Verdict:
        """Return the verdict on a trajectory that is no longer played."""
        late = elapsed - self._trajectory.duration
        if not following:
            return Verdict(Outcome.LEFT_PATH, f"the robot stopped following ({why()})")
        if late < 0.0:
            return Verdict(Outcome.LEFT_PATH, "another sender took over the part")
        if not missed:
            return Verdict(Outcome.REACHED)
        limits = f" ({reason})" if (reason := why()) else ""
        return Verdict(Outcome.MISSED, f"{missed}, {late:.1f} s after the end{limits}")


def refuse_far_start(
    trajectory: Trajectory, joints: Sequence[str], commanded: Array, speed: Array
) -> None:
    """Refuse a trajectory whose first point the robot cannot reach in time.

    Args:
        trajectory: The trajectory.
        joints: The joints of the part.
        commanded: Their commanded positions in [rad] or [m], shape (N,).
        speed: Their largest speed in [rad/s] or [m/s], shape (N,).

    Raises:
        InvalidJointStateError: The first point is too far away.
    """
    first, due = trajectory.positions[0], float(trajectory.times[0])
    excess = np.abs(first - commanded) - (START_TOLERANCE + speed * due)
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        raise InvalidJointStateError(
            f"starts with {joints[worst]} at {first[worst]:.3f} after {due:.3g} s, but the robot "
            f"is at {commanded[worst]:.3f}: plan from its present positions"
        )
