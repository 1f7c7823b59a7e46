# SPDX-License-Identifier: Apache-2.0
"""Poses as plain floats, for what runs several times a tick.

On three or four numbers plain floats are several times faster than arrays; the functions of
`utils.transforms`, which take arrays of any shape, give the same results. Quaternions are xyzw
and of unit length.
"""

from math import atan2, cos, sin, sqrt

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Placement = tuple[Vector, Quaternion]
"""Position [m] and orientation xyzw."""

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
ORIGIN: Placement = ((0.0, 0.0, 0.0), IDENTITY)


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


def conjugate(q: Quaternion) -> Quaternion:
    """Return the inverse of a unit quaternion."""
    return -q[0], -q[1], -q[2], q[3]


def normalized(q: Quaternion) -> Quaternion:
    """Return a quaternion with unit length."""
    x, y, z, w = q
    k = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return x * k, y * k, z * k, w * k


def rotate(q: Quaternion, vector: Vector) -> Vector:
    """Return a vector turned by a unit quaternion."""
    x, y, z, w = q
    vx, vy, vz = vector
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def rotation_vector(q: Quaternion) -> Vector:
    """Return axis times angle [rad], the short way round, of a unit quaternion."""
    x, y, z, w = q
    sine = sqrt(x * x + y * y + z * z)
    if sine < 1e-12:
        k = 2.0 if w >= 0.0 else -2.0
    elif w >= 0.0:
        k = 2.0 * atan2(sine, w) / sine
    else:
        k = 2.0 * atan2(-sine, -w) / sine
    return x * k, y * k, z * k


def from_rotation_vector(vector: Vector) -> Quaternion:
    """Return the unit quaternion of axis times angle [rad]."""
    x, y, z = vector
    angle = sqrt(x * x + y * y + z * z)
    k = sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return x * k, y * k, z * k, cos(0.5 * angle)


def scaled_rotation(q: Quaternion, scale: float) -> Quaternion:
    """Return a rotation about the same axis by `scale` times the angle."""
    x, y, z = rotation_vector(q)
    return from_rotation_vector((x * scale, y * scale, z * scale))


def compose(a: Placement, b: Placement) -> Placement:
    """Return placement `b`, given in the frame of `a`, in the frame that `a` is given in."""
    (px, py, pz), q = a
    x, y, z = rotate(q, b[0])
    return (px + x, py + y, pz + z), multiply(q, b[1])


def inverse(a: Placement) -> Placement:
    """Return the placement that undoes another."""
    q = conjugate(a[1])
    x, y, z = rotate(q, a[0])
    return (-x, -y, -z), q


def distance(a: Vector, b: Vector) -> float:
    """Return how far two points are apart in [m]."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return sqrt(x * x + y * y + z * z)


def angle_between(a: Quaternion, b: Quaternion) -> float:
    """Return the angle of the smallest turn from one orientation to another in [rad]."""
    x, y, z = rotation_vector(multiply(b, conjugate(a)))
    return sqrt(x * x + y * y + z * z)


def blend(a: Placement, b: Placement, share: float) -> Placement:
    """Return what lies `share` of the way from one placement to another."""
    (ax, ay, az), (bx, by, bz) = a[0], b[0]
    turn = scaled_rotation(multiply(b[1], conjugate(a[1])), share)
    return (
        (ax + share * (bx - ax), ay + share * (by - ay), az + share * (bz - az)),
        normalized(multiply(turn, a[1])),
    )


def heading_of(q: Quaternion) -> float:
    """Return the turn about the vertical in [rad] that an orientation holds, leaning or not."""
    return 2.0 * atan2(q[2], q[3])
