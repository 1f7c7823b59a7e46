# SPDX-License-Identifier: Apache-2.0
"""Joint limits of the left and the right DG-5F."""

import numpy as np

from teleop_system.modules.hand_teleop.dg5f import CURL_LOWER, LOWER, MIRROR, UPPER, Array


def joint_limits(side: str, *, curl_only: bool = True) -> tuple[Array, Array]:
    """Return lower and upper limits [rad], each of shape (20,)."""
    lower = CURL_LOWER if curl_only else LOWER
    if side == "right":
        return lower.copy(), UPPER.copy()
    first, second = MIRROR * lower, MIRROR * UPPER
    return np.minimum(first, second), np.maximum(first, second)
