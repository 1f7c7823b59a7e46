# SPDX-License-Identifier: Apache-2.0
"""The formulas of rotations, written once for floats, for arrays and for the compiler.

Quaternions are sequences of components x, y, z, w and of unit length. Components are floats, or
arrays with the leading axes of a batch. `quaternions` applies the formulas to arrays,
`quaternion_kernels` compiles them for floats.
"""

from typing import Any, TypeAlias

import numpy as np

Component: TypeAlias = Any
"""A float, or an array with the leading axes of the batch; arithmetic treats them alike."""
Three: TypeAlias = tuple[Component, Component, Component]
Four: TypeAlias = tuple[Component, Component, Component, Component]

TINY = 1e-300
"""Far below any angle; added to numerator and denominator, it replaces 0/0 by its limit."""


def product(a: Four, b: Four) -> Four:
    """Return the Hamilton product: the rotation that applies `b` first, then `a`."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotated(q: Four, vector: Three) -> Three:
    """Return a vector rotated by a quaternion."""
    x, y, z, w = q
    vx, vy, vz = vector
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def logarithm(q: Four) -> Three:
    """Return the rotation vector (axis times angle) in [rad], at most pi long."""
    x, y, z, w = q
    sine = np.sqrt(x * x + y * y + z * z)
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    k = np.copysign(angle + 2.0 * TINY, w) / (sine + TINY)
    return x * k, y * k, z * k


def exponential(vector: Three) -> Four:
    """Return the quaternion of a rotation vector in [rad]."""
    x, y, z = vector
    angle = np.sqrt(x * x + y * y + z * z)
    k = (np.sin(0.5 * angle) + 0.5 * TINY) / (angle + TINY)
    return x * k, y * k, z * k, np.cos(0.5 * angle)
