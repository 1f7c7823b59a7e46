# SPDX-License-Identifier: Apache-2.0
"""Rotations about the vertical axis: of a tracker, and of a pair of feet."""

import math

from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import Quaternion, conjugate, multiply, rotate

SMALLEST_TWIST = 0.2
"""Length of a quaternion's twist part below which yaw is undefined."""


@kernel("f8(UniTuple(f8, 4), UniTuple(f8, 4))")
def yaw_between(reference: Quaternion, orientation: Quaternion) -> float:
    """Return the rotation about the vertical between two orientations, in [-pi, pi] [rad].

    The twist does not depend on how the tracker is mounted, nor on the pitch of a rolling foot.
    NaN if the body is nearly upside down, where yaw is undefined.
    """
    _, _, z, w = multiply(orientation, conjugate(reference))
    if math.hypot(z, w) < SMALLEST_TWIST:
        return math.nan
    # The quaternions q and -q are the same rotation.
    return 2.0 * (math.atan2(z, w) if w >= 0.0 else math.atan2(-z, -w))


@kernel("f8(UniTuple(f8, 4), UniTuple(f8, 4))")
def heading_of_feet(left: Quaternion, right: Quaternion) -> float:
    """Return the mean direction of the trackers' x axes in the horizontal plane in [rad]."""
    lx, ly, _ = rotate(left, (1.0, 0.0, 0.0))
    rx, ry, _ = rotate(right, (1.0, 0.0, 0.0))
    return math.atan2(ly + ry, lx + rx)
