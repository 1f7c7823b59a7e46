# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of `PoseFilter`.

A pose is a position [m] and a quaternion xyzw, shape (7,). A twist is a velocity [m/s] and an
angular velocity [rad/s], shape (6,).
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import (
    Quaternion,
    Vector,
    from_rotation_vector,
    multiply,
)

Array = NDArray[np.float64]
Smoothing = tuple[float, float, float, float, float]
"""Cutoff at rest, its rise with speed, cutoff of the speed, all times 2 pi; the share of the
estimated speed that is used, and the speed of which half is used."""


@kernel("void(UniTuple(f8, 5), f8[::1], f8[::1], f8[::1], f8[::1], UniTuple(f8, 3), f8)")
def smooth_position(
    smoothing: Smoothing,
    smoothed: Array,
    twist: Array,
    used_twist: Array,
    last: Array,
    measured: Vector,
    dt: float,
) -> None:
    """Bring the position up to date with one measured `dt` [s] after the last.

    Args:
        smoothing: Parameters.
        smoothed: Smoothed pose; written.
        twist: Estimated twist; written.
        used_twist: The part of it that exceeds the noise; written.
        last: The last measured pose.
        measured: The new position [m].
        dt: Time between the two [s].
    """
    cutoff, slope, speed_cutoff, lead, rest_speed = smoothing
    k = -math.expm1(-speed_cutoff * dt)
    squared = 0.0
    for n in range(3):
        twist[n] += k * ((measured[n] - last[n]) / dt - twist[n])
        squared += twist[n] * twist[n]
    speed = math.sqrt(squared)
    trust = lead * speed / (speed + rest_speed)
    k = -math.expm1(-(cutoff + slope * speed) * dt)
    for n in range(3):
        used_twist[n] = trust * twist[n]
        predicted = smoothed[n] + used_twist[n] * dt
        smoothed[n] = predicted + k * (measured[n] - predicted)


@kernel("void(UniTuple(f8, 5), f8[::1], f8[::1], f8[::1], f8[::1], UniTuple(f8, 4), f8)")
def smooth_orientation(
    smoothing: Smoothing,
    smoothed: Array,
    twist: Array,
    used_twist: Array,
    last: Array,
    measured: Quaternion,
    dt: float,
) -> None:
    """Bring the orientation up to date with one measured `dt` [s] after the last.

    Rotations from sample to sample are small, and so are the steps of the filter. To first order
    a rotation is twice the vector part of its quaternion, and a step goes along the chord.

    Args:
        smoothing: Parameters.
        smoothed: Smoothed pose; written.
        twist: Estimated twist; written.
        used_twist: The part of it that exceeds the noise; written.
        last: The last measured pose.
        measured: The new orientation.
        dt: Time between the two [s].
    """
    cutoff, slope, speed_cutoff, lead, rest_speed = smoothing
    x, y, z, w = measured
    ox, oy, oz, ow = last[3], last[4], last[5], last[6]
    wx, wy, wz = twist[3], twist[4], twist[5]
    rate = 2.0 / dt if ow * w + ox * x + oy * y + oz * z >= 0.0 else -2.0 / dt
    k = -math.expm1(-speed_cutoff * dt)
    rx, ry, rz, _ = multiply(measured, (-ox, -oy, -oz, ow))
    wx, wy, wz = wx + k * (rate * rx - wx), wy + k * (rate * ry - wy), wz + k * (rate * rz - wz)
    twist[3], twist[4], twist[5] = wx, wy, wz
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    trust = lead * speed / (speed + rest_speed)
    wx, wy, wz = trust * wx, trust * wy, trust * wz
    used_twist[3], used_twist[4], used_twist[5] = wx, wy, wz
    half = 0.5 * dt
    wx, wy, wz = half * wx, half * wy, half * wz
    q = (smoothed[3], smoothed[4], smoothed[5], smoothed[6])
    px, py, pz, pw = multiply((wx, wy, wz, 1.0), q)
    k = -math.expm1(-(cutoff + slope * speed) * dt)
    keep, sign = 1.0 - k, k if px * x + py * y + pz * z + pw * w >= 0.0 else -k
    x, y = keep * px + sign * x, keep * py + sign * y
    z, w = keep * pz + sign * z, keep * pw + sign * w
    k = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    smoothed[3], smoothed[4], smoothed[5], smoothed[6] = x * k, y * k, z * k, w * k


@kernel(
    "void(UniTuple(f8, 5), UniTuple(f8, 5), f8[::1], f8[::1], f8[::1], f8[::1],"
    " UniTuple(f8, 3), UniTuple(f8, 4), f8)"
)
def smooth_pose(
    for_position: Smoothing,
    for_orientation: Smoothing,
    smoothed: Array,
    twist: Array,
    used_twist: Array,
    last: Array,
    position: Vector,
    orientation: Quaternion,
    dt: float,
) -> None:
    """Bring the filter up to date with a pose measured `dt` [s] after the last.

    Args:
        for_position: Parameters.
        for_orientation: Parameters.
        smoothed: Smoothed pose; written.
        twist: Estimated twist; written.
        used_twist: The part of it that exceeds the noise; written.
        last: The last measured pose; then the new one.
        position: The new position [m].
        orientation: The new orientation.
        dt: Time between the two [s].
    """
    smooth_position(for_position, smoothed, twist, used_twist, last, position, dt)
    smooth_orientation(for_orientation, smoothed, twist, used_twist, last, orientation, dt)
    last[0], last[1], last[2] = position
    last[3], last[4], last[5], last[6] = orientation


@kernel("Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))(f8[::1], f8[::1], f8)")
def extrapolate(pose: Array, twist: Array, time: float) -> tuple[Vector, Quaternion]:
    """Return the pose after a time [s] at a constant twist."""
    rotation = from_rotation_vector((time * twist[3], time * twist[4], time * twist[5]))
    return (
        (pose[0] + time * twist[0], pose[1] + time * twist[1], pose[2] + time * twist[2]),
        multiply(rotation, (pose[3], pose[4], pose[5], pose[6])),
    )
