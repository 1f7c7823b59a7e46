# SPDX-License-Identifier: Apache-2.0
"""Distances of capsules, boxes and cylinders on the links of a robot.

A capsule is a segment with a radius, so its distance from another is that of two segments, and its
distance from a box or a cylinder that of a segment, less the radii. All are convex along the
segment. Other shapes are left to a library for any shape.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.kinematics_kernels import (  # Data types are named in signatures.
    FRAME,  # noqa: F401
    JOINT,  # noqa: F401
    place_links,
    rotated,
    transformed,
    world_axis,
)
from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import Vector

Array = NDArray[np.float64]
Records = NDArray[np.void]

CAPSULE, BOX, CYLINDER, OTHER = 0, 1, 2, 3
"""Kinds of shapes."""
TOUCHING = 1e-9
"""Two centre lines this near [m] have no direction between them."""
MAX_ROUNDS = 60
"""Bound of the search for the point of a segment that is nearest to a shape."""

SHAPE = np.dtype(
    [
        *[("rotation", np.float64, (3, 3)), ("position", np.float64, 3)],
        *[("sizes", np.float64, 3), ("joint", np.int64), ("kind", np.int64)],
    ],
    align=True,
)
"""A shape in the frame of the joint that carries it. Sizes in [m]: radius and half length, along
z, of a capsule or cylinder; half sides of a box."""
PAIR = np.dtype([("first", np.int64), ("second", np.int64)], align=True)
"""Two shapes; if one of them is a capsule, it is the first."""
CONTACT = np.dtype(
    [
        *[("distance", np.float64), ("normal", np.float64, 3)],
        *[("on_first", np.float64, 3), ("on_second", np.float64, 3)],
    ],
    align=True,
)
"""The distance of two shapes [m], the direction from the first to the second, and the nearest
points [m]; all are NaN if a library has to compute them."""


@kernel("f8(UniTuple(f8, 3), UniTuple(f8, 3))")
def dot(a: Vector, b: Vector) -> float:
    """Return the inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel("UniTuple(f8, 3)(UniTuple(f8, 3), f8, UniTuple(f8, 3))")
def point_along(start: Vector, fraction: float, length: Vector) -> Vector:
    """Return the point of a segment at a fraction of its length."""
    return (
        start[0] + fraction * length[0],
        start[1] + fraction * length[1],
        start[2] + fraction * length[2],
    )


@kernel("UniTuple(f8, 2)(UniTuple(f8, 3), UniTuple(f8, 3), UniTuple(f8, 3), UniTuple(f8, 3))")
def nearest_fractions(p: Vector, d: Vector, q: Vector, e: Vector) -> tuple[float, float]:
    """Return the fractions s, t, from 0 to 1, of the nearest points of `p + s d`, `q + t e`."""
    r = (p[0] - q[0], p[1] - q[1], p[2] - q[2])
    dd, ee, er, dr, de = dot(d, d), dot(e, e), dot(e, r), dot(d, r), dot(d, e)
    s = 0.0
    determinant = dd * ee - de * de
    if determinant > 1e-12 * dd * ee:
        s = min(max((de * er - dr * ee) / determinant, 0.0), 1.0)
    t = (de * s + er) / ee if ee > 0.0 else 0.0
    # If the nearest point of the other line lies beyond its end, the end is nearest.
    if t < 0.0 or t > 1.0 or determinant <= 1e-12 * dd * ee:
        t = min(max(t, 0.0), 1.0)
        s = min(max((de * t - dr) / dd, 0.0), 1.0) if dd > 0.0 else 0.0
    return s, t


@kernel("UniTuple(f8, 3)(UniTuple(f8, 3), i8, f8[::1])")
def nearest_inside(point: Vector, kind: int, sizes: Array) -> Vector:
    """Return the point of a box or cylinder nearest to another point, in its frame."""
    x, y, z = point
    if kind == BOX:
        return (
            min(max(x, -sizes[0]), sizes[0]),
            min(max(y, -sizes[1]), sizes[1]),
            min(max(z, -sizes[2]), sizes[2]),
        )
    off_axis = math.sqrt(x * x + y * y)
    k = sizes[0] / off_axis if off_axis > sizes[0] else 1.0
    return k * x, k * y, min(max(z, -sizes[1]), sizes[1])


