# SPDX-License-Identifier: Apache-2.0
"""Notices a robot that does not go where it is told."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.safety import RobotParts, SafetyOutput

Array = NDArray[np.float64]

HAND = "_hand"


class FollowMonitor:
    """Compares what was commanded with what is measured.

    Hands are left out: one that grips something does not get where it is told, and should not.

    Args:
        parts: The parts of the robot.
        config: How far apart, for how long, is a fault.
    """

    def __init__(self, parts: RobotParts, config: RobotSideConfig) -> None:
        self._joints = parts.joints
        self._time = config.follow_time
        self._limits = np.full(parts.size, config.follow_error)
        for name, part in parts.items():
            if name.endswith(HAND):
                self._limits[part.columns] = np.inf
        # Where even the sum of all squares is below this, no joint can be beyond its limit.
        self._surely = config.follow_error**2
        self._apart = np.zeros(parts.size)
        self.reset()

    def reset(self) -> None:
        """Forget how long the robot has been elsewhere."""
        self._since = math.inf

    def agrees(self, commanded: Array, measured: Array) -> bool:
        """Tell whether the robot is where it was told to be; never where a number is missing."""
        apart = self._apart
        np.subtract(commanded, measured, apart)
        if apart.dot(apart) <= self._surely:
            return True
        np.abs(apart, apart)
        np.subtract(apart, self._limits, apart)
        # One comparison, and False where any number is missing: the largest of those is NaN.
        return bool(apart[apart.argmax()] <= 0.0)

    def update(self, now: float, measured: Array, output: SafetyOutput | None) -> str:
        """Return what is wrong at time `now` [s]; empty where nothing is."""
        if output is None or self.agrees(output.positions, measured):
            self._since = math.inf
            return ""
        self._since = min(self._since, now)
        if now - self._since < self._time:
            return ""
        apart = np.abs(output.positions - measured)
        worst = int(np.argmax(apart / self._limits))
        return f"{self._joints[worst]} is {apart[worst]:.2f} from where it was told to be"
