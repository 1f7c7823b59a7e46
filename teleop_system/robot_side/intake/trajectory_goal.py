# SPDX-License-Identifier: Apache-2.0
"""Whether a trajectory that somebody waits for is under way, has arrived, or went wrong."""

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
"""Distance from the last point that counts as there in [rad] or [m], unless a goal says it."""
START_TOLERANCE = 0.1
"""How far from the robot a trajectory may start in [rad] or [m]."""
ARRIVED = 0.002
"""Distance of the commanded positions from the last point that ends a trajectory at once."""


class Outcome(enum.Enum):
    """What became of a goal."""

    REACHED = "reached"
    REFUSED = "refused"
    """It cannot be played, or cannot be played now."""
    WRONG_JOINTS = "wrong joints"
    """It names other joints than those of the part."""
    TOO_OLD = "too old"
    """It should have begun long before it came."""
    LEFT_PATH = "left its path"
    """The robot stopped following, or strayed further than the goal allows."""
    MISSED = "missed"
    """The robot did not reach the last point in time."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a goal, and why in words."""

    outcome: Outcome
    words: str = ""


class Tolerances:
    """How far each joint may be from where it should be, in [rad] or [m].

    Args:
        joints: The joints of the part.
        default: What counts for joints that nobody speaks of.
    """

    def __init__(self, joints: Sequence[str], default: float) -> None:
        self._joints = tuple(joints)
        self._limits = np.full(len(self._joints), default)

    def allow(self, joint: str, limit: float) -> None:
        """Set the limit of a joint; 0 leaves it as it is, a negative one lifts it.

        Raises:
            InvalidJointStateError: There is no such joint, or the limit is no number.
        """
        if joint not in self._joints:
            raise InvalidJointStateError(
                f"a tolerance is for one of the joints {list(self._joints)}, got {joint!r}"
            )
        if math.isnan(limit):
            raise InvalidJointStateError(f"the tolerance of {joint} must be a number, got nan")
        if limit:
            self._limits[self._joints.index(joint)] = limit if limit > 0.0 else math.inf

    def violation(self, error: Array) -> str:
        """Return which joint is furthest outside, in words; empty where none is."""
        excess = np.abs(error) - self._limits
        worst = int(np.argmax(excess))
        if not excess[worst] > 0.0:
            return ""
        distance, limit = abs(error[worst]), self._limits[worst]
        return f"{self._joints[worst]} is off by {distance:.3f}, tolerance {limit:.3g}"


class TrajectoryGoal:
    """A trajectory, and what it takes to have followed it.

    Args:
        trajectory: The trajectory.
        player: Plays it.
        path: Tolerances on the way.
        end: Tolerances at the last point.

    Attributes:
        desired: Where the part should be in [rad] or [m]; None before it begins.
    """

    def __init__(
        self, trajectory: Trajectory, player: TrajectoryPlayer, path: Tolerances, end: Tolerances
    ) -> None:
        self._trajectory, self._player = trajectory, player
        self._path, self._end = path, end
        self.desired: Array | None = None

    @property
    def elapsed(self) -> float:
        """Time since it began in [s], at most its duration."""
        return min(self._player.elapsed or 0.0, self._trajectory.duration)

    def judge(
        self, measured: Array, commanded: Array, *, following: bool, why: Callable[[], str]
    ) -> Verdict | None:
        """Return what became of it; None while it is under way.

        Args:
            measured: Positions of the part in [rad] or [m], shape (N,).
            commanded: Positions commanded to it, likewise.
            following: Whether the robot follows its operator.
            why: Tells why it does not, or what limits it.
        """
        player, last = self._player, self._trajectory.positions[-1]
        if player.elapsed is None or player.start is None:
            if player.is_playing:
                return None
            return Verdict(Outcome.REFUSED, f"nobody took control ({why()})")
        self.desired = self._trajectory.sample(player.elapsed, player.start)
        over = player.elapsed >= self._trajectory.duration
        missed = self._end.violation(measured - last)
        if over and not missed and np.abs(commanded - last).max() <= ARRIVED:
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
            return Verdict(Outcome.LEFT_PATH, "another sender took the part over")
        if not missed:
            return Verdict(Outcome.REACHED)
        limits = f" ({reason})" if (reason := why()) else ""
        return Verdict(Outcome.MISSED, f"{missed}, {late:.1f} s after the end{limits}")


def refuse_far_start(
    trajectory: Trajectory, joints: Sequence[str], commanded: Array, speed: Array
) -> None:
    """Refuse a trajectory that begins where the robot is not, and cannot get to in time.

    Args:
        trajectory: The trajectory.
        joints: The joints of the part.
        commanded: Where they are told to be in [rad] or [m], shape (N,).
        speed: How fast they may move in [rad/s] or [m/s], shape (N,).

    Raises:
        InvalidJointStateError: It does.
    """
    first, due = trajectory.positions[0], float(trajectory.times[0])
    excess = np.abs(first - commanded) - (START_TOLERANCE + speed * due)
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        raise InvalidJointStateError(
            f"starts with {joints[worst]} at {first[worst]:.3f} after {due:.3g} s, but the robot "
            f"has it at {commanded[worst]:.3f}: plan from where the robot is"
        )
