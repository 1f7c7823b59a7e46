# SPDX-License-Identifier: Apache-2.0
"""What the safety manager needs of a rule that depends on where links are."""

import abc

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.motion.joint_motion import MotionState, Step


class IGuard(abc.ABC):
    """Slows motion down, or lets the robot brake, where a rule needs it."""

    @abc.abstractmethod
    def reset(self, positions: NDArray[np.float64]) -> None:
        """Restart from rest at joint positions [rad]."""

    @abc.abstractmethod
    def limit(self, step: Step, wanted: MotionState, log: CauseLog) -> MotionState:
        """Return the wanted motion, or one between it and braking that keeps the rule."""
