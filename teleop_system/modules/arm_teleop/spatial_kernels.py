# SPDX-License-Identifier: Apache-2.0
"""The quaternion kernels under their former name."""

from teleop_system.utils.quaternion_kernels import (
    Quaternion,
    Vector,
    conjugate,
    from_rotation_vector,
    multiply,
    rotate,
    rotation_vector,
    scaled_rotation,
)

__all__ = [
    "Quaternion",
    "Vector",
    "conjugate",
    "from_rotation_vector",
    "multiply",
    "rotate",
    "rotation_vector",
    "scaled_rotation",
]
