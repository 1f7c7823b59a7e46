# SPDX-License-Identifier: Apache-2.0
"""Depth as planes of bytes that compress well: by a compiled kernel, else in NumPy.

Both give the same bytes. The kernel fuses rounding, prediction and the split into one pass over
the image; undoing a vertical prediction is the step that NumPy is slow at, as each row depends on
the one above.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.camera import image_kernels
from teleop_system.utils.compiled import IS_COMPILED

Depth = NDArray[np.float32]
Planes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class DepthPlanes:
    """One implementation.

    Attributes:
        split: Writes the byte planes, shape (2, H, W), of a depth image in [m] into its second
            argument, where depths that are not positive, not finite or beyond 65.535 m count as
            0, and tells whether there are others.
        join: Writes the depth in [m] of such planes into its second argument.
    """

    split: Callable[[Depth, Planes], bool]
    join: Callable[[Planes, Depth], None]


def _split_with_numpy(depth: Depth, planes: Planes) -> bool:
    scaled = depth * image_kernels.PER_METRE + image_kernels.HALF
    with np.errstate(invalid="ignore"):
        scaled[~((depth > 0.0) & (scaled < image_kernels.BEYOND))] = 0.0
    millimetres = scaled.astype(np.uint16)
    difference = millimetres + np.uint16(image_kernels.BIAS)
    difference[1:] -= millimetres[:-1]
    np.copyto(planes[0], difference, casting="unsafe")
    np.copyto(planes[1], difference >> 8, casting="unsafe")
    return bool(millimetres.any())


def _join_with_numpy(planes: Planes, depth: Depth) -> None:
    millimetres = planes[1].astype(np.uint16)
    millimetres <<= 8
    millimetres += planes[0]
    millimetres -= np.uint16(image_kernels.BIAS)
    for row in range(1, len(millimetres)):  # Faster than `np.add.accumulate`.
        np.add(millimetres[row - 1], millimetres[row], out=millimetres[row])
    np.multiply(millimetres, image_kernels.METRES, out=depth)


NUMPY = DepthPlanes(_split_with_numpy, _join_with_numpy)
"""The implementation in NumPy."""
BEST = DepthPlanes(image_kernels.split_depth, image_kernels.join_depth) if IS_COMPILED else NUMPY
"""The fastest implementation there is here."""
