# SPDX-License-Identifier: Apache-2.0
"""Integrates joint velocity commands into the position commands that the robot side works with."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LONGEST_GAP = 0.05
"""Time between two commands in [s] beyond which the first velocity no longer counts."""
LARGEST_LEAD = 0.1
"""How far in [s] of motion the integral may lead the robot's commands."""


class VelocityIntegrator:
    """Integrates the velocity commands of one part.

    The integral leads the safety manager's output by at most `LARGEST_LEAD`, so a joint that was
    held back does not catch up later.
    """

    def __init__(self) -> None:
        self._position: Array | None = None
        self._stamp = -np.inf

    def reset(self) -> None:
        """Start again from the commanded positions with the next command."""
        self._position = None

    def position(self, velocity: Array, stamp: float, commanded: Array) -> Array:
        """Return the position after a velocity command.

        Args:
            velocity: Joint velocities in [rad/s] or [m/s], shape (N,).
            stamp: Time stamp of the command in [s].
            commanded: Positions commanded to the robot at present in [rad] or [m], shape (N,).
        """
        gap = stamp - self._stamp
        if self._position is None or not 0.0 < gap <= LONGEST_GAP:
            self._position, gap = commanded.copy(), 0.0
        self._stamp = stamp
        reach = np.abs(velocity) * LARGEST_LEAD
        position = self._position + velocity * gap
        self._position = np.clip(position, commanded - reach, commanded + reach)
        return self._position
