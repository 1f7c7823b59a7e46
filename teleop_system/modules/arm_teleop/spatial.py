# SPDX-License-Identifier: Apache-2.0
"""`utils.poses` and `utils.quaternion_kernels` under their former names."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.poses import (
    IDENTITY,
    ORIGIN,
    PoseTuple,
    angle_between,
    blend,
    compose,
    distance,
    heading_of,
    inverse,
    normalized,
)
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
    "IDENTITY",
    "ORIGIN",
    "Placement",
    "Quaternion",
    "Vector",
    "angle_between",
    "as_placement",
    "blend",
    "compose",
    "conjugate",
    "distance",
    "from_rotation_vector",
    "heading_of",
    "inverse",
    "multiply",
    "normalized",
    "rotate",
    "rotation_vector",
    "scaled_rotation",
]

Placement = PoseTuple


def as_placement(numbers: NDArray[np.float64]) -> PoseTuple:
    """Return the pose of seven numbers: a position and a quaternion."""
    x, y, z, a, b, c, d = numbers.tolist()
    return (x, y, z), (a, b, c, d)
