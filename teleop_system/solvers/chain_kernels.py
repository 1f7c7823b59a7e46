# SPDX-License-Identifier: Apache-2.0
"""What chains ask for in a tick, and how far they are from their targets; see `ChainTask`.

The numbers of a chain are a row of a table, whose columns the names below point to.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Vector = tuple[float, float, float]

PLACE, TARGET = 0, 7
"""Position [m] and quaternion xyzw of the frame, and of the target."""
STEP, DAMPING, SHARE = 14, 20, 21
"""The step asked for, linear [m] and angular [rad]; its damping; the part of the weights."""
BIAS, MOTION, RESIDUAL, AWAY = 22, 28, 34, 40
"""What every tick leaves over, the target's own motion, the error left, and its two lengths."""
BRAKE, JUMP, FASTEST, WEIGHT = 42, 44, 46, 48
"""For linear and angular motion each: planned deceleration, largest change of the target's motion
that is followed, and largest step in a tick; and the weight, squared."""
SIZE = 50
"""Columns of the table."""

FULL_DISTANCE, FULL_ANGLE = 0.1, 0.5
"""Errors [m], [rad] up to which a chain has all of its weight."""
LEAST_SAY = 1e-3
"""Part of its weights, squared, that a chain always has."""
TAKEN, MISSHAPEN = -1, -2
"""What becomes of targets: all are taken, or they are not one row for each chain."""
UNIT_TOLERANCE = 1e-3
"""How far the length of a target's quaternion may be from 1 before it is refused."""
FARTHEST = 1e6
"""Coordinates of a target beyond this [m] are taken as this, lest their squares overflow."""
LEVER = 0.5
"""Distance from a joint to the frame it moves that damping reckons with in [m]."""
CURVED = 0.02**2
"""Square of the part of a target's motion that a tick may leave over because it is curved."""


@kernel("void(f8[:, ::1], f8[:, ::1])")
def observe(table: Array, frames: Array) -> None:
    """Take in where the frames are.

    Args:
        table: The chains, shape (C, SIZE).
        frames: Rotation, row by row, and position of every chain's frame, shape (C, 12).
    """
    for chain in range(table.shape[0]):
        row, r = table[chain], frames[chain]
        row[0], row[1], row[2] = r[9], r[10], r[11]
        trace = r[0] + r[4] + r[8]
        if trace > 0.0:
            s = math.sqrt(trace + 1.0)
            k = 0.5 / s
            x, y, z, w = (r[7] - r[5]) * k, (r[2] - r[6]) * k, (r[3] - r[1]) * k, 0.5 * s
        elif r[0] >= r[4] and r[0] >= r[8]:
            s = math.sqrt(1.0 + r[0] - r[4] - r[8])
            k = 0.5 / s
            x, y, z, w = 0.5 * s, (r[1] + r[3]) * k, (r[2] + r[6]) * k, (r[7] - r[5]) * k
        elif r[4] >= r[8]:
            s = math.sqrt(1.0 + r[4] - r[0] - r[8])
            k = 0.5 / s
            x, y, z, w = (r[1] + r[3]) * k, 0.5 * s, (r[5] + r[7]) * k, (r[2] - r[6]) * k
        else:
            s = math.sqrt(1.0 + r[8] - r[0] - r[4])
            k = 0.5 / s
            x, y, z, w = (r[2] + r[6]) * k, (r[5] + r[7]) * k, 0.5 * s, (r[3] - r[1]) * k
        row[3], row[4], row[5], row[6] = x, y, z, w


@kernel("void(f8[::1], f8[::1], f8[::1])")
def write_twist(place: Array, target: Array, out: Array) -> None:
    """Write the way from a pose to another: translation and rotation vector, world axes."""
    bx, by, bz, bw = place[3], place[4], place[5], place[6]
    ax, ay, az, aw = target[3], target[4], target[5], target[6]
    # The rotation from the one to the other in world axes: second times inverse first.
    x = ax * bw - aw * bx - ay * bz + az * by
    y = ay * bw - aw * by + ax * bz - az * bx
    z = az * bw - aw * bz - ax * by + ay * bx
    w = aw * bw + ax * bx + ay * by + az * bz
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-9:
        k = 2.0 if w > 0.0 else -2.0
    elif w > 0.0:
        k = 2.0 * math.atan2(sine, w) / sine
    else:
        k = 2.0 * math.atan2(-sine, -w) / sine
    out[0], out[1], out[2] = target[0] - place[0], target[1] - place[1], target[2] - place[2]
    out[3], out[4], out[5] = x * k, y * k, z * k


@kernel("void(f8[:, ::1])")
def measure(table: Array) -> None:
    """Write the error that is left of every chain, and its lengths [m], [rad]."""
    for chain in range(table.shape[0]):
        row = table[chain]
        e = row[RESIDUAL : RESIDUAL + 6]
        write_twist(row[PLACE:TARGET], row[TARGET:STEP], e)
        row[AWAY] = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        row[AWAY + 1] = math.sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5])


@kernel("void(f8[:, ::1], f8[:, ::1])")
def locate(table: Array, frames: Array) -> None:
    """Do both: take in where the frames are, and write the errors that are left."""
    observe(table, frames)
    measure(table)


