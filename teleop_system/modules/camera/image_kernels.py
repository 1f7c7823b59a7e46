# SPDX-License-Identifier: Apache-2.0
"""Kernels over images: depth into byte planes and back, and depth into points."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Float32 = NDArray[np.float32]
Bytes = NDArray[np.uint8]

BIAS = 128
"""Added to every difference, so that a small one of either sign leaves the high byte at zero."""
PER_METRE = np.float32(1000.0)
METRES = np.float32(0.001)
HALF = np.float32(0.5)
BEYOND = np.float32(65536.0)
"""First number of rounded millimetres that sixteen bits do not hold."""


@kernel("b1(Array(f4, 2, 'C', readonly=True), u1[:, :, ::1])")
def split_depth(depth: Float32, planes: Bytes) -> bool:
    """Write the low and the high bytes of a depth image's vertical differences, shape (2, H, W).

    Depths in [m] that are not positive, not finite or beyond 65.535 m count as 0; return whether
    there are others.
    """
    height, width = depth.shape
    above = np.zeros(width, np.uint16)
    here = np.zeros(width, np.uint16)
    seen = np.uint16(0)
    for row in range(height):
        for column in range(width):
            metres = depth[row, column]
            scaled = metres * PER_METRE + HALF
            is_valid = metres > np.float32(0.0) and scaled < BEYOND
            here[column] = np.uint16(np.int32(scaled)) if is_valid else np.uint16(0)
        for column in range(width):
            difference = np.uint16(np.int32(here[column]) - np.int32(above[column]) + BIAS)
            planes[0, row, column] = np.uint8(difference & 255)
            planes[1, row, column] = np.uint8(difference >> 8)
            seen |= here[column]
        above, here = here, above
    return bool(seen != 0)


@kernel("void(Array(u1, 3, 'C', readonly=True), f4[:, ::1])")
def join_depth(planes: Bytes, depth: Float32) -> None:
    """Write the depth in [m], shape (H, W), that such planes stand for."""
    height, width = depth.shape
    above = np.zeros(width, np.uint16)
    for row in range(height):
        for column in range(width):
            difference = np.int32(planes[1, row, column]) * 256 + planes[0, row, column] - BIAS
            here = np.uint16(above[column] + difference)
            above[column] = here
            depth[row, column] = np.float32(here) * METRES


@kernel(
    "i8(Array(f4, 2, 'C', readonly=True), Array(u1, 3, 'C', readonly=True), f4[::1], f4[::1],"
    " f4[:, ::1], f4[::1], i8, f4[:, ::1], u1[:, ::1])"
)
def unproject(
    depth: Float32,
    rgb: Bytes,
    rows: Float32,
    columns: Float32,
    pose: Float32,
    lens: Float32,
    stride: int,
    points: Float32,
    colors: Bytes,
) -> int:
    """Write the points of a depth image and their colours, and return how many there are.

    Args:
        depth: Depth in [m], shape (H, W).
        rgb: Colour, shape (H, W, 3).
        rows: Slope of every strided row's ray, y over z.
        columns: Slope of every strided column's ray, x over z.
        pose: Pose of the camera, shape (3, 4).
        lens: Least and greatest depth in [m], and skew over focal length.
        stride: Every so many rows and columns make a point.
        points: Room for the points, shape (N, 3).
        colors: Room for the colours, shape (N, 3).
    """
    near, far, skew = lens[0], lens[1], lens[2]
    count = 0
    for row in range(len(rows)):
        for column in range(len(columns)):
            z = depth[row * stride, column * stride]
            if z >= near and z <= far:
                y = rows[row] * z
                x = columns[column] * z - skew * y
                for axis in range(3):
                    points[count, axis] = (
                        pose[axis, 0] * x + pose[axis, 1] * y + pose[axis, 2] * z + pose[axis, 3]
                    )
                    colors[count, axis] = rgb[row * stride, column * stride, axis]
                count += 1
    return count
