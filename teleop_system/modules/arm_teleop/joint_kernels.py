# SPDX-License-Identifier: Apache-2.0
"""Checks of joint vectors that run in every tick."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]


@kernel("i8(Array(f8, 1, 'C', readonly=True), f8[::1], f8[::1])")
def first_outside(values: Array, lowest: Array, highest: Array) -> int:
    """Return the index of the first value that is NaN or outside its range; -1 without one."""
    for n in range(values.size):
        if not lowest[n] <= values[n] <= highest[n]:
            return n
    return -1


@kernel(
    "b1(Array(f8, 1, 'C', readonly=True), Array(f8, 1, 'C', readonly=True),"
    " Array(f8, 1, 'C', readonly=True), f8, f8, f8, f8[::1])"
)
def lag_correction(
    joints: Array,
    commanded: Array,
    before: Array,
    slack: float,
    normal_lag: float,
    correction: float,
    offset: Array,
) -> bool:
    """Compute how far to move the command towards joints that have fallen behind.

    Args:
        joints: Positions of the joints [rad], shape (N,).
        commanded: Their command in the last tick [rad], shape (N,).
        before: Their command in the tick before that [rad], shape (N,).
        slack: Lag of a joint at rest that needs no correction [rad].
        normal_lag: Ticks by which a joint in motion may lag.
        correction: Part of the remaining lag to correct.
        offset: Correction of the command [rad], shape (N,); written.

    Returns:
        Whether any joint needs a correction.
    """
    is_behind = False
    for n in range(joints.size):
        lag = joints[n] - commanded[n]
        excess = abs(lag) - (slack + normal_lag * abs(commanded[n] - before[n]))
        offset[n] = math.copysign(correction * max(excess, 0.0), lag)
        is_behind = is_behind or excess > 0.0
    return is_behind
