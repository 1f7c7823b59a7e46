# SPDX-License-Identifier: Apache-2.0
"""Positions, velocities and accelerations of all joints at one time, and where braking ends."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class MotionState:
    """The motion of all joints at one time.

    Nobody changes it once it is made, but for the last two rows, which are filled in on demand.

    Args:
        table: Positions [rad] or [m], velocities, accelerations, places of rest, and bounds of
            how far braking leads out of the way there as rows, shape (5, N).
        has_rest: Whether the last two rows are known; see `Trajectories.way_to_rest`.

    Attributes:
        table: The same, for kernels to read.
        has_rest: Likewise.
    """

    __slots__ = ("_position", "has_rest", "table")

    def __init__(self, table: Array, has_rest: bool = True) -> None:
        self.table = table
        self.has_rest = has_rest
        self._position: Array | None = None

    @classmethod
    def of(cls, motion: Array) -> "MotionState":
        """Return the state with these positions, velocities and accelerations, shape (3, N)."""
        table = np.empty((5, motion.shape[1]))
        table[:3] = motion
        return cls(table, has_rest=False)

    @classmethod
    def at_rest(cls, position: Array) -> "MotionState":
        """Return the state of joints that stand still."""
        table = np.zeros((5, position.size))
        table[0] = table[3] = position
        return cls(table)

    @property
    def position(self) -> Array:
        """Positions in [rad] or [m], shape (N,), read-only."""
        if self._position is None:
            self._position = self.table[0]
            # By position, for a keyword costs as much again; NumPy's types know keywords only.
            self._position.setflags(False)  # type: ignore[call-arg]
        return self._position

    @property
    def velocity(self) -> Array:
        """Velocities in [rad/s] or [m/s], shape (N,), read-only."""
        velocity: Array = self.table[1]
        velocity.setflags(write=False)
        return velocity

    @property
    def acceleration(self) -> Array:
        """Accelerations in [rad/s^2] or [m/s^2], shape (N,), read-only."""
        acceleration: Array = self.table[2]
        acceleration.setflags(write=False)
        return acceleration

    def is_resting(self, columns: slice = slice(None)) -> bool:
        """Tell whether some joints stand still."""
        return not self.table[1:3, columns].any()

    def blended(self, other: "MotionState", share: Array) -> "MotionState":
        """Return the state that lies `share` of the way from here to another, shape (N,).

        Where two motions from one start keep within limits, so does every motion between them.
        """
        here, there = self.table[:3], other.table[:3]
        return MotionState.of(here + share * (there - here))
