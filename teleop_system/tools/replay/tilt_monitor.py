# SPDX-License-Identifier: Apache-2.0
"""Measures the tilt of a simulated robot."""

import math

from teleop_system.simulators.mujoco_sim import MuJoCoSimulator


class TiltMonitor:
    """Records the largest tilt of the base.

    Args:
        simulator: The simulation.

    Attributes:
        largest: Largest angle of the base's z axis from its initial direction in [rad].
    """

    def __init__(self, simulator: MuJoCoSimulator) -> None:
        self._simulator = simulator
        self.largest = 0.0

    def check(self) -> None:
        """Measure the tilt now."""
        _, orientation = self._simulator.get_odometry()
        x, y, _, _ = orientation.tolist()
        # The z component of the rotated z axis.
        self.largest = max(self.largest, math.acos(max(-1.0, 1.0 - 2.0 * (x * x + y * y))))
