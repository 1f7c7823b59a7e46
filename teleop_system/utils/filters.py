# SPDX-License-Identifier: Apache-2.0
"""One-euro filters: smoothing with little lag, for vectors and for rotations.

Casiez, Roussel and Vogel, "1€ filter" (CHI 2012): a low-pass whose cutoff rises with speed, so it
is calm at rest and prompt in motion. The low-pass is discretised exactly, so that the same signal
gives the same result at any sampling rate. The filters read no clock: the time since the last call
is an argument, and may differ from call to call.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.utils.quaternion_kernels import (
    conjugate,
    multiply,
    rotation_vector,
    scaled_rotation,
)
from teleop_system.utils.quaternions import quat_normalize

Array = NDArray[np.float64]


class OneEuroFilter:
    """The one-euro filter for a number or an array, each element by itself.

    Args:
        min_cutoff: Cutoff at rest in [Hz]; lower it until the output is calm.
        beta: Rise of the cutoff per unit of speed in [1/unit]; raise it until lag is gone.
        derivative_cutoff: Cutoff of the speed estimate in [Hz].
    """

    def __init__(
        self, min_cutoff: float = 1.0, beta: float = 0.0, derivative_cutoff: float = 1.0
    ) -> None:
        self._min_cutoff = min_cutoff
        self._beta = beta
        self._derivative_cutoff = derivative_cutoff
        self.reset()

    def reset(self) -> None:
        """Forget the past; the next value passes unchanged."""
        self._value: Array | None = None

    @property
    def value(self) -> Array | None:
        """The newest output, or None before the first."""
        return self._value

    def update(self, value: ArrayLike, dt: float) -> Array:
        """Return the smoothed value `dt` [s] after the last; without time it stays the same."""
        measured = np.array(value, dtype=np.float64)
        if self._value is None:
            self._value = self._measured = measured
            self._velocity = np.zeros_like(measured)
        elif dt > 0.0:
            weight = _weight(self._derivative_cutoff, dt)
            velocity = (measured - self._measured) / dt
            self._velocity = self._velocity + weight * (velocity - self._velocity)
            weight = _weight(self._min_cutoff + self._beta * np.abs(self._velocity), dt)
            self._value = self._value + weight * (measured - self._value)
            self._measured = measured
        return self._value


class OneEuroRotationFilter:
    """The one-euro filter for a rotation, given as a quaternion xyzw.

    Args:
        min_cutoff: Cutoff at rest in [Hz].
        beta: Rise of the cutoff with angular velocity in [1/rad].
        derivative_cutoff: Cutoff of the estimated angular velocity in [Hz].
    """

    def __init__(
        self, min_cutoff: float = 1.0, beta: float = 0.0, derivative_cutoff: float = 1.0
    ) -> None:
        self._min_cutoff = min_cutoff
        self._beta = beta
        self._derivative_cutoff = derivative_cutoff
        self.reset()

    def reset(self) -> None:
        """Forget the past; the next rotation passes unchanged."""
        self._value: Array | None = None

    @property
    def value(self) -> Array | None:
        """The newest output, or None before the first."""
        return self._value

    def update(self, quaternion: ArrayLike, dt: float) -> Array:
        """Return the smoothed unit quaternion `dt` [s] after the last; without time it stays.

        Raises:
            InvalidPoseError: The quaternion stands for no rotation.
        """
        measured = quat_normalize(quaternion)
        x, y, z, w = measured.tolist()
        if self._value is None:
            self._value, self._measured = measured, (x, y, z, w)
            self._velocity = np.zeros(3)
        elif dt > 0.0:
            turned = rotation_vector(multiply(conjugate(self._measured), (x, y, z, w)))
            weight = float(_weight(self._derivative_cutoff, dt))
            self._velocity = self._velocity + weight * (np.array(turned) / dt - self._velocity)
            speed = math.hypot(*self._velocity)
            weight = float(_weight(self._min_cutoff + self._beta * speed, dt))
            smoothed = tuple(self._value.tolist())
            step = scaled_rotation(multiply(conjugate(smoothed), (x, y, z, w)), weight)
            # Normalised again, because rounding adds up over hours.
            self._value = quat_normalize(multiply(smoothed, step))
            self._measured = (x, y, z, w)
        return self._value


def _weight(cutoff: ArrayLike, dt: float) -> Array:
    """Return the weight of a new input of a low-pass `dt` [s] after the last."""
    weight: Array = -np.expm1(-2.0 * math.pi * np.asarray(cutoff) * dt)
    return weight
