# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of `PoseFilter`, `LimbMapping` and `ReachLimit`.

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
    conjugate,
    from_rotation_vector,
    multiply,
    rotate,
    scaled_rotation,
)

Records = NDArray[np.void]

SMOOTHING = np.dtype(
    [
        # Cutoff at rest, its rise with speed, cutoff of the speed, all times 2 pi.
        *[("cutoff", np.float64), ("slope", np.float64), ("speed_cutoff", np.float64)],
        # Share of the estimated speed that is used, and the speed of which half is used.
        *[("lead", np.float64), ("rest_speed", np.float64)],
    ],
    align=True,
)
"""Parameters of the smoothing of positions, or of rotations."""
FILTER = np.dtype(
    [
        *[("for_position", SMOOTHING), ("for_orientation", SMOOTHING)],
        # The smoothed and the last measured pose.
        *[("smoothed", np.float64, 7), ("measured", np.float64, 7)],
        # The estimated twist, and the part of it that exceeds the noise.
        *[("twist", np.float64, 6), ("used_twist", np.float64, 6)],
        # Without samples the motion runs out with this time constant.
        ("coast_time", np.float64),
    ],
    align=True,
)
"""Parameters and state of a filter."""
MAPPING = np.dtype(
    [
        # The anchors of the tracker in the room, and of the end effector in the base frame.
        *[("tracker_position", np.float64, 3), ("tracker_orientation", np.float64, 4)],
        *[("tool_position", np.float64, 3), ("tool_orientation", np.float64, 4)],
        # The rotation from the room to the base frame.
        ("to_base", np.float64, 4),
        *[("scale", np.float64), ("rotation_scale", np.float64)],
    ],
    align=True,
)
"""How motion of a tracker maps to motion of an end effector; see `LimbMapping`."""
LIMITS = np.dtype(
    [
        # The workspace, and the sphere in the frame of its carrier; infinite without one.
        *[("lower", np.float64, 3), ("upper", np.float64, 3)],
        *[("centre", np.float64, 3), ("radius", np.float64)],
    ],
    align=True,
)
"""Where the target of a limb may be; see `ReachLimit`."""


@kernel("void(FILTER[::1], UniTuple(f8, 3), f8)")
def smooth_position(filters: Records, measured: Vector, dt: float) -> None:
    """Bring the position up to date with one measured `dt` [s] after the last.

    Args:
        filters: The filter, shape (1,); written.
        measured: The new position [m].
        dt: Time between the two [s].
    """
    state = filters[0]
    smoothing, twist, smoothed = state["for_position"], state["twist"], state["smoothed"]
    last, used_twist = state["measured"], state["used_twist"]
    k = -math.expm1(-smoothing["speed_cutoff"] * dt)
    squared = 0.0
    for n in range(3):
        twist[n] += k * ((measured[n] - last[n]) / dt - twist[n])
        squared += twist[n] * twist[n]
    speed = math.sqrt(squared)
    trust = smoothing["lead"] * speed / (speed + smoothing["rest_speed"])
    k = -math.expm1(-(smoothing["cutoff"] + smoothing["slope"] * speed) * dt)
    for n in range(3):
        used_twist[n] = trust * twist[n]
        predicted = smoothed[n] + used_twist[n] * dt
        smoothed[n] = predicted + k * (measured[n] - predicted)


@kernel("void(FILTER[::1], UniTuple(f8, 4), f8)")
def smooth_orientation(filters: Records, measured: Quaternion, dt: float) -> None:
    """Bring the orientation up to date with one measured `dt` [s] after the last.

    Rotations from sample to sample are small, and so are the steps of the filter. To first order
    a rotation is twice the vector part of its quaternion, and a step goes along the chord.

    Args:
        filters: The filter, shape (1,); written.
        measured: The new orientation.
        dt: Time between the two [s].
    """
    state = filters[0]
    smoothing, twist, smoothed = state["for_orientation"], state["twist"], state["smoothed"]
    last, used_twist = state["measured"], state["used_twist"]
    x, y, z, w = measured
    ox, oy, oz, ow = last[3], last[4], last[5], last[6]
    wx, wy, wz = twist[3], twist[4], twist[5]
    rate = 2.0 / dt if ow * w + ox * x + oy * y + oz * z >= 0.0 else -2.0 / dt
    k = -math.expm1(-smoothing["speed_cutoff"] * dt)
    rx, ry, rz, _ = multiply(measured, (-ox, -oy, -oz, ow))
    wx, wy, wz = wx + k * (rate * rx - wx), wy + k * (rate * ry - wy), wz + k * (rate * rz - wz)
    twist[3], twist[4], twist[5] = wx, wy, wz
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    trust = smoothing["lead"] * speed / (speed + smoothing["rest_speed"])
    wx, wy, wz = trust * wx, trust * wy, trust * wz
    used_twist[3], used_twist[4], used_twist[5] = wx, wy, wz
    half = 0.5 * dt
    wx, wy, wz = half * wx, half * wy, half * wz
    q = (smoothed[3], smoothed[4], smoothed[5], smoothed[6])
    px, py, pz, pw = multiply((wx, wy, wz, 1.0), q)
    k = -math.expm1(-(smoothing["cutoff"] + smoothing["slope"] * speed) * dt)
    keep, sign = 1.0 - k, k if px * x + py * y + pz * z + pw * w >= 0.0 else -k
    x, y = keep * px + sign * x, keep * py + sign * y
    z, w = keep * pz + sign * z, keep * pw + sign * w
    k = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    smoothed[3], smoothed[4], smoothed[5], smoothed[6] = x * k, y * k, z * k, w * k


