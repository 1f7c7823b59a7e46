# SPDX-License-Identifier: Apache-2.0
"""From the newest samples of all trackers to the targets of all limbs, in one go.

The numbers of a limb are a row of a table, whose columns the names below point to.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.arm_teleop.limbs.pose_kernels import follow, predict
from teleop_system.modules.arm_teleop.spatial_kernels import (
    conjugate,
    multiply,
    rotate,
    scaled_rotation,
)
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

STAMP = 7
"""Time [s] of the newest sample that passed the gate, after its position [m] and quaternion."""
FOLLOWED, AGE = 8, 9
"""Time at which the sample that is followed was measured, and how long ago that is [s]."""
TARGET = 10
"""Position [m] and quaternion xyzw to aim for."""
FILTER, TERMS = 17, 43
"""State and terms of the filter; see `pose_kernels`."""
MAPPING = 54
"""What `mapped` goes by: the tracker's position and quaternion from which motion counts; the end
effector's position; a factor of all its orientations; sine and cosine of half the heading, and of
all of it times the scale; the scale of ways, and of turns."""
REACH, CARRIER = 74, 84
"""What `limited` goes by: corners of the workspace, centre and radius of the sphere [m]; and the
row of what carries the sphere, or -1."""
EXCESS = 85
"""How far the last target was outside the workspace, and from the centre of the sphere if that was
too far [m], else zero."""
FOLLOWS = 87
"""One where `follow_all` moves the limb, zero where it leaves it alone."""
SIZE = 88
"""Columns of the table."""

UNSURE, FRESH, WAITING = 0, 1, 2
"""A sample that takes a closer look; a new one that may be acted upon; the last one again."""
FREE, LIMITED = 1, 2
"""What `follow_all` has done: moved all targets, and whether any of them is at a limit."""


@kernel("i8(f8[::1], f8[::1], f8[::1], f8)")
def glance(row: Array, sample: Array, limits: Array, now: float) -> int:
    """Tell at a glance what to make of a sample.

    Args:
        row: The limb.
        sample: Position [m], quaternion xyzw and time stamp [s], shape (8,).
        limits: How far stamps may be ahead and behind [s], the square of the way [m^2] and the
            cosine of half the turn from the last sample that need no closer look, and the largest
            coordinate [m], shape (5,).
        now: Time of the tick in [s].
    """
    stamp, last = sample[STAMP], row[STAMP]
    if not (last <= stamp <= now + limits[0] and now - stamp <= limits[1]):
        return UNSURE
    a, b, c, d = sample[3], sample[4], sample[5], sample[6]
    squared = a * a + b * b + c * c + d * d
    if not 0.999 < squared < 1.001:
        return UNSURE
    k = 1.0 / math.sqrt(squared)
    dx, dy, dz = sample[0] - row[0], sample[1] - row[1], sample[2] - row[2]
    way = dx * dx + dy * dy + dz * dz
    if stamp == last:
        is_same = a * k == row[3] and b * k == row[4] and c * k == row[5] and d * k == row[6]
        return WAITING if way == 0.0 and is_same else UNSURE
    alike = abs(a * row[3] + b * row[4] + c * row[5] + d * row[6]) * k
    farthest = max(abs(sample[0]), abs(sample[1]), abs(sample[2]))
    is_near = way <= limits[2] and farthest < limits[4]
    return FRESH if is_near and alike >= limits[3] else UNSURE


@kernel("Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))(f8[::1], UniTuple(f8, 3), UniTuple(f8, 4))")
def mapped(terms: Array, position: Vector, turn: Quaternion) -> tuple[Vector, Quaternion]:
    """Return where the end effector should be for a pose of the tracker; see `LimbMapping`."""
    q = turn
    if terms[19] != 1.0:
        anchor = (terms[3], terms[4], terms[5], terms[6])
        q = scaled_rotation(multiply(turn, conjugate(anchor)), terms[19])
    s, c, sine, cosine, scale = terms[14], terms[15], terms[16], terms[17], terms[18]
    x, y, z, w = q
    seen = (c * x + s * y, c * y - s * x, c * z - s * w, c * w + s * z)
    dx, dy, dz = position[0] - terms[0], position[1] - terms[1], position[2] - terms[2]
    return (
        (
            terms[7] + cosine * dx + sine * dy,
            terms[8] + cosine * dy - sine * dx,
            terms[9] + scale * dz,
        ),
        multiply(seen, (terms[10], terms[11], terms[12], terms[13])),
    )


@kernel(
    "Tuple((UniTuple(f8, 3), f8, f8))"
    "(f8[::1], Tuple((UniTuple(f8, 3), UniTuple(f8, 4))), UniTuple(f8, 3))",
)
def limited(
    terms: Array, carrier: tuple[Vector, Quaternion], position: Vector
) -> tuple[Vector, float, float]:
    """Return the nearest position within the limits; see `ReachLimit`.

    Args:
        terms: Workspace and sphere, shape (10,).
        carrier: Where what carries the sphere should be.
        position: The position wished for [m].

    Returns:
        The position, how far the wish is outside the workspace, and how far from the centre of the
        sphere if that is too far [m], else zero.
    """
    x = min(max(position[0], terms[0]), terms[3])
    y = min(max(position[1], terms[1]), terms[4])
    z = min(max(position[2], terms[2]), terms[5])
    dx, dy, dz = position[0] - x, position[1] - y, position[2] - z
    outside = math.sqrt(dx * dx + dy * dy + dz * dz)
    cx, cy, cz = rotate(carrier[1], (terms[6], terms[7], terms[8]))
    cx, cy, cz = carrier[0][0] + cx, carrier[0][1] + cy, carrier[0][2] + cz
    dx, dy, dz = x - cx, y - cy, z - cz
    away = math.sqrt(dx * dx + dy * dy + dz * dz)
    if away <= terms[9]:
        return (x, y, z), outside, 0.0
    k = terms[9] / away
    return (cx + k * dx, cy + k * dy, cz + k * dz), outside, away


@kernel("i8(f8[:, ::1], f8[:, ::1], f8[::1], f8)")
def follow_all(table: Array, samples: Array, limits: Array, now: float) -> int:
    """Move the targets of the limbs that follow on, unless a sample takes a closer look.

    Args:
        table: The limbs, shape (L, SIZE); those that carry others come before them. Left as it
            is where a sample takes a closer look.
        samples: The newest sample of each as of `glance`, shape (L, 8).
        limits: As of `glance`.
        now: Time of the tick in [s].

    Returns:
        UNSURE where a sample takes a closer look, else FREE or LIMITED.
    """
    for n in range(table.shape[0]):
        if table[n, FOLLOWS] != 0.0 and glance(table[n], samples[n], limits, now) == UNSURE:
            return UNSURE
    done = FREE
    for n in range(table.shape[0]):
        if table[n, FOLLOWS] == 0.0:
            continue
        row, sample = table[n], samples[n]
        stamp, last = sample[STAMP], row[FOLLOWED]
        state, terms = row[FILTER:TERMS], row[TERMS:MAPPING]
        if sample[STAMP] == row[STAMP]:
            row[AGE] = now - last
            position, turn = predict(state, terms, row[AGE])
        else:
            a, b, c, d = sample[3], sample[4], sample[5], sample[6]
            k = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
            row[0], row[1], row[2] = sample[0], sample[1], sample[2]
            row[3], row[4], row[5], row[6] = a * k, b * k, c * k, d * k
            row[STAMP], row[FOLLOWED], row[AGE] = stamp, stamp, now - stamp
            place, orientation = (row[0], row[1], row[2]), (row[3], row[4], row[5], row[6])
            position, turn = follow(state, terms, place, orientation, stamp - last, row[AGE])
        position, turn = mapped(row[MAPPING:REACH], position, turn)
        carrier = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
        if row[CARRIER] >= 0.0:
            t = table[int(row[CARRIER]), TARGET:]
            carrier = ((t[0], t[1], t[2]), (t[3], t[4], t[5], t[6]))
        position, row[EXCESS], row[EXCESS + 1] = limited(row[REACH:CARRIER], carrier, position)
        if row[EXCESS] != 0.0 or row[EXCESS + 1] != 0.0:
            done = LIMITED
        row[TARGET], row[TARGET + 1], row[TARGET + 2] = position
        row[TARGET + 3], row[TARGET + 4], row[TARGET + 5], row[TARGET + 6] = turn
    return done
