# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the one-euro filters."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import (
    Quaternion,
    Vector,
    conjugate,
    multiply,
    rotation_vector,
    scaled_rotation,
)

Array = NDArray[np.float64]

SMOOTHED = np.dtype(
    [("measured", np.float64), ("velocity", np.float64), ("value", np.float64)], align=True
)
"""A filtered number: its newest measurement, its estimated velocity, and the output."""


class SmoothedRotation(NamedTuple):
    """A filtered rotation.

    Attributes:
        value: The output, of unit length.
        velocity: Estimated angular velocity [rad/s].
    """

    value: Quaternion
    velocity: Vector


@kernel("f8(f8, f8)")
def low_pass_weight(cutoff: float, dt: float) -> float:
    """Return the weight of a new input of a low-pass `dt` [s] after the last."""
    return -math.expm1(-2.0 * math.pi * cutoff * dt)


@kernel("void(SMOOTHED[::1], f8[::1], f8, f8, f8, f8)")
def smooth(
    signals: NDArray[np.void],
    measured: Array,
    min_cutoff: float,
    beta: float,
    derivative_cutoff: float,
    dt: float,
) -> None:
    """Update filtered numbers with measurements `dt` [s] after the last ones.

    Args:
        signals: The filtered numbers, shape (N,); updated.
        measured: The new measurements, shape (N,).
        min_cutoff: Cutoff at rest [Hz].
        beta: Rise of the cutoff per unit of speed.
        derivative_cutoff: Cutoff of the velocity [Hz].
        dt: Time between the two [s].
    """
    weight = low_pass_weight(derivative_cutoff, dt)
    for n in range(signals.size):
        signal = signals[n]
        velocity = (measured[n] - signal["measured"]) / dt
        signal["velocity"] += weight * (velocity - signal["velocity"])
        cutoff = min_cutoff + beta * abs(signal["velocity"])
        signal["value"] += low_pass_weight(cutoff, dt) * (measured[n] - signal["value"])
        signal["measured"] = measured[n]


@kernel("(UniTuple(f8, 4), UniTuple(f8, 3), UniTuple(f8, 4), UniTuple(f8, 4), f8, f8, f8, f8)")
def smooth_rotation(
    value: Quaternion,
    velocity: Vector,
    last: Quaternion,
    measured: Quaternion,
    min_cutoff: float,
    beta: float,
    derivative_cutoff: float,
    dt: float,
) -> SmoothedRotation:
    """Return a filtered rotation after one measured `dt` [s] after the last.

    Args:
        value: The last output.
        velocity: The last estimate of its angular velocity [rad/s].
        last: The last measurement.
        measured: The new measurement.
        min_cutoff: Cutoff at rest [Hz].
        beta: Rise of the cutoff with angular velocity [1/rad].
        derivative_cutoff: Cutoff of the angular velocity [Hz].
        dt: Time between the two [s].
    """
    rx, ry, rz = rotation_vector(multiply(conjugate(last), measured))
    weight = low_pass_weight(derivative_cutoff, dt)
    wx, wy, wz = velocity
    wx, wy, wz = (
        wx + weight * (rx / dt - wx),
        wy + weight * (ry / dt - wy),
        wz + weight * (rz / dt - wz),
    )
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    weight = low_pass_weight(min_cutoff + beta * speed, dt)
    step = scaled_rotation(multiply(conjugate(value), measured), weight)
    x, y, z, w = multiply(value, step)
    # Normalised again, because rounding adds up over hours.
    k = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return SmoothedRotation((x * k, y * k, z * k, w * k), (wx, wy, wz))
