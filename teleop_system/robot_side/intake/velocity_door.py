# SPDX-License-Identifier: Apache-2.0
"""Velocity commands for joints, turned into the positions that everything else works with."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LONGEST_GAP = 0.05
"""Time between two commands in [s] beyond which a velocity is not trusted to have lasted."""
LARGEST_LEAD = 0.1
"""How far in [s] of motion the wished position may run ahead of the robot's commands."""


class VelocityDoor:
    """Adds up the velocities of one part's commands.

    The sum never runs further ahead of what the safety manager lets through than a tenth of a
    second of motion: a joint that was held back does not catch up later.
    """

    def __init__(self) -> None:
        self._wish: Array | None = None
        self._stamp = -np.inf

    def reset(self) -> None:
        """Begin the sum anew with the next command."""
        self._wish = None

    def position(self, velocity: Array, stamp: float, commanded: Array) -> Array:
        """Return the position that a velocity leads to.

        Args:
            velocity: Joint velocities in [rad/s] or [m/s], shape (N,).
            stamp: When it was wished in [s].
            commanded: Positions commanded to the robot at present in [rad] or [m], shape (N,).
        """
        gap = stamp - self._stamp
        if self._wish is None or not 0.0 < gap <= LONGEST_GAP:
            self._wish, gap = commanded.copy(), 0.0
        self._stamp = stamp
        reach = np.abs(velocity) * LARGEST_LEAD
        wish = self._wish + velocity * gap
        self._wish = np.minimum(np.maximum(wish, commanded - reach), commanded + reach)
        return self._wish
