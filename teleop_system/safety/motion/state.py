# SPDX-License-Identifier: Apache-2.0
"""Positions, velocities and accelerations of all joints at one time, and where braking ends."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class MotionState(NamedTuple):
    """The motion of all joints at one time; never changed once it is made.

    Attributes:
        position: Positions in [rad] or [m], shape (N,), as all arrays.
        velocity: Velocities in [rad/s] or [m/s].
        acceleration: Accelerations in [rad/s^2] or [m/s^2].
        rest: Where the joints come to rest if all brake.
        excursion: Bound of how far braking leaves the range between `position` and `rest`.
    """

    position: Array
    velocity: Array
    acceleration: Array
    rest: Array
    excursion: Array

    @classmethod
    def empty(cls, size: int) -> "MotionState":
        """Return a state of `size` joints for a kernel to fill in."""
        return cls(*[np.empty(size) for _ in range(5)])

    @classmethod
    def at_rest(cls, position: Array) -> "MotionState":
        """Return the state of joints that stand still."""
        zero = np.zeros(position.size)
        return cls(position.copy(), zero, zero, position.copy(), zero)

    def is_resting(self, columns: slice = slice(None)) -> bool:
        """Whether some joints stand still."""
        return not (self.velocity[columns].any() or self.acceleration[columns].any())
