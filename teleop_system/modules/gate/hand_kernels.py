# SPDX-License-Identifier: Apache-2.0
"""The largest numbers in the sample of a hand; samples are read-only arrays."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]


@kernel("f8(Array(f8, 1, 'A', readonly=True))")
def largest_angle(angles: Array) -> float:
    """Return the largest absolute angle [rad] of several, shape (N,)."""
    largest = 0.0
    for angle in angles:
        largest = max(largest, abs(angle))
    return largest


@kernel("f8(Array(f8, 2, 'A', readonly=True))")
def largest_reach(tips: Array) -> float:
    """Return the largest distance of finger tips from the wrist [m].

    Args:
        tips: Finger tips in the frame of the wrist [m], shape (N, 3).
    """
    largest = 0.0
    for n in range(tips.shape[0]):
        squared = tips[n, 0] ** 2 + tips[n, 1] ** 2 + tips[n, 2] ** 2
        largest = max(largest, squared)
    return math.sqrt(largest)
