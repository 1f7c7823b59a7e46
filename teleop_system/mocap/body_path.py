# SPDX-License-Identifier: Apache-2.0
"""The path of a body on the floor, smoothed over its steps."""

import cmath
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.transforms import quat_multiply, quat_rotate

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BodyPath:
    """Position and heading of a body in every frame.

    Attributes:
        positions: On the floor in [m], shape (F, 2).
        headings: Unwrapped, counter-clockwise, in [rad], shape (F,).
    """

    positions: Array
    headings: Array

    @classmethod
    def of_waist(cls, positions: Array, orientations: Array, width: float) -> "BodyPath":
        """Return the path of a waist.

        Args:
            positions: In [m], shape (F, 3).
            orientations: xyzw, shape (F, 4); x points ahead when the person stands upright.
            width: Standard deviation of the smoothing window in frames.
        """
        # The axis through both hips stays level when a person bows; the forward axis does not.
        left = quat_rotate(orientations, np.broadcast_to([0.0, 1.0, 0.0], positions.shape))
        headings = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
        return cls(gaussian_smooth(positions[:, :2], width), gaussian_smooth(headings, width))

    def __getitem__(self, frames: slice) -> "BodyPath":
        return BodyPath(self.positions[frames], self.headings[frames])

    def rotations(self) -> Array:
        """Return the headings as quaternions xyzw, shape (F, 4)."""
        zeros = np.zeros_like(self.headings)
        half = 0.5 * self.headings
        return np.stack([zeros, zeros, np.sin(half), np.cos(half)], axis=-1)

    def localize(self, positions: Array, orientations: Array) -> tuple[Array, Array]:
        """Return poses of the room in the body's frame; heights stay those of the room."""
        offsets = positions.copy()
        offsets[:, :2] -= self.positions
        inverse = self.rotations() * (-1.0, -1.0, -1.0, 1.0)
        return quat_rotate(inverse, offsets), quat_multiply(inverse, orientations)

    def steps(self) -> tuple[NDArray[np.complex128], Array]:
        """Return displacement [m] and rotation [rad] between frames, in the body's frame."""
        points = self.positions[:, 0] + 1j * self.positions[:, 1]
        displacements = np.diff(points) * np.exp(-1j * self.headings[:-1])
        return displacements, np.diff(self.headings)

    def moved_to(self, position: complex, heading: float) -> "BodyPath":
        """Return the same path from another start position and heading."""
        start, rotation = complex(*self.positions[0]), heading - float(self.headings[0])
        points = self.positions[:, 0] + 1j * self.positions[:, 1]
        points = position + (points - start) * np.exp(1j * rotation)
        return BodyPath(np.stack([points.real, points.imag], axis=-1), self.headings + rotation)

    def held(self, frames: int) -> "BodyPath":
        """Return the same path after a number of frames at its start."""
        return BodyPath(
            np.concatenate([np.repeat(self.positions[:1], frames, axis=0), self.positions]),
            np.concatenate([np.repeat(self.headings[:1], frames), self.headings]),
        )

    @classmethod
    def of_steps(cls, displacements: NDArray[np.complex128], rotations: Array) -> "BodyPath":
        """Return the path of these steps, starting at the origin; the inverse of `steps`."""
        headings = np.concatenate([[0.0], np.cumsum(rotations)])
        points = np.concatenate([[0.0], np.cumsum(displacements * np.exp(1j * headings[:-1]))])
        return cls(np.stack([points.real, points.imag], axis=-1), headings)


def repeat_step(displacement: complex, rotation: float, times: int) -> tuple[complex, float]:
    """Return position and heading of a body after the same step several times in a row."""
    if abs(rotation) < 1e-9:
        return times * displacement, times * rotation
    factor = (cmath.exp(1j * times * rotation) - 1.0) / (cmath.exp(1j * rotation) - 1.0)
    return displacement * factor, times * rotation


def gaussian_smooth(values: Array, width: float) -> Array:
    """Return values smoothed over time; constant speed is preserved, also at the ends."""
    length = min(int(np.ceil(3.0 * width)), len(values) - 1)
    if length < 1:
        return values.copy()
    offsets = np.arange(-length, length + 1)
    kernel = np.exp(-0.5 * (offsets / width) ** 2)
    kernel /= kernel.sum()
    columns = values.reshape(len(values), -1)
    # Point reflection at both ends keeps the end values and the speed there.
    before = 2.0 * columns[0] - columns[length:0:-1]
    after = 2.0 * columns[-1] - columns[-2 : -length - 2 : -1]
    extended = np.concatenate([before, columns, after])
    found = [
        np.convolve(extended[:, column], kernel, "valid") for column in range(columns.shape[1])
    ]
    return np.stack(found, axis=-1).reshape(values.shape)
