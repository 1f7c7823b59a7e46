# SPDX-License-Identifier: Apache-2.0
"""One-euro filters: smoothing with little lag, for vectors and for rotations.

Casiez, Roussel and Vogel, "1€ filter" (CHI 2012): a low-pass whose cutoff rises with speed, so it
is smooth at rest and fast in motion. The low-pass is discretised exactly, so that the same signal
gives the same result at any sampling rate. The filters read no clock: the time since the last call
is an argument, and may differ from call to call.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils.filter_kernels import SMOOTHED, smooth, smooth_rotation
from teleop_system.utils.poses import normalized
from teleop_system.utils.quaternion_kernels import Quaternion

Array = NDArray[np.float64]


class OneEuroFilter:
    """The one-euro filter for a vector, each element by itself; a number counts as one element.

    Args:
        min_cutoff: Cutoff at rest in [Hz]; lower it until the output is smooth.
        beta: Rise of the cutoff per unit of speed in [1/unit]; raise it until lag is gone.
        derivative_cutoff: Cutoff of the speed estimate in [Hz].
    """

    def __init__(
        self, min_cutoff: float = 1.0, beta: float = 0.0, derivative_cutoff: float = 1.0
    ) -> None:
        self._parameters = min_cutoff, beta, derivative_cutoff
        self.reset()

    def reset(self) -> None:
        """Forget the past; the next value passes unchanged."""
        self._signals: NDArray[np.void] | None = None

    def update(self, value: ArrayLike, dt: float) -> Array:
        """Return the smoothed value `dt` [s] after the last; without time it stays the same."""
        measured = np.array(value, dtype=np.float64, ndmin=1)
        if self._signals is None:
            self._signals = np.zeros(measured.size, dtype=SMOOTHED)
            self._signals["measured"] = self._signals["value"] = measured
        elif dt > 0.0:
            smooth(self._signals, measured, *self._parameters, dt)
        smoothed: Array = self._signals["value"].copy()
        return smoothed


class OneEuroRotationFilter:
    """The one-euro filter for a rotation, given as a quaternion xyzw.

    Args:
        min_cutoff: Cutoff at rest in [Hz].
        beta: Rise of the cutoff with angular velocity in [1/rad].
        derivative_cutoff: Cutoff of the estimated angular velocity in [Hz].

    Attributes:
        value: The newest output, or None before the first.
    """

    def __init__(
        self, min_cutoff: float = 1.0, beta: float = 0.0, derivative_cutoff: float = 1.0
    ) -> None:
        self._parameters = min_cutoff, beta, derivative_cutoff
        self.reset()

    def reset(self) -> None:
        """Forget the past; the next rotation passes unchanged."""
        self.value: Quaternion | None = None
        self._velocity = (0.0, 0.0, 0.0)

    def update(self, quaternion: Quaternion, dt: float) -> Quaternion:
        """Return the smoothed unit quaternion `dt` [s] after the last; without time it stays.

        Raises:
            InvalidPoseError: The quaternion is not a rotation.
        """
        x, y, z, w = quaternion
        if not 0.0 < x * x + y * y + z * z + w * w < math.inf:
            raise InvalidPoseError(f"a rotation needs a finite quaternion, got {(x, y, z, w)}")
        measured = normalized((x, y, z, w))
        if self.value is None:
            self.value = self._measured = measured
        elif dt > 0.0:
            self.value, self._velocity = smooth_rotation(
                self.value, self._velocity, self._measured, measured, *self._parameters, dt
            )
            self._measured = measured
        return self.value