@kernel("f8(UniTuple(f8, 3), UniTuple(f8, 3), i8, f8[::1], f8)")
def slope_at(p: Vector, d: Vector, kind: int, sizes: Array, t: float) -> float:
    """Return half the slope of the squared distance of a shape from `p + t d`, in its frame."""
    x, y, z = point_along(p, t, d)
    nx, ny, nz = nearest_inside((x, y, z), kind, sizes)
    return dot(d, (x - nx, y - ny, z - nz))


@kernel("f8(UniTuple(f8, 3), UniTuple(f8, 3), i8, f8[::1])")
def nearest_fraction(p: Vector, d: Vector, kind: int, sizes: Array) -> float:
    """Return the fraction t, from 0 to 1, at which `p + t d` is nearest to a box or cylinder."""
    low, high = 0.0, 1.0
    at_low, at_high = slope_at(p, d, kind, sizes, low), slope_at(p, d, kind, sizes, high)
    t = low if at_low >= 0.0 else high
    if at_low < 0.0 < at_high:
        # The slope of a box rises in straight pieces; a chord ends the search on the right one.
        for step in range(2 * MAX_ROUNDS):
            if step % 2 == 0:
                t = low - at_low * (high - low) / (at_high - at_low)
            else:
                t = 0.5 * (low + high)
            slope = slope_at(p, d, kind, sizes, t)
            if slope < 0.0:
                low, at_low = t, slope
            elif slope > 0.0:
                high, at_high = t, slope
            if slope == 0.0 or (step % 2 == 0 and high - low < 1e-12):
                break
    return t


@kernel("Tuple((UniTuple(f8, 3), UniTuple(f8, 3)))(FRAME, SHAPE)")
def segment_of(link: Records, shape: Records) -> tuple[Vector, Vector]:
    """Return the start of a capsule's segment and the vector to its end, in the world [m]."""
    r, p = shape["rotation"], shape["position"]
    centre = transformed(link, (p[0], p[1], p[2]))
    axis = rotated(link["rotation"][:], (r[0, 2], r[1, 2], r[2, 2]))
    length = 2.0 * shape["sizes"][1]
    d = (length * axis[0], length * axis[1], length * axis[2])
    return (centre[0] - 0.5 * d[0], centre[1] - 0.5 * d[1], centre[2] - 0.5 * d[2]), d


@kernel("UniTuple(f8, 3)(f8[:, ::1], UniTuple(f8, 3))")
def rotated_back(r: Array, v: Vector) -> Vector:
    """Return a vector rotated by the inverse of a matrix."""
    return (
        r[0, 0] * v[0] + r[1, 0] * v[1] + r[2, 0] * v[2],
        r[0, 1] * v[0] + r[1, 1] * v[1] + r[2, 1] * v[2],
        r[0, 2] * v[0] + r[1, 2] * v[1] + r[2, 2] * v[2],
    )


@kernel("UniTuple(f8, 3)(FRAME, SHAPE, UniTuple(f8, 3))")
def into_shape(link: Records, shape: Records, vector: Vector) -> Vector:
    """Return a vector of the world in the axes of a shape."""
    return rotated_back(shape["rotation"][:], rotated_back(link["rotation"][:], vector))


@kernel("b1(UniTuple(f8, 3), UniTuple(f8, 3), f8, f8, CONTACT)")
def write_contact(
    one: Vector, other: Vector, radius: float, other_radius: float, contact: Records
) -> bool:
    """Set the contact of two balls; False, and NaN, if their centres are the same."""
    x, y, z = other[0] - one[0], other[1] - one[1], other[2] - one[2]
    apart = math.sqrt(x * x + y * y + z * z)
    if apart < TOUCHING:
        contact["distance"] = math.nan
        return False
    normal = (x / apart, y / apart, z / apart)
    contact["distance"] = apart - radius - other_radius
    for axis in range(3):
        contact["normal"][axis] = normal[axis]
        contact["on_first"][axis] = one[axis] + radius * normal[axis]
        contact["on_second"][axis] = other[axis] - other_radius * normal[axis]
    return True


