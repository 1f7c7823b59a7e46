# SPDX-License-Identifier: Apache-2.0
"""Where a head looks: direction and nod of its x axis, also straight up and down."""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.utils._arrays import split_rotation

STEEP = 0.17
"""Length of the gaze's level part below which its direction is taken from the twist alone."""
LEVEL = 0.5
"""Length of the gaze's level part above which its direction is taken from the gaze alone."""


def gaze_angles(orientation: ArrayLike) -> tuple[float, float]:
    """Return yaw in (-pi, pi], left positive, and nod in (-pi, pi], down positive, in [rad].

    Roll does not matter while the gaze is less than 60 degrees from level. Beyond, its direction
    fades out, and the twist of the whole head about the vertical takes over, which is the same
    without roll and well defined straight down, where the gaze has no direction at all. A head
    bent further than that goes on nodding (past a quarter turn) and does not turn about.

    Raises:
        InvalidPoseError: The quaternion stands for no rotation.
    """
    x, y, z, w, squared = split_rotation(np.asarray(orientation))
    k = 1.0 / math.sqrt(squared)
    x, y, z, w = k * x, k * y, k * z, k * w
    ahead = 1.0 - 2.0 * (y * y + z * z)
    left = 2.0 * (x * y + z * w)
    up = 2.0 * (x * z - y * w)
    twist = 2.0 * math.atan2(z, w)
    twist_ahead, twist_left = math.cos(twist), math.sin(twist)
    level = math.hypot(ahead, left)
    share = min(1.0, max(0.0, (level - STEEP) / (LEVEL - STEEP)))
    share *= share * (3.0 - 2.0 * share)
    # Past a quarter turn the gaze points back over the shoulders.
    weight = math.copysign(share, ahead * twist_ahead + left * twist_left) / max(level, STEEP)
    east = weight * ahead + (1.0 - share) * twist_ahead
    north = weight * left + (1.0 - share) * twist_left
    length = math.hypot(east, north) or 1.0
    onward = (ahead * east + left * north) / length
    return math.atan2(north, east), math.atan2(-up, onward)
