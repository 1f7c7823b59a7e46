# SPDX-License-Identifier: Apache-2.0
"""Rotations as plain floats, for kernels and for `utils.poses`.

Quaternions are xyzw and of unit length.
"""

from collections.abc import Callable

from teleop_system.utils import quaternion_formulas as formulas
from teleop_system.utils.compiled import kernel

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

multiply: Callable[[Quaternion, Quaternion], Quaternion] = kernel(
    "UniTuple(f8, 4)(UniTuple(f8, 4), UniTuple(f8, 4))"
)(formulas.product)
"""Returns the rotation that applies `b` first, then `a`."""

rotate: Callable[[Quaternion, Vector], Vector] = kernel(
    "UniTuple(f8, 3)(UniTuple(f8, 4), UniTuple(f8, 3))"
)(formulas.rotated)
"""Returns a vector rotated by a quaternion."""

rotation_vector: Callable[[Quaternion], Vector] = kernel("UniTuple(f8, 3)(UniTuple(f8, 4))")(
    formulas.logarithm
)
"""Returns axis times angle [rad], at most pi long."""

from_rotation_vector: Callable[[Vector], Quaternion] = kernel("UniTuple(f8, 4)(UniTuple(f8, 3))")(
    formulas.exponential
)
"""Returns the quaternion of axis times angle [rad]."""


@kernel("UniTuple(f8, 4)(UniTuple(f8, 4))")
def conjugate(q: Quaternion) -> Quaternion:
    """Return the inverse of a unit quaternion."""
    return -q[0], -q[1], -q[2], q[3]


@kernel("UniTuple(f8, 4)(UniTuple(f8, 4), f8)")
def scaled_rotation(q: Quaternion, scale: float) -> Quaternion:
    """Return a rotation about the same axis by `scale` times the angle."""
    x, y, z = rotation_vector(q)
    return from_rotation_vector((x * scale, y * scale, z * scale))
