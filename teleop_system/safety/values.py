# SPDX-License-Identifier: Apache-2.0
"""What the safety manager is given, and what it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.interfaces import JointState, VelocityCommand
from teleop_system.interfaces.causes import Cause, Severity
from teleop_system.safety.motion.motion_state import MotionState

Array = NDArray[np.float64]


# Both are made in every cycle, and to freeze them would cost more than to make them.
@dataclass(slots=True, eq=False)  # Arrays have no single truth value.
class PartCommand:
    """A wish for one part, as it came: nothing about it is checked yet.

    Do not change one that was handed over: a command is taken once.

    Attributes:
        positions: Joint positions in [rad] or [m].
        timestamp: When the operator's sample was measured in [s].
        names: Joint names, one per position; None for the part's own order.
    """

    positions: ArrayLike
    timestamp: float
    names: Sequence[str] | None = None

    @classmethod
    def of(cls, state: JointState) -> "PartCommand":
        """Return the command that asks for the positions of a joint state."""
        return cls(state.positions, state.timestamp, state.names or None)


class JointReport:
    """What became of every joint in one cycle, in the order of `SafetyOutput.names`.

    Args:
        wishes: Positions last asked for [rad].
        state: The motion at the end of the cycle.

    Attributes:
        wishes: Positions last asked for, within the position limits [rad] or [m], shape (N,).
    """

    __slots__ = ("_state", "wishes")

    def __init__(self, wishes: Array, state: MotionState) -> None:
        self.wishes = wishes
        self._state = state

    @property
    def velocities(self) -> Array:
        """Velocities of the output in [rad/s] or [m/s], shape (N,)."""
        return self._state.velocity

    @property
    def accelerations(self) -> Array:
        """Accelerations of the output in [rad/s^2] or [m/s^2], shape (N,)."""
        return self._state.acceleration


@dataclass(slots=True, eq=False)
class SafetyOutput:
    """The commands of one cycle, and why they are as they are.

    Attributes:
        names: All joints, part after part.
        positions: Their positions to command in [rad] or [m], shape (N,), read-only.
        base: Velocity to command to the base; zero where there is none.
        causes: Every intervention of this cycle.
        holding: Parts that do not follow: they brake, or stand and hold.
        stamps: Time stamp of the sample that each following part follows in [s].
        wishes: Positions last asked for, within the position limits [rad] or [m], shape (N,).
        columns: Where each part's joints stand.
    """

    names: tuple[str, ...]
    positions: Array
    base: VelocityCommand
    causes: tuple[Cause, ...]
    holding: frozenset[str]
    stamps: Mapping[str, float]
    wishes: Array
    _motion: MotionState
    columns: Mapping[str, slice]

    def of(self, part: str) -> Array:
        """Return the positions to command to one part in [rad] or [m], in its own order."""
        return self.positions[self.columns[part]]

    @property
    def joints(self) -> JointReport:
        """Figures of every joint."""
        return JointReport(self.wishes, self._motion)

    @property
    def severity(self) -> Severity:
        """The gravest severity of all causes."""
        return max((cause.severity for cause in self.causes), default=Severity.INFO)
