# SPDX-License-Identifier: Apache-2.0
"""The arithmetic behind the one-euro filters, for numbers, vectors and rotations."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Rotation = tuple[float, float, float, float]


@kernel("f8(f8, f8)")
def share_of(cutoff: float, dt: float) -> float:
    """Return the part of the way to its input that a low-pass goes in `dt` [s]."""
    return -math.expm1(-2.0 * math.pi * cutoff * dt)


@kernel("void(f8[:, ::1], f8[::1], f8, f8, f8, f8)")
def smooth(
    state: Array, raw: Array, dt: float, min_cutoff: float, beta: float, derivative_cutoff: float
) -> None:
    """Bring value, last input and derivative, rows of `state`, shape (3, N), up to date."""
    slow = share_of(derivative_cutoff, dt)
    for n in range(raw.size):
        state[2, n] += slow * ((raw[n] - state[1, n]) / dt - state[2, n])
        share = share_of(min_cutoff + beta * abs(state[2, n]), dt)
        state[0, n] += share * (raw[n] - state[0, n])
        state[1, n] = raw[n]


@kernel("Tuple((f8, f8))(f8, f8, f8, f8, f8, f8, f8, f8)")
def smooth_number(
    value: float,
    last: float,
    derivative: float,
    raw: float,
    dt: float,
    min_cutoff: float,
    beta: float,
    derivative_cutoff: float,
) -> tuple[float, float]:
    """Return the smoothed value and the derivative of a single number."""
    derivative += share_of(derivative_cutoff, dt) * ((raw - last) / dt - derivative)
    share = share_of(min_cutoff + beta * abs(derivative), dt)
    return value + share * (raw - value), derivative


@kernel("Tuple((f8, f8, f8))(f8[::1], f8, f8, f8, f8)")
def turn_from(
    quaternion: Array, x: float, y: float, z: float, w: float
) -> tuple[float, float, float]:
    """Return the rotation vector [rad] that leads from a unit quaternion to another."""
    a, b, c, d = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    i = d * x - a * w - b * z + c * y
    j = d * y + a * z - b * w - c * x
    k = d * z - a * y + b * x - c * w
    r = d * w + a * x + b * y + c * z
    if r < 0.0:  # The shorter way round.
        i, j, k, r = -i, -j, -k, -r
    sine = math.sqrt(i * i + j * j + k * k)
    scale = 2.0 * math.atan2(sine, r) / sine if sine > 1e-12 else 2.0
    return scale * i, scale * j, scale * k


@kernel("void(f8[:, ::1], f8[::1], f8, f8, f8, f8)")
def smooth_rotation(
    state: Array, raw: Array, dt: float, min_cutoff: float, beta: float, derivative_cutoff: float
) -> None:
    """Bring value, last input (unit quaternions) and turning speed, rows (3, 4), up to date.

    Args:
        state: Value and last input, unit quaternions xyzw; turning speed [rad/s] and a zero.
        raw: New input, a unit quaternion.
        dt: Time since the last one in [s].
        min_cutoff: Cutoff at rest in [Hz].
        beta: Rise of the cutoff with turning speed in [1/rad].
        derivative_cutoff: Cutoff of the turning speed in [Hz].
    """
    x, y, z, w = raw[0], raw[1], raw[2], raw[3]
    slow = share_of(derivative_cutoff, dt)
    turned = turn_from(state[1], x, y, z, w)
    square = 0.0
    for axis in range(3):
        state[2, axis] += slow * (turned[axis] / dt - state[2, axis])
        square += state[2, axis] ** 2
    share = share_of(min_cutoff + beta * math.sqrt(square), dt)
    # Along the arc: the present value, turned by a part of the way to the new one.
    way = turn_from(state[0], x, y, z, w)
    angle = math.sqrt(way[0] ** 2 + way[1] ** 2 + way[2] ** 2)
    half = 0.5 * share * angle
    scale = math.sin(half) / angle if angle > 1e-12 else 0.5 * share
    i, j, k, r = scale * way[0], scale * way[1], scale * way[2], math.cos(half)
    a, b, c, d = state[0, 0], state[0, 1], state[0, 2], state[0, 3]
    p = d * i + a * r + b * k - c * j
    q = d * j - a * k + b * r + c * i
    s = d * k + a * j - b * i + c * r
    t = d * r - a * i - b * j - c * k
    # Normalised again, for rounding adds up over hours.
    length = math.sqrt(p * p + q * q + s * s + t * t)
    state[0, 0], state[0, 1], state[0, 2], state[0, 3] = (
        p / length,
        q / length,
        s / length,
        t / length,
    )
    for number in range(4):
        state[1, number] = raw[number]