@kernel("void(FILTER[::1], UniTuple(f8, 3), UniTuple(f8, 4), f8)")
def smooth_pose(filters: Records, position: Vector, orientation: Quaternion, dt: float) -> None:
    """Bring the filter up to date with a pose measured `dt` [s] after the last.

    Args:
        filters: The filter, shape (1,); written.
        position: The new position [m].
        orientation: The new orientation.
        dt: Time between the two [s].
    """
    smooth_position(filters, position, dt)
    smooth_orientation(filters, orientation, dt)
    last = filters[0]["measured"]
    last[0], last[1], last[2] = position
    last[3], last[4], last[5], last[6] = orientation


@kernel("Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))(FILTER[::1], f8)")
def extrapolate(filters: Records, age: float) -> tuple[Vector, Quaternion]:
    """Return the smoothed pose at an age [s] of the newest sample, moved by the used twist."""
    pose, twist = filters[0]["smoothed"], filters[0]["used_twist"]
    coast_time = filters[0]["coast_time"]
    time = -coast_time * math.expm1(-max(age, 0.0) / coast_time)
    rotation = from_rotation_vector((time * twist[3], time * twist[4], time * twist[5]))
    return (
        (pose[0] + time * twist[0], pose[1] + time * twist[1], pose[2] + time * twist[2]),
        multiply(rotation, (pose[3], pose[4], pose[5], pose[6])),
    )


@kernel(
    "Tuple((UniTuple(f8, 3), UniTuple(f8, 4)))(MAPPING[::1], UniTuple(f8, 3), UniTuple(f8, 4))"
)
def map_pose(
    mappings: Records, position: Vector, orientation: Quaternion
) -> tuple[Vector, Quaternion]:
    """Return the end effector's pose for a pose of the tracker.

    Args:
        mappings: The mapping, shape (1,).
        position: Position of the tracker [m].
        orientation: Orientation of the tracker.
    """
    mapping = mappings[0]
    p, t, scale = mapping["tracker_position"], mapping["tool_position"], mapping["scale"]
    moved = (position[0] - p[0], position[1] - p[1], position[2] - p[2])
    q = mapping["tracker_orientation"]
    rotation = multiply(orientation, conjugate((q[0], q[1], q[2], q[3])))
    if mapping["rotation_scale"] != 1.0:
        rotation = scaled_rotation(rotation, mapping["rotation_scale"])
    # A motion of the tracker, as the operator sees it, is a motion of the tool about robot axes.
    q = mapping["to_base"]
    to_base = (q[0], q[1], q[2], q[3])
    x, y, z = rotate(to_base, moved)
    rotation = multiply(multiply(to_base, rotation), conjugate(to_base))
    q = mapping["tool_orientation"]
    return (
        (t[0] + scale * x, t[1] + scale * y, t[2] + scale * z),
        multiply(rotation, (q[0], q[1], q[2], q[3])),
    )


@kernel(
    "Tuple((UniTuple(f8, 3), f8))"
    "(UniTuple(f8, 3), UniTuple(f8, 3), f8, UniTuple(f8, 3), UniTuple(f8, 4))"
)
def nearest_in_sphere(
    position: Vector, centre: Vector, radius: float, carrier: Vector, rotation: Quaternion
) -> tuple[Vector, float]:
    """Return the nearest point of a sphere, and the distance from its centre before.

    Args:
        position: The point [m].
        centre: Centre of the sphere [m], in the frame of its carrier.
        radius: Its radius [m].
        carrier: Position of the carrier [m].
        rotation: Orientation of the carrier.
    """
    x, y, z = rotate(rotation, centre)
    cx, cy, cz = carrier[0] + x, carrier[1] + y, carrier[2] + z
    x, y, z = position[0] - cx, position[1] - cy, position[2] - cz
    distance = math.sqrt(x * x + y * y + z * z)
    if distance <= radius:
        return position, distance
    k = radius / distance
    return (cx + k * x, cy + k * y, cz + k * z), distance


@kernel(
    "Tuple((UniTuple(f8, 3), UniTuple(f8, 4), f8, f8))"
    "(FILTER[::1], f8, MAPPING[::1], LIMITS[::1], UniTuple(f8, 3), UniTuple(f8, 4))"
)
def target_of(
    filters: Records,
    age: float,
    mappings: Records,
    limits: Records,
    carrier: Vector,
    rotation: Quaternion,
) -> tuple[Vector, Quaternion, float, float]:
    """Return the target of a limb for the pose of its tracker, and what limits it.

    Args:
        filters: The filter of the tracker, shape (1,).
        age: Age of its newest sample [s].
        mappings: The mapping, shape (1,).
        limits: Workspace and sphere, shape (1,).
        carrier: Position of the sphere's carrier [m].
        rotation: Orientation of the carrier.

    Returns:
        Position and orientation, the distance outside the workspace, and the distance from the
        centre of the sphere before it limits the position [m].
    """
    position, orientation = extrapolate(filters, age)
    (x, y, z), orientation = map_pose(mappings, position, orientation)
    lower, upper, c = limits[0]["lower"], limits[0]["upper"], limits[0]["centre"]
    inside = (
        min(max(x, lower[0]), upper[0]),
        min(max(y, lower[1]), upper[1]),
        min(max(z, lower[2]), upper[2]),
    )
    x, y, z = inside[0] - x, inside[1] - y, inside[2] - z
    outside = math.sqrt(x * x + y * y + z * z)
    centre, radius = (c[0], c[1], c[2]), limits[0]["radius"]
    position, distance = nearest_in_sphere(inside, centre, radius, carrier, rotation)
    return position, orientation, outside, distance
