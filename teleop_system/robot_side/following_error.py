# SPDX-License-Identifier: Apache-2.0
"""Detects a robot that does not follow its commands."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.safety import RobotParts, SafetyOutput

Array = NDArray[np.float64]

HAND = "_hand"


class FollowingErrorMonitor:
    """Compares commanded with measured positions.

    Hands are left out: a hand that grips an object does not reach its command.

    Args:
        parts: The parts of the robot.
        config: The error that is a fault, and how long it must last.
    """

    def __init__(self, parts: RobotParts, config: RobotSideConfig) -> None:
        self._joints = parts.joints
        self._time = config.follow_time
        self._limits = np.full(parts.size, config.follow_error)
        for name, part in parts.items():
            if name.endswith(HAND):
                self._limits[part.columns] = np.inf
        self.reset()

    def reset(self) -> None:
        """Forget how long the error has lasted."""
        self._since = math.inf

    def agrees(self, commanded: Array, measured: Array) -> bool:
        """Return whether no joint is beyond its limit; False where a position is NaN."""
        return bool((np.abs(commanded - measured) <= self._limits).all())

    def update(self, now: float, measured: Array, output: SafetyOutput | None) -> str:
        """Return the fault at time `now` [s]; empty where there is none."""
        if output is None or self.agrees(output.positions, measured):
            self._since = math.inf
            return ""
        self._since = min(self._since, now)
        if now - self._since < self._time:
            return ""
        errors = np.abs(output.positions - measured)
        worst = int(np.argmax(errors / self._limits))
        return f"{self._joints[worst]} is {errors[worst]:.2f} from its command"
