# SPDX-License-Identifier: Apache-2.0
"""Kernels over images: depth to byte planes and back, and depth to 3-D points."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Float32 = NDArray[np.float32]
Bytes = NDArray[np.uint8]

BIAS = 128
"""Added to every difference, so that a small one of either sign has a high byte of zero."""
PER_METRE = np.float32(1000.0)
METRES = np.float32(0.001)
HALF = np.float32(0.5)
TOO_FAR = np.float32(65536.0)
"""First number of rounded millimetres that does not fit into 16 bits."""


@kernel("b1(Array(f4, 2, 'C', readonly=True), u1[:, :, ::1])")
def split_depth(depth: Float32, planes: Bytes) -> bool:
    """Predict each depth by the pixel above, and write low and high bytes of the differences.

    Args:
        depth: Depth in [m], shape (H, W). Values that are not positive, not finite or beyond
            65.535 m count as 0.
        planes: Output, shape (2, H, W).

    Returns:
        Whether any depth is above 0.
    """
    height, width = depth.shape
    above = np.zeros(width, np.uint16)
    here = np.zeros(width, np.uint16)
    any_bits = np.uint16(0)
    for row in range(height):
        for column in range(width):
            metres = depth[row, column]
            scaled = metres * PER_METRE + HALF
            is_valid = metres > np.float32(0.0) and scaled < TOO_FAR
            here[column] = np.uint16(np.int32(scaled)) if is_valid else np.uint16(0)
        for column in range(width):
            difference = np.uint16(np.int32(here[column]) - np.int32(above[column]) + BIAS)
            planes[0, row, column] = np.uint8(difference & 255)
            planes[1, row, column] = np.uint8(difference >> 8)
            any_bits |= here[column]
        above, here = here, above
    return bool(any_bits != 0)


@kernel("void(Array(u1, 3, 'C', readonly=True), f4[:, ::1])")
def join_depth(planes: Bytes, depth: Float32) -> None:
    """Undo `split_depth`: write the depth in [m], shape (H, W), rounded to millimetres."""
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
    " f4[:, ::1], f4, f4, f4, i8, f4[:, ::1], u1[:, ::1])"
)
def unproject(
    depth: Float32,
    rgb: Bytes,
    row_slopes: Float32,
    column_slopes: Float32,
    pose: Float32,
    near: float,
    far: float,
    skew: float,
    stride: int,
    points: Float32,
    colors: Bytes,
) -> int:
    """Write the points of a depth image and their colours, and return their number.

    Args:
        depth: Depth in [m], shape (H, W).
        rgb: Colour, shape (H, W, 3).
        row_slopes: y over z of the ray through every sampled row.
        column_slopes: x over z of the ray through every sampled column.
        pose: Pose of the camera, shape (3, 4).
        near: Smallest depth of a point in [m].
        far: Largest depth of a point in [m].
        skew: Skew of the camera matrix over its focal length.
        stride: Every stride-th row and column is sampled.
        points: Output, shape (N, 3).
        colors: Output, shape (N, 3).
    """
    count = 0
    for row in range(len(row_slopes)):
        for column in range(len(column_slopes)):
            z = depth[row * stride, column * stride]
            if z >= near and z <= far:
                y = row_slopes[row] * z
                x = column_slopes[column] * z - skew * y
                for axis in range(3):
                    points[count, axis] = (
                        pose[axis, 0] * x + pose[axis, 1] * y + pose[axis, 2] * z + pose[axis, 3]
                    )
                    colors[count, axis] = rgb[row * stride, column * stride, axis]
                count += 1
    return count
