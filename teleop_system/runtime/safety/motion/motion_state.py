# SPDX-License-Identifier: Apache-2.0
"""Positions, velocities and accelerations of all joints at one time."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class MotionState:
    """The motion of all joints at one time; nobody changes it once it is made.

    Args:
        table: Positions [rad] or [m], velocities and accelerations as rows, shape (3, N).
        way: Its way to rest, as `Trajectories.way_to_rest` gives it, where that is known.

    Attributes:
        table: The same, for kernels to read.
        way: Likewise; None where nobody has asked yet.
    """

    __slots__ = ("_position", "table", "way")

    def __init__(self, table: Array, way: Array | None = None) -> None:
        self.table = table
        self.way = way
        self._position: Array | None = None

    @classmethod
    def at_rest(cls, position: Array) -> "MotionState":
        """Return the state of joints that stand still."""
        table = np.zeros((3, position.size))
        table[0] = position
        return cls(table)

    @property
    def position(self) -> Array:
        """Positions in [rad] or [m], shape (N,), read-only."""
        if self._position is None:
            self._position = self.table[0]
            self._position.setflags(write=False)
        return self._position

    @property
    def velocity(self) -> Array:
        """Velocities in [rad/s] or [m/s], shape (N,)."""
        velocity: Array = self.table[1]
        return velocity

    @property
    def acceleration(self) -> Array:
        """Accelerations in [rad/s^2] or [m/s^2], shape (N,)."""
        acceleration: Array = self.table[2]
        return acceleration

    def is_resting(self, columns: slice = slice(None)) -> bool:
        """Tell whether some joints stand still."""
        return not self.table[1:, columns].any()

    def blended(self, other: "MotionState", share: Array) -> "MotionState":
        """Return the state that lies `share` of the way from here to another, shape (N,).

        Where two motions from one start keep within limits, so does every motion between them.
        """
        return MotionState(self.table + share * (other.table - self.table))

    def chosen(self, other: "MotionState", mask: NDArray[np.bool_]) -> "MotionState":
        """Return this state with those joints replaced by another's where `mask` is true."""
        return MotionState(np.where(mask, other.table, self.table))
