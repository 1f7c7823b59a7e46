# SPDX-License-Identifier: Apache-2.0
"""Positions, velocities and accelerations of all joints at one time."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class MotionState:
    """The motion of all joints at one time; it never changes, and its arrays are read-only.

    Ruckig takes and gives lists, the rest of us compute with arrays. Most steps need only some of
    either, so a form is made when first asked for.

    Args:
        position: In [rad] or [m], N numbers.
        velocity: In [rad/s] or [m/s].
        acceleration: In [rad/s^2] or [m/s^2].
    """

    __slots__ = ("_arrays", "_lists")

    def __init__(
        self,
        position: list[float] | Array,
        velocity: list[float] | Array,
        acceleration: list[float] | Array,
    ) -> None:
        self._lists: list[list[float] | None] = [None, None, None]
        self._arrays: list[Array | None] = [None, None, None]
        for index, value in enumerate((position, velocity, acceleration)):
            if isinstance(value, list):
                self._lists[index] = value
            else:
                value.setflags(write=False)
                self._arrays[index] = value

    @classmethod
    def at_rest(cls, position: Array) -> "MotionState":
        """Return the state of joints that stand still."""
        zeros = np.zeros(position.size)
        return cls(position.copy(), zeros, zeros)

    @property
    def position(self) -> Array:
        """Positions in [rad] or [m], shape (N,)."""
        return self._array(0)

    @property
    def velocity(self) -> Array:
        """Velocities in [rad/s] or [m/s], shape (N,)."""
        return self._array(1)

    @property
    def acceleration(self) -> Array:
        """Accelerations in [rad/s^2] or [m/s^2], shape (N,)."""
        return self._array(2)

    @property
    def lists(self) -> list[list[float]]:
        """Positions, velocities and accelerations as lists of N numbers."""
        lists = self._lists
        if None in lists:
            lists[:] = [array.tolist() for array in map(self._array, range(3))]
        return lists  # type: ignore[return-value]  # All are there by now.

    def is_resting(self, columns: slice = slice(None)) -> bool:
        """Tell whether some joints stand still."""
        return not (self.velocity[columns].any() or self.acceleration[columns].any())

    def blended(self, other: "MotionState", share: Array) -> "MotionState":
        """Return the state that lies `share` of the way from here to another, shape (N,).

        Where two motions from one start keep within limits, so does every motion between them.
        """
        return MotionState(
            self.position + share * (other.position - self.position),
            self.velocity + share * (other.velocity - self.velocity),
            self.acceleration + share * (other.acceleration - self.acceleration),
        )

    def chosen(self, other: "MotionState", mask: NDArray[np.bool_]) -> "MotionState":
        """Return this state with those joints replaced by another's where `mask` is true."""
        return MotionState(
            np.where(mask, other.position, self.position),
            np.where(mask, other.velocity, self.velocity),
            np.where(mask, other.acceleration, self.acceleration),
        )

    def _array(self, index: int) -> Array:
        array = self._arrays[index]
        if array is None:
            array = np.array(self._lists[index])
            array.setflags(write=False)
            self._arrays[index] = array
        return array
