# SPDX-License-Identifier: Apache-2.0
"""How joints follow their commands: the arithmetic behind `Wishes`."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.kernels import (
    braked_for,
    braking_of,
    limits_of,
    rest_of,
    stepped,
    write_motion,
)
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

GIVEN, RANGES, WISHES, AIMS = 0, 4, 10, 13
"""Where each kind begins in the table of commands that `pursue` takes."""
COMMANDED = 16
"""Rows of that table."""


@kernel("b1(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def take_wishes(given: Array, ranges: Array, motion: Array, beyond: Array) -> bool:
    """Bring the estimated motion of the commands up to date with new ones.

    Args:
        given: Commanded positions [rad], shares of the new in the estimate and rates [1/s] of
            each joint, shape (3, N); share and rate are zero where there is no new command.
        ranges: Lower and upper limits of positions, largest speeds and accelerations, (4, N).
        motion: The estimate so far, and then the new one, shape (3, N).
        beyond: How far commands were outside their limits [rad], shape (1, N).

    Returns:
        Whether any command was outside its limits.
    """
    is_beyond = False
    for n in range(motion.shape[1]):
        raw, share, rate = given[0, n], given[1, n], given[2, n]
        position = min(max(raw, ranges[0, n]), ranges[1, n])
        beyond[0, n] = raw - position
        is_beyond = is_beyond or raw != position
        speed = min(max((position - motion[0, n]) * rate, -ranges[2, n]), ranges[2, n])
        change = (speed - motion[1, n]) * share
        largest = min(max(change * rate, -ranges[3, n]), ranges[3, n])
        motion[0, n] = position
        motion[1, n] += change
        motion[2, n] += (largest - motion[2, n]) * share
    return is_beyond


@kernel(
    "Tuple((b1, b1, f8))(f8[:, ::1], f8[:, ::1], f8[:, ::1], b1[::1], f8, f8[:, ::1])",
)
def pursue(
    motion: Array,
    limits: Array,
    commanded: Array,
    holding: NDArray[np.bool_],
    step: float,
    out: Array,
) -> tuple[bool, bool, float]:
    """Write the motions after one step in which joints follow their commands, or brake and hold.

    Args:
        motion: Present motions, as of `kernels`, shape (5, N).
        limits: Largest accelerations, jerks and speeds, shape (3, N).
        commanded: All about the commands, shape (16, N). From `GIVEN` on what `take_wishes` takes,
            and how long the commands go on before they brake [s]; from `RANGES` on what it takes,
            and the lowest and highest aims [rad]; from `WISHES` on the estimated motion of the
            commands, brought up to date; from `AIMS` on, written, where the commands would come to
            rest, the same within the allowed range, and how far they were outside their limits
            [rad].
        holding: Whether each joint brakes rather than follows, shape (N,).
        step: Duration of the step in [s].
        out: Written: the motions after it, shape (5, N).

    Returns:
        Whether any command was outside its limits, whether a joint that holds still moves, and
        the sum of the squares of the distances of all that follow from their commands [rad^2].
    """
    given, ranges = commanded[GIVEN:RANGES], commanded[RANGES:WISHES]
    wishes, aims = commanded[WISHES:AIMS], commanded[AIMS:]
    is_beyond = take_wishes(given, ranges, wishes, aims[2:])
    is_moving, behind = False, 0.0
    for n in range(holding.size):
        each = limits_of(limits, n)
        p, v, a = wishes[0, n], wishes[1, n], wishes[2, n]
        place = rest_of(p, v, a, each) + v * given[3, n]
        aims[0, n] = place
        aims[1, n] = min(max(place, ranges[4, n]), ranges[5, n])
        start = (motion[0, n], motion[1, n], motion[2, n])
        rest = motion[3, n]
        # What leads nowhere is not pursued.
        if holding[n] or not math.isfinite(place):
            p, v, a = braked_for(start, braking_of(start[1], start[2], each)[0], step, rest)
            is_moving = is_moving or v != 0.0 or a != 0.0
        else:
            p, v, a, rest = stepped(start, rest, aims[1, n], limits[2, n], each, step)
            behind += (wishes[0, n] - p) * (wishes[0, n] - p)
        write_motion(out, n, p, v, a, rest, each)
    return is_beyond, is_moving, behind
