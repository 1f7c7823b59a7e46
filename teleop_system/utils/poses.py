# SPDX-License-Identifier: Apache-2.0
"""Poses as plain floats, for code that handles a few of them in every tick.

On three or four numbers plain floats are several times faster than arrays. Quaternions are xyzw
and of unit length; `utils.transforms` has the same operations for arrays of any shape.
"""

from math import atan2, sqrt

from teleop_system.utils.quaternion_kernels import (
    Quaternion,
    Vector,
    conjugate,
    multiply,
    rotate,
    rotation_vector,
    scaled_rotation,
)

PoseTuple = tuple[Vector, Quaternion]
"""Position [m] and orientation xyzw."""

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
ORIGIN: PoseTuple = ((0.0, 0.0, 0.0), IDENTITY)


def normalized(q: Quaternion) -> Quaternion:
    """Return a quaternion with unit length."""
    x, y, z, w = q
    k = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return x * k, y * k, z * k, w * k


def compose(a: PoseTuple, b: PoseTuple) -> PoseTuple:
    """Return pose `b`, given in the frame of `a`, in the frame that `a` is given in."""
    (px, py, pz), q = a
    x, y, z = rotate(q, b[0])
    return (px + x, py + y, pz + z), multiply(q, b[1])


def inverse(a: PoseTuple) -> PoseTuple:
    """Return the inverse of pose `a`."""
    q = conjugate(a[1])
    x, y, z = rotate(q, a[0])
    return (-x, -y, -z), q


def distance(a: Vector, b: Vector) -> float:
    """Return the distance of two points in [m]."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return sqrt(x * x + y * y + z * z)


def angle_between(a: Quaternion, b: Quaternion) -> float:
    """Return the angle of the smallest rotation from one orientation to another in [rad]."""
    x, y, z = rotation_vector(multiply(b, conjugate(a)))
    return sqrt(x * x + y * y + z * z)


def slerp(a: Quaternion, b: Quaternion, fraction: float) -> Quaternion:
    """Return the rotation at `fraction`, from 0 to 1, between two, along the shorter arc."""
    rotation = scaled_rotation(multiply(b, conjugate(a)), fraction)
    return normalized(multiply(rotation, a))


def blend(a: PoseTuple, b: PoseTuple, fraction: float) -> PoseTuple:
    """Return the pose at `fraction`, from 0 to 1, between two poses."""
    (ax, ay, az), (bx, by, bz) = a[0], b[0]
    position = (ax + fraction * (bx - ax), ay + fraction * (by - ay), az + fraction * (bz - az))
    return position, slerp(a[1], b[1], fraction)


def yaw_of(q: Quaternion) -> float:
    """Return the last of roll, pitch and yaw about the fixed axes x, y, then z in [rad]."""
    x, y, z, w = q
    return atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def heading_of(q: Quaternion) -> float:
    """Return the rotation about the vertical axis in [rad], at any tilt."""
    return 2.0 * atan2(q[2], q[3])