@kernel("void(f8[::1], f8[::1], f8)")
def approach(old: Array, new: Array, limit: float) -> None:
    """Bring a vector of three to another one, or `limit` nearer where that is further."""
    dx, dy, dz = new[0] - old[0], new[1] - old[1], new[2] - old[2]
    change = math.sqrt(dx * dx + dy * dy + dz * dz)
    k = limit / change if change > limit else 1.0
    if k == 1.0:
        old[0], old[1], old[2] = new[0], new[1], new[2]
    else:
        old[0], old[1], old[2] = old[0] + dx * k, old[1] + dy * k, old[2] + dz * k


@kernel("Tuple((f8, f8))(f8[::1], f8, f8)")
def shorten(way: Array, brake: float, fastest: float) -> tuple[float, float]:
    """Shorten a way to the step that closes it in time; return both lengths, the step's first."""
    left = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    if left < 1e-12:
        return left, left
    close = min(math.sqrt(brake * (brake + 2.0 * left)) - brake, fastest)
    k = close / left
    way[0], way[1], way[2] = way[0] * k, way[1] * k, way[2] * k
    return close, left


@kernel("f8(f8[::1], i8)")
def squared(row: Array, first: int) -> float:
    """Return the squared length of three numbers."""
    square: float = row[first] ** 2 + row[first + 1] ** 2 + row[first + 2] ** 2
    return square


@kernel("i8(f8[:, ::1], Array(f8, 2, 'C', readonly=True), i8[::1])")
def aim(table: Array, targets: Array, chains: NDArray[np.int64]) -> int:
    """Take new targets.

    Args:
        table: The chains, shape (C, SIZE).
        targets: Positions [m] and quaternions xyzw, shape (K, 7).
        chains: Whose they are, shape (K,).

    Returns:
        TAKEN, MISSHAPEN, or which of them is none.
    """
    if targets.shape[0] != chains.size or targets.shape[1] != STEP - TARGET:
        return MISSHAPEN
    for n in range(chains.size):
        x, y, z = targets[n, 0], targets[n, 1], targets[n, 2]
        a, b, c, d = targets[n, 3], targets[n, 4], targets[n, 5], targets[n, 6]
        squared = a * a + b * b + c * c + d * d
        is_unit = 1.0 - 2.0 * UNIT_TOLERANCE < squared < 1.0 + 2.0 * UNIT_TOLERANCE
        is_place = math.isfinite(x) and math.isfinite(y) and math.isfinite(z)
        if not (is_unit and is_place):
            return n
        k = 1.0 / math.sqrt(squared)
        row = table[chains[n]]
        row[TARGET] = max(-FARTHEST, min(FARTHEST, x))
        row[TARGET + 1] = max(-FARTHEST, min(FARTHEST, y))
        row[TARGET + 2] = max(-FARTHEST, min(FARTHEST, z))
        row[TARGET + 3], row[TARGET + 4] = a * k, b * k
        row[TARGET + 5], row[TARGET + 6] = c * k, d * k
    return TAKEN


@kernel("void(f8[:, ::1], f8[::1])")
def plan(table: Array, work: Array) -> None:
    """Write the step, damping and share of every chain.

    Args:
        table: The chains, shape (C, SIZE).
        work: Memory for the error, the target's motion, and the way left, shape (18,).
    """
    error, moved, left = work[:6], work[6:12], work[12:18]
    for chain in range(table.shape[0]):
        row = table[chain]
        write_twist(row[PLACE:TARGET], row[TARGET:STEP], error)
        for n in range(6):
            moved[n] = error[n] - row[RESIDUAL + n]
            left[n] = error[n] - row[STEP + n]
        if squared(left, 0) < row[BRAKE] ** 2 and squared(left, 3) < row[BRAKE + 1] ** 2:
            # Going on as before closes the whole error: nothing is left to be shortened. What
            # every tick leaves over is asked for besides, as motions are not straight like steps.
            is_curved = squared(row, RESIDUAL) < CURVED * squared(moved, 0) and (
                squared(row, RESIDUAL + 3) < CURVED * squared(moved, 3)
            )
            for n in range(6):
                row[BIAS + n] = row[BIAS + n] + row[RESIDUAL + n] if is_curved else 0.0
                row[STEP + n] = error[n] + row[BIAS + n]
                row[MOTION + n] = moved[n]
            row[DAMPING], row[SHARE] = 0.0, 1.0
            continue
        approach(row[MOTION : MOTION + 3], moved[:3], row[JUMP])
        approach(row[MOTION + 3 : MOTION + 6], moved[3:], row[JUMP + 1])
        for n in range(6):
            row[BIAS + n] = 0.0
            left[n] = error[n] - row[MOTION + n]
        close, far = shorten(left[:3], row[BRAKE], row[FASTEST])
        turn, turned = shorten(left[3:], row[BRAKE + 1], row[FASTEST + 1])
        for n in range(6):
            row[STEP + n] = row[MOTION + n] + left[n]
        share = max(LEAST_SAY, 1.0 / max(1.0, far / FULL_DISTANCE, turned / FULL_ANGLE))
        row[SHARE] = share
        row[DAMPING] = share * (row[WEIGHT] * close * LEVER + row[WEIGHT + 1] * turn)
