# SPDX-License-Identifier: Apache-2.0
"""Where links are, and how far capsules and boxes on them are from each other.

A capsule is a segment with a radius, so its distance from another is that of two segments, and its
distance from a box that of a segment and a box, less the radii. Both are convex in the place along
the segment. Other shapes are left to a library for any shape.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

CAPSULE, BOX, OTHER = 0, 1, 2
"""Kinds of shapes."""
TOUCHING = 1e-9
"""Distance of a segment from a box [m] below which there is none to speak of."""
MOST_ROUNDS = 60
"""Bound of the search for the point of a segment next to a box."""


@kernel("void(f8[:, ::1], i8[:, ::1], f8[::1], f8[:, ::1])")
def place_links(joints: Array, tree: Indices, positions: Array, places: Array) -> None:
    """Write rotation, row by row, and position of every joint's frame.

    Args:
        joints: Rotation and position in the parent's frame, and the axis, shape (J, 15).
        tree: Parent, column in `positions` and whether it slides, shape (J, 3); parents first.
        positions: Joint positions [rad] or [m], shape (N,).
        places: Frames of the joints, shape (J, 12); the first is the world's.
    """
    for j in range(1, joints.shape[0]):
        parent, column, slides = tree[j, 0], tree[j, 1], tree[j, 2]
        x, y, z = joints[j, 12], joints[j, 13], joints[j, 14]
        angle = positions[column]
        shift = 0.0
        if slides == 1:
            shift, angle = angle, 0.0
        s, c = math.sin(angle), math.cos(angle)
        d = 1.0 - c
        # Rodrigues: turn by the angle about the axis.
        t0, t1, t2 = c + d * x * x, d * x * y - s * z, d * x * z + s * y
        t3, t4, t5 = d * x * y + s * z, c + d * y * y, d * y * z - s * x
        t6, t7, t8 = d * x * z - s * y, d * y * z + s * x, c + d * z * z
        # Placement in the parent's frame, turned and shifted by the joint.
        r = joints[j]
        l0, l1, l2 = (
            r[0] * t0 + r[1] * t3 + r[2] * t6,
            r[0] * t1 + r[1] * t4 + r[2] * t7,
            r[0] * t2 + r[1] * t5 + r[2] * t8,
        )
        l3, l4, l5 = (
            r[3] * t0 + r[4] * t3 + r[5] * t6,
            r[3] * t1 + r[4] * t4 + r[5] * t7,
            r[3] * t2 + r[4] * t5 + r[5] * t8,
        )
        l6, l7, l8 = (
            r[6] * t0 + r[7] * t3 + r[8] * t6,
            r[6] * t1 + r[7] * t4 + r[8] * t7,
            r[6] * t2 + r[7] * t5 + r[8] * t8,
        )
        px = r[9] + shift * (r[0] * x + r[1] * y + r[2] * z)
        py = r[10] + shift * (r[3] * x + r[4] * y + r[5] * z)
        pz = r[11] + shift * (r[6] * x + r[7] * y + r[8] * z)
        for row in range(3):
            a, b, g = (
                places[parent, 3 * row],
                places[parent, 3 * row + 1],
                places[parent, 3 * row + 2],
            )
            places[j, 3 * row] = a * l0 + b * l3 + g * l6
            places[j, 3 * row + 1] = a * l1 + b * l4 + g * l7
            places[j, 3 * row + 2] = a * l2 + b * l5 + g * l8
            places[j, 9 + row] = places[parent, 9 + row] + a * px + b * py + g * pz


@kernel("f8(f8[::1], f8[::1], f8[::1], f8[::1])")
def segments_apart(p: Array, d: Array, q: Array, e: Array) -> float:
    """Return the distance [m] of the segments from `p` to `p + d` and from `q` to `q + e`."""
    rx, ry, rz = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    ee = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    er = e[0] * rx + e[1] * ry + e[2] * rz
    dr = d[0] * rx + d[1] * ry + d[2] * rz
    de = d[0] * e[0] + d[1] * e[1] + d[2] * e[2]
    s = 0.0
    determinant = dd * ee - de * de
    if determinant > 1e-12 * dd * ee:
        s = min(max((de * er - dr * ee) / determinant, 0.0), 1.0)
    t = (de * s + er) / ee if ee > 0.0 else 0.0
    # Where the nearest point of the other line lies beyond its end, the end is nearest.
    if t < 0.0 or t > 1.0 or determinant <= 1e-12 * dd * ee:
        t = min(max(t, 0.0), 1.0)
        s = min(max((de * t - dr) / dd, 0.0), 1.0) if dd > 0.0 else 0.0
    x, y, z = rx + s * d[0] - t * e[0], ry + s * d[1] - t * e[1], rz + s * d[2] - t * e[2]
    return math.sqrt(x * x + y * y + z * z)


@kernel("f8(f8[::1], f8[::1], f8[::1], f8)")
def slope_at(p: Array, d: Array, half: Array, t: float) -> float:
    """Return half the slope of the squared distance of a box from `p + t d`, in its frame."""
    slope = 0.0
    for axis in range(3):
        x = p[axis] + t * d[axis]
        slope += d[axis] * (x - min(max(x, -half[axis]), half[axis]))
    return slope


@kernel("f8(f8[::1], f8[::1], f8[::1])")
def segment_from_box(p: Array, d: Array, half: Array) -> float:
    """Return the distance [m] of a segment from a box with half sides `half`, in its frame."""
    low, high = 0.0, 1.0
    at_low, at_high = slope_at(p, d, half, low), slope_at(p, d, half, high)
    t = low if at_low >= 0.0 else high
    if at_low < 0.0 < at_high:
        # The slope rises in straight pieces; a chord ends the search on the right one.
        for _ in range(MOST_ROUNDS):
            t = low - at_low * (high - low) / (at_high - at_low)
            slope = slope_at(p, d, half, t)
            if slope < 0.0:
                low, at_low = t, slope
            elif slope > 0.0:
                high, at_high = t, slope
            if slope == 0.0 or high - low < 1e-12:
                break
            t = 0.5 * (low + high)
            slope = slope_at(p, d, half, t)
            if slope < 0.0:
                low, at_low = t, slope
            elif slope > 0.0:
                high, at_high = t, slope
            else:
                break
    square = 0.0
    for axis in range(3):
        x = p[axis] + t * d[axis]
        square += max(abs(x) - half[axis], 0.0) ** 2
    return math.sqrt(square)


@kernel("void(f8[::1], f8[::1], f8[::1])")
def place_shape(place: Array, shape: Array, out: Array) -> None:
    """Write rotation, row by row, and position of a shape, shape (12,)."""
    for row in range(3):
        a, b, c = place[3 * row], place[3 * row + 1], place[3 * row + 2]
        for column in range(3):
            out[3 * row + column] = (
                a * shape[column] + b * shape[3 + column] + c * shape[6 + column]
            )
        out[9 + row] = place[9 + row] + a * shape[9] + b * shape[10] + c * shape[11]


@kernel(
    "i8(f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[::1], f8[:, ::1], f8[::1])",
)
def pair_distances(
    places: Array,
    shapes: Array,
    owners: Indices,
    pairs: Indices,
    chosen: Indices,
    work: Array,
    out: Array,
) -> int:
    """Write the distances of some pairs of shapes [m]; NaN where a library has to be asked.

    Args:
        places: Frames of the joints, shape (J, 12).
        shapes: Rotation and position in the joint's frame, and sizes, shape (G, 15): radius and
            half length of a capsule, half sides of a box.
        owners: Joint and kind of every shape, shape (G, 2).
        pairs: The two shapes of every pair, a capsule first, shape (P, 2).
        chosen: Pairs to measure, shape (K,).
        work: Memory for frames and segments, shape (6, 12).
        out: Their distances [m], shape (K,).

    Returns:
        How many of them are NaN.
    """
    missing = 0
    for k in range(chosen.size):
        first, second = pairs[chosen[k], 0], pairs[chosen[k], 1]
        if owners[first, 1] != CAPSULE or owners[second, 1] == OTHER:
            out[k] = math.nan
            missing += 1
            continue
        place_shape(places[owners[first, 0]], shapes[first], work[0])
        place_shape(places[owners[second, 0]], shapes[second], work[1])
        one, other = work[0], work[1]
        p, d, q, e = work[2, :3], work[3, :3], work[4, :3], work[5, :3]
        half = shapes[first, 13]
        for axis in range(3):
            d[axis] = 2.0 * half * one[3 * axis + 2]
            p[axis] = one[9 + axis] - 0.5 * d[axis]
        if owners[second, 1] == CAPSULE:
            half = shapes[second, 13]
            for axis in range(3):
                e[axis] = 2.0 * half * other[3 * axis + 2]
                q[axis] = other[9 + axis] - 0.5 * e[axis]
            out[k] = segments_apart(p, d, q, e) - shapes[first, 12] - shapes[second, 12]
            continue
        # Into the frame of the box.
        for axis in range(3):
            q[axis] = e[axis] = 0.0
            for row in range(3):
                turned = other[3 * row + axis]
                q[axis] += turned * (p[row] - other[9 + row])
                e[axis] += turned * d[row]
        apart = segment_from_box(q, e, shapes[second, 12:15])
        out[k] = apart - shapes[first, 12]
        if apart < TOUCHING:
            # How deep a segment is inside a box is another question.
            out[k] = math.nan
            missing += 1
    return missing
