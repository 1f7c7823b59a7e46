# SPDX-License-Identifier: Apache-2.0
"""The result of one tick of the arm controller."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Cause
from teleop_system.modules.arm_teleop.joint_motion import Columns
from teleop_system.modules.arm_teleop.limbs.limb import LimbState


# Not frozen: it is made in every tick, and freezing doubles the cost.
@dataclass(slots=True, eq=False)  # Arrays have no single truth value.
class ArmOutput:
    """Commands for the joints of arms and torso, and what limited them.

    Attributes:
        names: Joints, in the order of the solver.
        positions: Their positions to command in [rad] or [m], shape (N,), read-only.
        targets: Pose that each end effector aims for, in the base frame, by chain.
        error_position: Largest distance of a chain from its target in [m].
        error_orientation: Largest angle of a chain from its target in [rad].
        causes: Whatever limited or held the motion in this tick.
        states: What each limb does, by chain.
        following: The limbs that the operator moves.
        stamps: Time of measurement in [s] of the sample that each chain follows. A limb that
            keeps its pose while others follow still moves for them, and has their time.
        columns: Indices of each chain's joints in `positions`.
        active: Whether a limb has begun to follow and one is engaged. As all chains move for
            each other, the commands of all of them count from then on.
    """

    names: tuple[str, ...]
    positions: NDArray[np.float64]
    targets: Mapping[str, Pose6D]
    error_position: float
    error_orientation: float
    causes: tuple[Cause, ...]
    states: Mapping[str, LimbState]
    following: tuple[str, ...]
    stamps: Mapping[str, float]
    columns: Mapping[str, Columns]
    active: bool = False

    def of(self, chain: str) -> NDArray[np.float64]:
        """Return the positions of one chain's joints in [rad] or [m], from the body outwards."""
        return self.positions[self.columns[chain]]
