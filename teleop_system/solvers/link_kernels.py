# SPDX-License-Identifier: Apache-2.0
"""Where links are, and how far capsules, boxes and cylinders on them are from each other.

A capsule is a segment with a radius, so its distance from another is that of two segments, and its
distance from a box or a cylinder that of a segment, less the radii. All are convex in the place
along the segment. Other shapes are left to a library for any shape.

How two shapes lie to each other is a *contact*, near or far: their distance, the direction from
the one to the other, and the point of either that is next to the other.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

CAPSULE, BOX, CYLINDER, OTHER = 0, 1, 2, 3
"""Kinds of shapes."""
TOUCHING = 1e-9
"""Distance of a segment from a shape [m] below which there is none to speak of."""
MOST_ROUNDS = 60
"""Bound of the search for the point of a segment next to a shape."""


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


@kernel("void(f8[::1], f8[::1], f8[::1])")
def place_shape(place: Array, shape: Array, out: Array) -> None:
    """Write rotation, row by row, and position of what is fixed to a link, shape (12,)."""
    for row in range(3):
        a, b, c = place[3 * row], place[3 * row + 1], place[3 * row + 2]
        for column in range(3):
            out[3 * row + column] = (
                a * shape[column] + b * shape[3 + column] + c * shape[6 + column]
            )
        out[9 + row] = place[9 + row] + a * shape[9] + b * shape[10] + c * shape[11]


@kernel(
    "void(f8[:, ::1], i8[:, ::1], f8[::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1],"
    " f8[:, ::1])",
)
def place_frames(
    joints: Array,
    tree: Indices,
    positions: Array,
    places: Array,
    owners: Indices,
    offsets: Array,
    frames: Array,
    jacobian: Array,
) -> None:
    """Place all links, and write where frames on them are and how joints move the world.

    Args:
        joints: As of `place_links`, as `tree`, `positions` and `places`.
        tree: Likewise.
        positions: Likewise.
        places: Likewise.
        owners: Joint that every frame is fixed to, shape (F,).
        offsets: Rotation and position of every frame in that joint's, shape (F, 12).
        frames: Rotation and position of every frame, shape (F, 12).
        jacobian: Spatial velocities at the world's origin per joint velocity, shape (6, N).
    """
    place_links(joints, tree, positions, places)
    for frame in range(owners.size):
        place_shape(places[owners[frame]], offsets[frame], frames[frame])
    for j in range(1, joints.shape[0]):
        r, n, a, b, c = places[j], tree[j, 1], joints[j, 12], joints[j, 13], joints[j, 14]
        x = r[0] * a + r[1] * b + r[2] * c
        y = r[3] * a + r[4] * b + r[5] * c
        z = r[6] * a + r[7] * b + r[8] * c
        if tree[j, 2] == 1:
            jacobian[0, n], jacobian[1, n], jacobian[2, n] = x, y, z
            jacobian[3, n], jacobian[4, n], jacobian[5, n] = 0.0, 0.0, 0.0
        else:
            jacobian[0, n] = r[10] * z - r[11] * y
            jacobian[1, n] = r[11] * x - r[9] * z
            jacobian[2, n] = r[9] * y - r[10] * x
            jacobian[3, n], jacobian[4, n], jacobian[5, n] = x, y, z


@kernel("Tuple((f8, f8))(f8[::1], f8[::1], f8[::1], f8[::1])")
def nearest_shares(p: Array, d: Array, q: Array, e: Array) -> tuple[float, float]:
    """Return where, from 0 to 1, two segments `p + s d` and `q + t e` are next to each other."""
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
    return s, t


@kernel("Tuple((f8, f8, f8))(f8, f8, f8, i8, f8[::1])")
def nearest_inside(
    x: float, y: float, z: float, kind: int, sizes: Array
) -> tuple[float, float, float]:
    """Return the point of a box or cylinder next to another, in its frame.

    Args:
        x: The other point [m], as `y` and `z`.
        y: Likewise.
        z: Likewise.
        kind: Of the shape.
        sizes: Half sides of a box; radius and half length, along z, of a cylinder [m].
    """
    if kind == BOX:
        return (
            min(max(x, -sizes[0]), sizes[0]),
            min(max(y, -sizes[1]), sizes[1]),
            min(max(z, -sizes[2]), sizes[2]),
        )
    away = math.sqrt(x * x + y * y)
    k = sizes[0] / away if away > sizes[0] else 1.0
    return k * x, k * y, min(max(z, -sizes[1]), sizes[1])


@kernel("f8(f8[::1], f8[::1], i8, f8[::1], f8)")
def slope_at(p: Array, d: Array, kind: int, sizes: Array, t: float) -> float:
    """Return half the slope of the squared distance of a shape from `p + t d`, in its frame."""
    x, y, z = p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2]
    nx, ny, nz = nearest_inside(x, y, z, kind, sizes)
    slope: float = d[0] * (x - nx) + d[1] * (y - ny) + d[2] * (z - nz)
    return slope


@kernel("f8(f8[::1], f8[::1], i8, f8[::1])")
def nearest_share(p: Array, d: Array, kind: int, sizes: Array) -> float:
    """Return where, from 0 to 1, a segment is next to a box or cylinder, in its frame."""
    low, high = 0.0, 1.0
    at_low, at_high = slope_at(p, d, kind, sizes, low), slope_at(p, d, kind, sizes, high)
    t = low if at_low >= 0.0 else high
    if at_low < 0.0 < at_high:
        # The slope of a box rises in straight pieces; a chord ends the search on the right one.
        for _ in range(MOST_ROUNDS):
            t = low - at_low * (high - low) / (at_high - at_low)
            slope = slope_at(p, d, kind, sizes, t)
            if slope < 0.0:
                low, at_low = t, slope
            elif slope > 0.0:
                high, at_high = t, slope
            if slope == 0.0 or high - low < 1e-12:
                break
            t = 0.5 * (low + high)
            slope = slope_at(p, d, kind, sizes, t)
            if slope < 0.0:
                low, at_low = t, slope
            elif slope > 0.0:
                high, at_high = t, slope
            else:
                break
    return t


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1])")
def place_segment(place: Array, shape: Array, p: Array, d: Array) -> None:
    """Write where the segment of a capsule begins, and the way to its end."""
    for axis in range(3):
        d[axis] = 2.0 * shape[13] * place[3 * axis + 2]
        p[axis] = place[9 + axis] - 0.5 * d[axis]


@kernel("b1(f8[::1], f8[::1], f8, f8, f8[::1])")
def write_contact(
    one: Array, other: Array, radius: float, other_radius: float, out: Array
) -> bool:
    """Write the contact of two balls; False, and NaN, where their centres are the same."""
    x, y, z = other[0] - one[0], other[1] - one[1], other[2] - one[2]
    apart = math.sqrt(x * x + y * y + z * z)
    if apart < TOUCHING:
        out[:] = math.nan
        return False
    out[0] = apart - radius - other_radius
    out[1], out[2], out[3] = x / apart, y / apart, z / apart
    for axis in range(3):
        out[4 + axis] = one[axis] + radius * out[1 + axis]
        out[7 + axis] = other[axis] - other_radius * out[1 + axis]
    return True


@kernel("b1(f8[:, ::1], f8[:, ::1], i8[:, ::1], i8, i8, f8[:, ::1], f8[::1])")
def find_contact(
    places: Array,
    shapes: Array,
    owners: Indices,
    first: int,
    second: int,
    work: Array,
    out: Array,
) -> bool:
    """Write how two shapes lie to each other; False, and NaN, where a library has to be asked."""
    if owners[first, 1] != CAPSULE or owners[second, 1] == OTHER:
        out[:] = math.nan
        return False
    one, other = work[0], work[1]
    p, d, q, e = work[2, :3], work[3, :3], work[4, :3], work[5, :3]
    place_shape(places[owners[first, 0]], shapes[first], one)
    place_shape(places[owners[second, 0]], shapes[second], other)
    place_segment(one, shapes[first], p, d)
    if owners[second, 1] == CAPSULE:
        place_segment(other, shapes[second], q, e)
        s, t = nearest_shares(p, d, q, e)
        for axis in range(3):
            p[axis] += s * d[axis]
            q[axis] += t * e[axis]
        return write_contact(p, q, shapes[first, 12], shapes[second, 12], out)
    # Into the frame of the other shape, and back. How deep a segment is inside one is not asked.
    for axis in range(3):
        q[axis] = e[axis] = 0.0
        for row in range(3):
            turned = other[3 * row + axis]
            q[axis] += turned * (p[row] - other[9 + row])
            e[axis] += turned * d[row]
    kind, sizes = owners[second, 1], shapes[second, 12:15]
    t = nearest_share(q, e, kind, sizes)
    e[0], e[1], e[2] = nearest_inside(
        q[0] + t * e[0], q[1] + t * e[1], q[2] + t * e[2], kind, sizes
    )
    for axis in range(3):
        p[axis] += t * d[axis]
    for row in range(3):
        q[row] = other[9 + row]
        for axis in range(3):
            q[row] += other[3 * row + axis] * e[axis]
    return write_contact(p, q, shapes[first, 12], 0.0, out)


@kernel("void(f8[:, ::1], i8[:, ::1], f8[:, ::1], i8, i8, f8[::1], f8[::1])")
def write_slopes(
    joints: Array,
    tree: Indices,
    places: Array,
    first: int,
    second: int,
    contact: Array,
    out: Array,
) -> None:
    """Write by how much the distance of shapes changes with the joints [m/rad], shape (N,).

    Args:
        joints: As of `place_links`, as `tree` and `places`.
        tree: Likewise.
        places: Likewise.
        first: Joint that carries the first shape.
        second: Joint that carries the second.
        contact: How they lie to each other, shape (10,).
        out: The slopes.
    """
    out[:] = 0.0
    x, y, z = contact[1], contact[2], contact[3]
    for end in range(2):
        sign = 2.0 * end - 1.0
        point = contact[4 + 3 * end : 7 + 3 * end]
        j = first if end == 0 else second
        while j > 0:
            r, a, b, c = places[j], joints[j, 12], joints[j, 13], joints[j, 14]
            ax = r[0] * a + r[1] * b + r[2] * c
            ay = r[3] * a + r[4] * b + r[5] * c
            az = r[6] * a + r[7] * b + r[8] * c
            if tree[j, 2] == 0:
                # A joint that turns moves the point by the cross product with its lever.
                lx, ly, lz = point[0] - r[9], point[1] - r[10], point[2] - r[11]
                ax, ay, az = ay * lz - az * ly, az * lx - ax * lz, ax * ly - ay * lx
            out[tree[j, 1]] += sign * (x * ax + y * ay + z * az)
            j = tree[j, 0]


@kernel(
    "i8(f8[:, ::1], i8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[::1],"
    " f8[:, ::1], f8[:, ::1], f8, f8[:, ::1])",
)
def find_contacts(
    joints: Array,
    tree: Indices,
    positions: Array,
    places: Array,
    shapes: Array,
    owners: Indices,
    pairs: Indices,
    chosen: Indices,
    work: Array,
    out: Array,
    near: float,
    slopes: Array,
) -> int:
    """Place all links, and write how the two shapes of some pairs lie to each other.

    Args:
        joints: As of `place_links`, as `tree`, `positions` and `places`.
        tree: Likewise.
        positions: Likewise.
        places: Likewise.
        shapes: Rotation and position in the joint's frame, and sizes, shape (G, 15): radius and
            half length of a capsule or cylinder, half sides of a box.
        owners: Joint and kind of every shape, shape (G, 2).
        pairs: The two shapes of every pair, a capsule first, shape (P, 2).
        chosen: Pairs to look at, shape (K,).
        work: Memory for frames and segments, shape (6, 12).
        out: Their distance, the direction from the first to the second, and the nearest points of
            both, in [m], shape (K, 10); NaN where a library has to be asked.
        near: Distance [m] below which it matters how the joints change it.
        slopes: Written for the pairs that are as near: how they do [m/rad], shape (K, N).

    Returns:
        How many of them are NaN.
    """
    place_links(joints, tree, positions, places)
    missing = 0
    for k in range(chosen.size):
        first, second = pairs[chosen[k], 0], pairs[chosen[k], 1]
        if not find_contact(places, shapes, owners, first, second, work, out[k]):
            missing += 1
        elif out[k, 0] < near:
            one, other = owners[first, 0], owners[second, 0]
            write_slopes(joints, tree, places, one, other, out[k], slopes[k])
    return missing
