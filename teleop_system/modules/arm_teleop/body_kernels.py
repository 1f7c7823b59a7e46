# SPDX-License-Identifier: Apache-2.0
"""How the robot's joints compare with where they were sent."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

UNKNOWN, NEAR, BEHIND = 0, 1, 2
"""Joints that are not all finite, that are about where they were sent, or that fall behind."""
KEEPING_UP = 5.0
"""Ticks by which joints may be behind and still keep up, for commands and states take time."""
GIVING_WAY = 0.2
"""Part of what joints are behind beyond that by which the solver gives way in a tick."""


@kernel(
    "i8(Array(f8, 1, 'C', readonly=True), Array(f8, 1, 'C', readonly=True),"
    " Array(f8, 1, 'C', readonly=True), f8, f8[::1])",
)
def compare(joints: Array, sent: Array, before: Array, slack: float, way: Array) -> int:
    """Compare joints with where they were sent, and write how far to give way to them.

    Args:
        joints: Where they are [rad], shape (N,).
        sent: Where they were sent in the last tick [rad], shape (N,).
        before: Where they were sent in the tick before that [rad], shape (N,).
        slack: Difference [rad] past which joints may have fallen behind.
        way: Written where they have: how far to go back towards each joint [rad], shape (N,).
    """
    found = NEAR
    for n in range(joints.size):
        if not math.isfinite(joints[n]):
            return UNKNOWN
        behind = joints[n] - sent[n]
        excess = abs(behind) - (slack + abs(sent[n] - before[n]) * KEEPING_UP)
        way[n] = math.copysign(max(excess, 0.0) * GIVING_WAY, behind)
        if excess > 0.0:
            found = BEHIND
    return found
