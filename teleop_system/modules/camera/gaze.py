# SPDX-License-Identifier: Apache-2.0
"""Direction of a gaze: yaw and nod of a head's x axis, also straight up and down."""

import math

from teleop_system.utils.poses import heading_of
from teleop_system.utils.quaternion_kernels import Quaternion, rotate

STEEP = 0.17
"""Horizontal length of the gaze below which yaw comes from the twist of the head alone."""
LEVEL = 0.5
"""Horizontal length of the gaze above which yaw comes from the gaze alone."""


def gaze_angles(orientation: Quaternion) -> tuple[float, float]:
    """Return yaw in (-pi, pi], left positive, and nod in (-pi, pi], down positive, in [rad].

    Roll has no effect while the gaze is less than 60 degrees from horizontal. Beyond that, the
    twist of the head about the vertical gradually replaces the direction of the gaze; without
    roll both agree, and only the twist is defined straight down. A head bent further than a right
    angle keeps nodding and does not turn around.

    Args:
        orientation: Unit quaternion of the head in ROS axes.
    """
    ahead, left, up = rotate(orientation, (1.0, 0.0, 0.0))
    twist = heading_of(orientation)
    twist_ahead, twist_left = math.cos(twist), math.sin(twist)
    level = math.hypot(ahead, left)
    share = min(1.0, max(0.0, (level - STEEP) / (LEVEL - STEEP)))
    share *= share * (3.0 - 2.0 * share)
    # Beyond a right angle the gaze points backwards over the shoulders.
    weight = math.copysign(share, ahead * twist_ahead + left * twist_left) / max(level, STEEP)
    x_direction = weight * ahead + (1.0 - share) * twist_ahead
    y_direction = weight * left + (1.0 - share) * twist_left
    length = math.hypot(x_direction, y_direction) or 1.0
    along = (ahead * x_direction + left * y_direction) / length
    return math.atan2(y_direction, x_direction), math.atan2(-up, along)
