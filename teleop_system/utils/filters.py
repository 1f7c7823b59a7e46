# SPDX-License-Identifier: Apache-2.0
"""Smoothing with little lag, and motion that never exceeds its limits.

All of these work on a single number, which comes back as a float, or on an array of any shape,
where every element has its own limits or shares them. None of them has a clock: the time since
the last call is given, and may differ from call to call.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.utils import filter_kernels as kernels
from teleop_system.utils._arrays import Array, Component, component
from teleop_system.utils.quaternions import quat_normalize

__all__ = ["OneEuroFilter", "OneEuroRotationFilter"]


class OneEuroFilter:
    """Low-pass whose cutoff rises with speed: calm at rest, prompt in motion.

    Follows Casiez, Roussel and Vogel, "1€ filter" (CHI 2012), with the exact discretisation of
    the low-pass, so that the same signal gives the same result at any sampling rate.

    Args:
        min_cutoff: Cutoff at rest in [Hz]; lower it until the output is calm.
        beta: Rise of the cutoff per unit of speed in [1/unit]; raise it until lag is gone.
        derivative_cutoff: Cutoff of the speed estimate in [Hz].
        joint: Let the last axis share one cutoff, from the length of its derivative, so that a
            vector is filtered alike whichever way it points.
    """

    def __init__(
        self,
        min_cutoff: float = 1.0,
        beta: float = 0.0,
        derivative_cutoff: float = 1.0,
        *,
        joint: bool = False,
    ) -> None:
        self._min_cutoff = min_cutoff
        self._beta = beta
        self._derivative_cutoff = derivative_cutoff
        self._joint = joint
        self.reset()

    def reset(self) -> None:
        """Forget the past; the next value passes unchanged."""
        self._value: Component | None = None
        self._raw: Component = 0.0
        self._derivative: Component = 0.0

    @property
    def value(self) -> Component | None:
        """The newest output, or None before the first."""
        return self._value

    def update(self, value: ArrayLike, dt: float) -> Component:
        """Return the smoothed value `dt` [s] after the last; no time, no change."""
        raw: Component = value if type(value) is float else component(value)
        if self._value is None:
            self._value = self._raw = raw
            self._derivative = 0.0 * raw
        elif dt > 0.0:
            if isinstance(raw, float) and isinstance(self._value, float):
                self._value, self._derivative = kernels.smooth_number(
                    self._value,
                    self._raw,
                    self._derivative,
                    raw,
                    dt,
                    self._min_cutoff,
                    self._beta,
                    self._derivative_cutoff,
                )
                self._raw = raw
            elif self._joint:
                self._smooth(raw, dt)
            else:
                self._smooth_all(raw, dt)
        return self._value

    def _smooth(self, raw: Component, dt: float) -> None:
        share = _share(self._derivative_cutoff, dt)
        self._derivative = self._derivative + share * ((raw - self._raw) / dt - self._derivative)
        share = _share(self._min_cutoff + self._beta * self._speed(), dt)
        self._value = self._value + share * (raw - self._value)
        self._raw = raw

    def _smooth_all(self, raw: Array, dt: float) -> None:
        """Do the same with each element of an array by itself."""
        state = np.empty((3, *raw.shape))
        state[0], state[1], state[2] = self._value, self._raw, self._derivative
        kernels.smooth(
            state.reshape(3, -1),
            np.array(raw).reshape(-1),
            dt,
            self._min_cutoff,
            self._beta,
            self._derivative_cutoff,
        )
        self._value, self._raw, self._derivative = state

    def _speed(self) -> Component:
        if self._joint and not isinstance(self._derivative, float):
            return np.linalg.norm(self._derivative, axis=-1, keepdims=True)
        return abs(self._derivative)


class OneEuroRotationFilter:
    """The one-euro filter for rotations given as quaternions xyzw of shape (..., 4).

    Args:
        min_cutoff: Cutoff at rest in [Hz].
        beta: Rise of the cutoff with turning speed in [1/rad].
        derivative_cutoff: Cutoff of the turning speed estimate in [Hz].
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
        # Value, last input and turning speed of each rotation.
        self._state: Array | None = None
        self._value: Array | None = None

    @property
    def value(self) -> Array | None:
        """The newest output, or None before the first."""
        return self._value

    def update(self, quaternion: ArrayLike, dt: float) -> Array:
        """Return the smoothed unit quaternion `dt` [s] after the last; no time, no change.

        Raises:
            InvalidPoseError: The quaternion stands for no rotation.
        """
        raw = quat_normalize(quaternion)
        if self._state is None or self._value is None or self._value.shape != raw.shape:
            self._state = np.zeros((raw.size // 4, 3, 4))
            self._state[:, :2] = raw.reshape(-1, 1, 4)
            self._value = raw
        elif dt > 0.0:
            parameters = (self._min_cutoff, self._beta, self._derivative_cutoff)
            if raw.ndim == 1:
                kernels.smooth_rotation(self._state[0], raw, dt, *parameters)
                self._value = self._state[0, 0].copy()
            else:
                for state, one in zip(self._state, raw.reshape(-1, 4), strict=True):
                    kernels.smooth_rotation(state, one, dt, *parameters)
                self._value = self._state[:, 0].reshape(raw.shape).copy()
        return self._value


def _share(cutoff: Component, dt: float) -> Component:
    """Return the part of the way to its input that a low-pass goes in `dt` [s]."""
    exponent = -2.0 * math.pi * cutoff * dt
    return -math.expm1(exponent) if isinstance(exponent, float) else -np.expm1(exponent)
