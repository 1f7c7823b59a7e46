# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of `PoseFilter`: one step of a one-euro filter that predicts."""

import math

from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import (
    Quaternion,
    Vector,
    from_rotation_vector,
    multiply,
)

Smoothing = tuple[float, float, float, float, float]
"""Cutoff at rest, its rise with speed, cutoff of the speed, all times 2 pi; the share of the
estimated speed that is used, and the speed of which half is."""


@kernel(
    "Tuple((UniTuple(f8, 3), UniTuple(f8, 3), UniTuple(f8, 3)))"
    "(UniTuple(f8, 5), UniTuple(f8, 3), UniTuple(f8, 3), UniTuple(f8, 3), UniTuple(f8, 3), f8)"
)
def smooth_position(
    smoothing: Smoothing,
    smoothed: Vector,
    velocity: Vector,
    last: Vector,
    measured: Vector,
    dt: float,
) -> tuple[Vector, Vector, Vector]:
    """Return the smoothed position, the velocity as estimated, and the part that is used.

    Args:
        smoothing: Parameters.
        smoothed: The smoothed position so far [m].
        velocity: The estimated velocity so far [m/s].
        last: The last measured position [m].
        measured: The new one [m].
        dt: Time between the two [s].
    """
    cutoff, slope, speed_cutoff, lead, rest_speed = smoothing
    x, y, z = measured
    vx, vy, vz = velocity
    k = -math.expm1(-speed_cutoff * dt)
    vx += k * ((x - last[0]) / dt - vx)
    vy += k * ((y - last[1]) / dt - vy)
    vz += k * ((z - last[2]) / dt - vz)
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    trust = lead * speed / (speed + rest_speed)
    ux, uy, uz = trust * vx, trust * vy, trust * vz
    px, py, pz = smoothed[0] + ux * dt, smoothed[1] + uy * dt, smoothed[2] + uz * dt
    k = -math.expm1(-(cutoff + slope * speed) * dt)
    return (px + k * (x - px), py + k * (y - py), pz + k * (z - pz)), (vx, vy, vz), (ux, uy, uz)


@kernel(
    "Tuple((UniTuple(f8, 4), UniTuple(f8, 3), UniTuple(f8, 3)))"
    "(UniTuple(f8, 5), UniTuple(f8, 4), UniTuple(f8, 3), UniTuple(f8, 4), UniTuple(f8, 4), f8)"
)
def smooth_orientation(
    smoothing: Smoothing,
    smoothed: Quaternion,
    velocity: Vector,
    last: Quaternion,
    measured: Quaternion,
    dt: float,
) -> tuple[Quaternion, Vector, Vector]:
    """Return the smoothed orientation, the angular velocity, and the part that is used.

    Rotations from sample to sample are small, and so are the steps of the filter. To first order
    a rotation is twice the vector part of its quaternion, and a step goes along the chord.

    Args:
        smoothing: Parameters.
        smoothed: The smoothed orientation so far.
        velocity: The estimated angular velocity so far [rad/s].
        last: The last measured orientation.
        measured: The new one.
        dt: Time between the two [s].
    """
    cutoff, slope, speed_cutoff, lead, rest_speed = smoothing
    x, y, z, w = measured
    ox, oy, oz, ow = last
    wx, wy, wz = velocity
    rate = 2.0 / dt if ow * w + ox * x + oy * y + oz * z >= 0.0 else -2.0 / dt
    k = -math.expm1(-speed_cutoff * dt)
    wx += k * (rate * (ow * x - ox * w + oy * z - oz * y) - wx)
    wy += k * (rate * (ow * y - oy * w + oz * x - ox * z) - wy)
    wz += k * (rate * (ow * z - oz * w + ox * y - oy * x) - wz)
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    trust = lead * speed / (speed + rest_speed)
    ux, uy, uz = trust * wx, trust * wy, trust * wz
    half = 0.5 * dt
    hx, hy, hz = half * ux, half * uy, half * uz
    qx, qy, qz, qw = smoothed
    px = qx + hx * qw + hy * qz - hz * qy
    py = qy - hx * qz + hy * qw + hz * qx
    pz = qz + hx * qy - hy * qx + hz * qw
    pw = qw - hx * qx - hy * qy - hz * qz
    k = -math.expm1(-(cutoff + slope * speed) * dt)
    keep, sign = 1.0 - k, k if px * x + py * y + pz * z + pw * w >= 0.0 else -k
    x, y, z, w = (
        keep * px + sign * x,
        keep * py + sign * y,
        keep * pz + sign * z,
        keep * pw + sign * w,
    )
    k = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return (x * k, y * k, z * k, w * k), (wx, wy, wz), (ux, uy, uz)


@kernel(
    "Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))"
    "(UniTuple(f8, 3), UniTuple(f8, 4), UniTuple(f8, 3), UniTuple(f8, 3), f8)"
)
def extrapolate(
    position: Vector,
    orientation: Quaternion,
    velocity: Vector,
    angular_velocity: Vector,
    time: float,
) -> tuple[Vector, Quaternion]:
    """Return the pose after a time [s] at constant velocity [m/s] and angular velocity [rad/s]."""
    wx, wy, wz = angular_velocity
    rotation = from_rotation_vector((time * wx, time * wy, time * wz))
    return (
        position[0] + time * velocity[0],
        position[1] + time * velocity[1],
        position[2] + time * velocity[2],
    ), multiply(rotation, orientation)