@kernel("b1(FRAME[::1], SHAPE[::1], PAIR, CONTACT)")
def find_contact(links: Records, shapes: Records, pair: Records, contact: Records) -> bool:
    """Set the contact of a pair; False, and NaN, if a library has to compute it."""
    first, second = shapes[pair["first"]], shapes[pair["second"]]
    if first["kind"] != CAPSULE or second["kind"] == OTHER:
        contact["distance"] = math.nan
        return False
    link, sizes = links[second["joint"]], second["sizes"][:]
    p, d = segment_of(links[first["joint"]], first)
    radius = first["sizes"][0]
    if second["kind"] == CAPSULE:
        q, e = segment_of(link, second)
        s, t = nearest_fractions(p, d, q, e)
        return write_contact(point_along(p, s, d), point_along(q, t, e), radius, sizes[0], contact)
    # In the frame of the other shape. The depth of a segment inside a shape is not computed.
    origin = second["position"]
    centre = transformed(link, (origin[0], origin[1], origin[2]))
    start = into_shape(link, second, (p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]))
    length = into_shape(link, second, d)
    t = nearest_fraction(start, length, second["kind"], sizes)
    inside = nearest_inside(point_along(start, t, length), second["kind"], sizes)
    x, y, z = rotated(link["rotation"][:], rotated(second["rotation"][:], inside))
    other = (centre[0] + x, centre[1] + y, centre[2] + z)
    return write_contact(point_along(p, t, d), other, radius, 0.0, contact)


@kernel("void(JOINT[::1], FRAME[::1], i8, f8[::1], UniTuple(f8, 3), f8, f8[::1])")
def add_slopes(
    joints: Records,
    links: Records,
    joint: int,
    point: Array,
    normal: Vector,
    sign: float,
    slopes: Array,
) -> None:
    """Add how fast a point on a link moves along a direction, per velocity of each joint."""
    j = joint
    while j > 0:
        x, y, z = world_axis(joints, links, j)
        if not joints[j]["slides"]:
            # A joint that rotates moves the point by the cross product with its lever.
            p = links[j]["position"]
            lx, ly, lz = point[0] - p[0], point[1] - p[1], point[2] - p[2]
            x, y, z = y * lz - z * ly, z * lx - x * lz, x * ly - y * lx
        slopes[joints[j]["column"]] += sign * dot(normal, (x, y, z))
        j = joints[j]["parent"]


@kernel("void(JOINT[::1], FRAME[::1], SHAPE[::1], PAIR, CONTACT, f8[::1])")
def write_slopes(
    joints: Records,
    links: Records,
    shapes: Records,
    pair: Records,
    contact: Records,
    slopes: Array,
) -> None:
    """Set the change of a pair's distance per joint motion [m/rad], shape (N,)."""
    n = contact["normal"]
    normal = (n[0], n[1], n[2])
    first, second = shapes[pair["first"]]["joint"], shapes[pair["second"]]["joint"]
    slopes[:] = 0.0
    add_slopes(joints, links, first, contact["on_first"][:], normal, -1.0, slopes)
    add_slopes(joints, links, second, contact["on_second"][:], normal, 1.0, slopes)


@kernel("i8(JOINT[::1], f8[::1], FRAME[::1], SHAPE[::1], PAIR[::1], i8[::1], CONTACT[::1])")
def find_contacts(
    joints: Records,
    positions: Array,
    links: Records,
    shapes: Records,
    pairs: Records,
    chosen: NDArray[np.int64],
    contacts: Records,
) -> int:
    """Compute the contacts of some pairs at a posture.

    Args:
        joints: The joints of the robot, shape (J,).
        positions: Their positions [rad], shape (N,).
        links: Written: the poses of the links, shape (J,).
        shapes: The shapes, shape (S,).
        pairs: All pairs, shape (P,).
        chosen: Indices of the pairs to look at, shape (K,).
        contacts: Written: their contacts, shape (K,).

    Returns:
        The number of contacts that a library has to compute.
    """
    place_links(joints, positions, links)
    missing = 0
    for k in range(chosen.size):
        if not find_contact(links, shapes, pairs[chosen[k]], contacts[k]):
            missing += 1
    return missing
