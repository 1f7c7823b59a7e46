# SPDX-License-Identifier: Apache-2.0
"""How the robot's joints compare with where they were sent."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

NEAR, BEHIND, IMPLAUSIBLE = 0, 1, 2
"""Joints that are about where they were sent, that fall behind, or that cannot be there."""
KEEPING_UP = 5.0
"""Ticks by which joints may be behind and still keep up, for commands and states take time."""
GIVING_WAY = 0.2
"""Part of what joints are behind beyond that by which the solver gives way in a tick."""


@kernel(
    "i8(Array(f8, 1, 'C', readonly=True), Array(f8, 1, 'C', readonly=True),"
    " Array(f8, 1, 'C', readonly=True), f8[:, ::1], f8, f8[::1])",
)
def compare(
    joints: Array, sent: Array, before: Array, ranges: Array, slack: float, way: Array
) -> int:
    """Compare joints with where they were sent, and write how far to give way to them.

    Args:
        joints: Where they are [rad], shape (N,).
        sent: Where they were sent in the last tick [rad], shape (N,).
        before: Where they were sent in the tick before that [rad], shape (N,).
        ranges: Least and greatest positions that joints can be at [rad], shape (2, N).
        slack: Difference [rad] past which joints may have fallen behind.
        way: Written: how far to go back towards each joint [rad], shape (N,).

    Returns:
        NEAR, BEHIND or, `way` being of no use then, IMPLAUSIBLE.
    """
    found = NEAR
    for n in range(joints.size):
        # Comparisons are false for what is not a number.
        if not ranges[0, n] <= joints[n] <= ranges[1, n]:
            return IMPLAUSIBLE
        behind = joints[n] - sent[n]
        excess = abs(behind) - (slack + abs(sent[n] - before[n]) * KEEPING_UP)
        way[n] = math.copysign(max(excess, 0.0) * GIVING_WAY, behind)
        if excess > 0.0:
            found = BEHIND
    return found
