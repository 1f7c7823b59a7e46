# SPDX-License-Identifier: Apache-2.0
"""The arithmetic behind `PoseFilter`.

The state of a filter is a vector of 26 numbers: the smoothed position and orientation, the newest
ones as measured, velocity [m/s] and turning speed [rad/s] as estimated, noise and all, and the
same as far as they are believed. Its terms are 11 numbers: for position and rotation the cutoff at
rest, its rise with speed, the cutoff of the speed, all times 2 pi, the part of the speed that is
believed and the speed of which half is; and the time in which motion runs out [s].
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

POSE, RAW, VELOCITY, SPIN, WAY, TURN = 0, 7, 14, 17, 20, 23
"""Where each of them begins in the state."""
SIZE, TERMS = 26, 11
"""Numbers in a state, and in the terms."""


@kernel("void(f8[::1], f8[::1], UniTuple(f8, 3), f8)")
def translate(state: Array, terms: Array, position: Vector, dt: float) -> None:
    """Take in a position [m] measured `dt` [s] after the last."""
    k = -math.expm1(-terms[2] * dt)
    squared = 0.0
    for n in range(3):
        state[VELOCITY + n] += k * ((position[n] - state[RAW + n]) / dt - state[VELOCITY + n])
        squared += state[VELOCITY + n] * state[VELOCITY + n]
        state[RAW + n] = position[n]
    speed = math.sqrt(squared)
    trust = terms[3] * speed / (speed + terms[4])
    k = -math.expm1(-(terms[0] + terms[1] * speed) * dt)
    for n in range(3):
        state[WAY + n] = trust * state[VELOCITY + n]
        ahead = state[POSE + n] + state[WAY + n] * dt
        state[POSE + n] = ahead + k * (position[n] - ahead)


@kernel("void(f8[::1], f8[::1], UniTuple(f8, 4), f8)")
def rotate(state: Array, terms: Array, orientation: Quaternion, dt: float) -> None:
    """Take in an orientation measured `dt` [s] after the last.

    Turns from sample to sample are small, and so are the steps of the filter: to first order a
    turn is twice the vector part, and a step is along the chord.
    """
    x, y, z, w = orientation
    ox, oy, oz, ow = state[10], state[11], state[12], state[13]
    rate = 2.0 / dt if ow * w + ox * x + oy * y + oz * z >= 0.0 else -2.0 / dt
    wx, wy, wz = state[17], state[18], state[19]
    k = -math.expm1(-terms[7] * dt)
    wx += k * (rate * (ow * x - ox * w + oy * z - oz * y) - wx)
    wy += k * (rate * (ow * y - oy * w + oz * x - ox * z) - wy)
    wz += k * (rate * (ow * z - oz * w + ox * y - oy * x) - wz)
    state[10], state[11], state[12], state[13] = x, y, z, w
    state[17], state[18], state[19] = wx, wy, wz
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    trust = terms[8] * speed / (speed + terms[9])
    wx, wy, wz = trust * wx, trust * wy, trust * wz
    state[23], state[24], state[25] = wx, wy, wz
    half = 0.5 * dt
    wx, wy, wz = half * wx, half * wy, half * wz
    qx, qy, qz, qw = state[3], state[4], state[5], state[6]
    px, py, pz, pw = (
        qx + wx * qw + wy * qz - wz * qy,
        qy - wx * qz + wy * qw + wz * qx,
        qz + wx * qy - wy * qx + wz * qw,
        qw - wx * qx - wy * qy - wz * qz,
    )
    k = -math.expm1(-(terms[5] + terms[6] * speed) * dt)
    keep, sign = 1.0 - k, k if px * x + py * y + pz * z + pw * w >= 0.0 else -k
    x, y, z, w = (
        keep * px + sign * x,
        keep * py + sign * y,
        keep * pz + sign * z,
        keep * pw + sign * w,
    )
    k = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    state[3], state[4], state[5], state[6] = x * k, y * k, z * k, w * k


@kernel("Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))(f8[::1], f8[::1], f8)")
def predict(state: Array, terms: Array, age: float) -> tuple[Vector, Quaternion]:
    """Return where the body is `age` [s] after the newest pose, coming to rest by and by."""
    time = -terms[10] * math.expm1(-max(age, 0.0) / terms[10])
    wx, wy, wz = time * state[23], time * state[24], time * state[25]
    angle = math.sqrt(wx * wx + wy * wy + wz * wz)
    k = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    x, y, z, w = wx * k, wy * k, wz * k, math.cos(0.5 * angle)
    qx, qy, qz, qw = state[3], state[4], state[5], state[6]
    return (
        (state[0] + time * state[20], state[1] + time * state[21], state[2] + time * state[22]),
        (
            w * qx + x * qw + y * qz - z * qy,
            w * qy - x * qz + y * qw + z * qx,
            w * qz + x * qy - y * qx + z * qw,
            w * qw - x * qx - y * qy - z * qz,
        ),
    )


@kernel(
    "Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))"
    "(f8[::1], f8[::1], UniTuple(f8, 3), UniTuple(f8, 4), f8, f8)",
)
def follow(
    state: Array, terms: Array, position: Vector, orientation: Quaternion, dt: float, age: float
) -> tuple[Vector, Quaternion]:
    """Take in a pose measured `dt` [s] after the last; return where the body is by now.

    Args:
        state: The filter's state, brought up to date.
        terms: Its terms.
        position: Measured position [m].
        orientation: Measured orientation xyzw, of unit length.
        dt: Time since the last pose in [s]; without any nothing is taken in.
        age: Age of the pose in [s].
    """
    if dt > 0.0:
        translate(state, terms, position, dt)
        rotate(state, terms, orientation, dt)
    return predict(state, terms, age)
