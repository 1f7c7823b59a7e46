# SPDX-License-Identifier: Apache-2.0
"""What the safety manager receives, and what it returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.interfaces import JointState, VelocityCommand
from teleop_system.interfaces.causes import Cause, Severity

Array = NDArray[np.float64]


# Both are made in every cycle; frozen dataclasses take twice as long to make.
@dataclass(slots=True, eq=False)  # Arrays have no single truth value.
class PartCommand:
    """A command for one part as it came; nothing about it is checked yet.

    Do not change one that was handed over: each command object is read only once.

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
        """Return the command that requests the positions of a joint state."""
        return PartCommand(state.positions, state.timestamp, state.names or None)


@dataclass(slots=True, eq=False)
class SafetyOutput:
    """The motion of one cycle, and why it differs from the commands.

    Attributes:
        names: All joints, part after part.
        positions: Positions to command in [rad] or [m], shape (N,), read-only.
        velocities: Their velocities in [rad/s] or [m/s], shape (N,), read-only.
        accelerations: Their accelerations in [rad/s^2] or [m/s^2], shape (N,), read-only.
        base: Velocity to command to the base; zero if there is no base.
        causes: Every intervention of this cycle.
        holding: Parts that do not follow: they brake, or stand and hold.
        stamps: Stamp in [s] of the sample that each following part follows.
        commanded: Positions last requested, within the position limits [rad] or [m], shape (N,).
        columns: The joints of each part among all joints.
    """

    names: tuple[str, ...]
    positions: Array
    velocities: Array
    accelerations: Array
    base: VelocityCommand
    causes: tuple[Cause, ...]
    holding: frozenset[str]
    stamps: Mapping[str, float]
    commanded: Array
    columns: Mapping[str, slice]

    def of(self, part: str) -> Array:
        """Return the positions to command to one part in [rad] or [m], in its own order."""
        return self.positions[self.columns[part]]

    @property
    def severity(self) -> Severity:
        """The highest severity of all causes."""
        return max((cause.severity for cause in self.causes), default=Severity.INFO)


def read_only(values: Array) -> Array:
    """Return a read-only view of an array."""
    view = values[...]  # Half the time of `values.view()`.
    view.setflags(write=False)
    return view
