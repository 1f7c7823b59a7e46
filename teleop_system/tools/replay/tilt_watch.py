# SPDX-License-Identifier: Apache-2.0
"""Watches whether a simulated robot tips."""

import math

from teleop_system.simulators.mujoco_sim import MuJoCoSimulator


class TiltWatch:
    """Keeps the largest tilt of the base.

    Args:
        simulator: The simulation.

    Attributes:
        largest: Angle between the base's z axis and where it was at first in [rad].
    """

    def __init__(self, simulator: MuJoCoSimulator) -> None:
        self._simulator = simulator
        self.largest = 0.0

    def look(self) -> None:
        """Look at the base."""
        _, orientation = self._simulator.get_odometry()
        x, y, _, _ = orientation.tolist()
        # The third component of the z axis, turned.
        self.largest = max(self.largest, math.acos(max(-1.0, 1.0 - 2.0 * (x * x + y * y))))
