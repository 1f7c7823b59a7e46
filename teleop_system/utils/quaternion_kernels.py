# SPDX-License-Identifier: Apache-2.0
"""Rotations as plain floats, for kernels and for `utils.poses`.

Quaternions are xyzw and of unit length.
"""

from math import atan2, cos, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@kernel("UniTuple(f8, 4)(UniTuple(f8, 4), UniTuple(f8, 4))")
def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the rotation that applies `b` first, then `a`."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@kernel("UniTuple(f8, 4)(UniTuple(f8, 4))")
def conjugate(q: Quaternion) -> Quaternion:
    """Return the inverse of a unit quaternion."""
    return -q[0], -q[1], -q[2], q[3]


@kernel("UniTuple(f8, 3)(UniTuple(f8, 4), UniTuple(f8, 3))")
def rotate(q: Quaternion, vector: Vector) -> Vector:
    """Return a vector rotated by a unit quaternion."""
    x, y, z, w = q
    vx, vy, vz = vector
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@kernel("UniTuple(f8, 3)(UniTuple(f8, 4))")
def rotation_vector(q: Quaternion) -> Vector:
    """Return axis times angle [rad], at most pi, of a unit quaternion."""
    x, y, z, w = q
    sine = sqrt(x * x + y * y + z * z)
    if sine < 1e-12:
        k = 2.0 if w >= 0.0 else -2.0
    elif w >= 0.0:
        k = 2.0 * atan2(sine, w) / sine
    else:
        k = 2.0 * atan2(-sine, -w) / sine
    return x * k, y * k, z * k


@kernel("UniTuple(f8, 4)(UniTuple(f8, 3))")
def from_rotation_vector(vector: Vector) -> Quaternion:
    """Return the unit quaternion of axis times angle [rad]."""
    x, y, z = vector
    angle = sqrt(x * x + y * y + z * z)
    k = sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return x * k, y * k, z * k, cos(0.5 * angle)


@kernel("UniTuple(f8, 4)(UniTuple(f8, 4), f8)")
def scaled_rotation(q: Quaternion, scale: float) -> Quaternion:
    """Return a rotation about the same axis by `scale` times the angle."""
    x, y, z = rotation_vector(q)
    return from_rotation_vector((x * scale, y * scale, z * scale))


@kernel("UniTuple(f8, 4)(f8[:, ::1])")
def from_matrix(r: NDArray[np.float64]) -> Quaternion:
    """Return the unit quaternion of a rotation matrix, shape (3, 3).

    It is built on its largest component, which loses no digits.
    """
    if r[0, 0] + r[1, 1] + r[2, 2] > 0.0:
        s = sqrt(1.0 + r[0, 0] + r[1, 1] + r[2, 2])
        k = 0.5 / s
        return (r[2, 1] - r[1, 2]) * k, (r[0, 2] - r[2, 0]) * k, (r[1, 0] - r[0, 1]) * k, 0.5 * s
    if r[0, 0] >= r[1, 1] and r[0, 0] >= r[2, 2]:
        s = sqrt(1.0 + r[0, 0] - r[1, 1] - r[2, 2])
        k = 0.5 / s
        return 0.5 * s, (r[0, 1] + r[1, 0]) * k, (r[0, 2] + r[2, 0]) * k, (r[2, 1] - r[1, 2]) * k
    if r[1, 1] >= r[2, 2]:
        s = sqrt(1.0 + r[1, 1] - r[0, 0] - r[2, 2])
        k = 0.5 / s
        return (r[0, 1] + r[1, 0]) * k, 0.5 * s, (r[1, 2] + r[2, 1]) * k, (r[0, 2] - r[2, 0]) * k
    s = sqrt(1.0 + r[2, 2] - r[0, 0] - r[1, 1])
    k = 0.5 / s
    return (r[0, 2] + r[2, 0]) * k, (r[1, 2] + r[2, 1]) * k, 0.5 * s, (r[1, 0] - r[0, 1]) * k
