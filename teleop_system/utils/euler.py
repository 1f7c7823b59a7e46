# SPDX-License-Identifier: Apache-2.0
"""Roll, pitch and yaw about fixed axes (sxyz)."""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils._arrays import (
    Array,
    arctan2,
    as_vectors,
    choose,
    component,
    join,
    root,
    sine_cosine,
    split,
    split_rotation,
)
from teleop_system.utils.quaternion_formulas import Component

GIMBAL_TOLERANCE = 1e-12
"""Distance from a pitch of +-pi/2 in [rad] within which roll and yaw become one angle."""


def quat_to_euler(q: ArrayLike, axes: str = "sxyz") -> Array:
    """Return roll, pitch and yaw in [rad], shape (..., 3), about the fixed axes x, y, then z.

    Roll and yaw are in (-pi, pi], pitch in [-pi/2, pi/2]. At a pitch of +-pi/2 only
    the sum or the difference of roll and yaw is defined, and yaw is returned as 0.

    Raises:
        InvalidPoseError: If `axes` is not "sxyz".
    """
    _require_sxyz(axes)
    x, y, z, w, squared = split_rotation(q)
    # (w + y, z - x) and (w - y, z + x) hold half the difference and half the sum of yaw and
    # roll as directions, and pitch as the ratio of their lengths: no arc sine, no lost digits.
    upper = root((w + y) * (w + y) + (z - x) * (z - x))
    lower = root((w - y) * (w - y) + (z + x) * (z + x))
    difference, total = arctan2(z - x, w + y), arctan2(z + x, w - y)
    noise = GIMBAL_TOLERANCE * root(squared)
    total = choose(lower < noise, -difference, total)
    difference = choose(upper < noise, -total, difference)
    pitch = 2.0 * arctan2(upper, lower) - 0.5 * math.pi
    return join(_wrap(total - difference), pitch, _wrap(total + difference))


def euler_to_quat(*angles: ArrayLike, axes: str = "sxyz") -> Array:
    """Return the unit quaternion of roll, pitch and yaw about the fixed axes x, y, then z.

    Args:
        angles: Either one array (..., 3), or roll, pitch and yaw that broadcast, in [rad].
        axes: The convention; "sxyz" is the only one.
    """
    _require_sxyz(axes)
    if len(angles) == 1:
        roll, pitch, yaw = split(as_vectors(angles[0], 3, "Euler angles"))
    elif len(angles) == 3:
        roll, pitch, yaw = (component(angle) for angle in angles)
    else:
        raise InvalidPoseError(
            f"Euler angles are one array (..., 3) or roll, pitch, yaw; got {len(angles)} values"
        )
    (sr, cr), (sp, cp), (sy, cy) = (sine_cosine(0.5 * angle) for angle in (roll, pitch, yaw))
    return join(
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
        cy * cp * cr + sy * sp * sr,
    )


def _wrap(angle: Component) -> Component:
    """Return an angle in [rad] wrapped to (-pi, pi]; one already inside is not changed."""
    if isinstance(angle, float) and -math.pi < angle <= math.pi:
        return angle
    return angle - 2.0 * math.pi * np.ceil((angle - math.pi) / (2.0 * math.pi))


def _require_sxyz(axes: str) -> None:
    if axes != "sxyz":
        raise InvalidPoseError(f"axes must be 'sxyz', got {axes!r}")
