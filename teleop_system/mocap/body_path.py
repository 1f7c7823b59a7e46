# SPDX-License-Identifier: Apache-2.0
"""The way that a body goes on the floor: steady, without the swaying of its steps."""

import cmath
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.transforms import quat_multiply, quat_rotate

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BodyPath:
    """Place and heading of a body in every frame.

    Attributes:
        places: On the floor in [m], shape (F, 2).
        headings: Unwrapped, counter-clockwise, in [rad], shape (F,).
    """

    places: Array
    headings: Array

    @classmethod
    def of_waist(cls, positions: Array, orientations: Array, width: float) -> "BodyPath":
        """Return the way of a waist.

        Args:
            positions: In [m], shape (F, 3).
            orientations: With x ahead where the person stands upright, xyzw, shape (F, 4).
            width: Frames over which it is smoothed, as a standard deviation.
        """
        # The axis through both hips stays level where a person bows, unlike the one ahead.
        left = quat_rotate(orientations, np.broadcast_to([0.0, 1.0, 0.0], positions.shape))
        headings = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
        return cls(smooth(positions[:, :2], width), smooth(headings, width))

    def __getitem__(self, frames: slice) -> "BodyPath":
        return BodyPath(self.places[frames], self.headings[frames])

    def turns(self) -> Array:
        """Return the headings as quaternions xyzw, shape (F, 4)."""
        zeros = np.zeros_like(self.headings)
        half = 0.5 * self.headings
        return np.stack([zeros, zeros, np.sin(half), np.cos(half)], axis=-1)

    def localize(self, positions: Array, orientations: Array) -> tuple[Array, Array]:
        """Return poses of the room as the body sees them; heights stay those of the room."""
        moved = positions.copy()
        moved[:, :2] -= self.places
        back = self.turns() * (-1.0, -1.0, -1.0, 1.0)
        return quat_rotate(back, moved), quat_multiply(back, orientations)

    def steps(self) -> tuple[NDArray[np.complex128], Array]:
        """Return what the body does from frame to frame: its way, seen by itself, and its turn."""
        places = self.places[:, 0] + 1j * self.places[:, 1]
        ways = np.diff(places) * np.exp(-1j * self.headings[:-1])
        return ways, np.diff(self.headings)

    def moved_to(self, place: complex, heading: float) -> "BodyPath":
        """Return the same way from another place and in another direction."""
        start, turn = complex(*self.places[0]), heading - float(self.headings[0])
        points = self.places[:, 0] + 1j * self.places[:, 1]
        points = place + (points - start) * np.exp(1j * turn)
        return BodyPath(np.stack([points.real, points.imag], axis=-1), self.headings + turn)

    def held(self, frames: int) -> "BodyPath":
        """Return the same way after a number of frames on its first spot."""
        return BodyPath(
            np.concatenate([np.repeat(self.places[:1], frames, axis=0), self.places]),
            np.concatenate([np.repeat(self.headings[:1], frames), self.headings]),
        )

    @classmethod
    def of_steps(cls, ways: NDArray[np.complex128], turns: Array) -> "BodyPath":
        """Return the way that steps lead, from the origin."""
        headings = np.concatenate([[0.0], np.cumsum(turns)])
        places = np.concatenate([[0.0], np.cumsum(ways * np.exp(1j * headings[:-1]))])
        return cls(np.stack([places.real, places.imag], axis=-1), headings)


def repeated(way: complex, turn: float, times: int) -> tuple[complex, float]:
    """Return where a body is after it has gone the same way several times in a row."""
    if abs(turn) < 1e-9:
        return times * way, times * turn
    factor = (cmath.exp(1j * times * turn) - 1.0) / (cmath.exp(1j * turn) - 1.0)
    return way * factor, times * turn


def smooth(values: Array, width: float) -> Array:
    """Return values without what changes within a few frames; a steady way stays as it is."""
    length = min(int(np.ceil(3.0 * width)), len(values) - 1)
    if length < 1:
        return values.copy()
    places = np.arange(-length, length + 1)
    kernel = np.exp(-0.5 * (places / width) ** 2)
    kernel /= kernel.sum()
    columns = values.reshape(len(values), -1)
    # Continued through the ends as by a pin hole, so that neither a place nor a speed is lost.
    before = 2.0 * columns[0] - columns[length:0:-1]
    after = 2.0 * columns[-1] - columns[-2 : -length - 2 : -1]
    extended = np.concatenate([before, columns, after])
    found = [
        np.convolve(extended[:, column], kernel, "valid") for column in range(columns.shape[1])
    ]
    return np.stack(found, axis=-1).reshape(values.shape)
