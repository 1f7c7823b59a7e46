# SPDX-License-Identifier: Apache-2.0
"""One step of the joints of a `JointLimiter`."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.braking_kernels import (
    brake_for,
    braking_excursion,
    braking_profile,
    rest_position,
)
from teleop_system.safety.motion.pursuit_kernels import step_towards
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Joints = NDArray[np.void]

JOINT = np.dtype(
    [
        ("max_speed", np.float64),
        ("max_acceleration", np.float64),
        ("max_jerk", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("position", np.float64),
        ("velocity", np.float64),
        ("acceleration", np.float64),
        ("rest", np.float64),
        ("excursion", np.float64),
    ],
    align=True,
)
"""Limits of a joint, its motion, where it comes to rest if it brakes, and how far braking leaves
the range between `position` and `rest`; all in [rad] and [s]."""


@kernel("void(JOINT[::1], f8[::1], f8[::1], f8, f8)")
def move_joints(
    joints: Joints, target: Array, target_velocity: Array, max_speed: float, step: float
) -> None:
    """Move joints for one step towards where their targets could stop by the same limits.

    Args:
        joints: The joints, shape (N,); updated.
        target: Positions of the targets [rad], shape (N,); a joint brakes if its is not finite.
        target_velocity: Velocities of the targets [rad/s], shape (N,).
        max_speed: Largest speed in this step, below those of the joints [rad/s].
        step: Duration of the step in [s].
    """
    for n in range(joints.size):
        joint = joints[n]
        p, v, a, end = joint["position"], joint["velocity"], joint["acceleration"], joint["rest"]
        speed, largest = min(joint["max_speed"], max_speed), joint["max_acceleration"]
        jerk, towards = joint["max_jerk"], target_velocity[n]
        if math.isfinite(target[n]) and not math.isnan(towards):
            towards = min(max(towards, -speed), speed)
            goal = rest_position(target[n], towards, 0.0, largest, jerk)
            goal = min(max(goal, joint["lower"]), joint["upper"])
            p, v, a, end = step_towards(p, v, a, end, goal, speed, largest, jerk, step)
        else:
            p, v, a = brake_for(p, v, a, largest, jerk, step, end)
        joint["position"], joint["velocity"], joint["acceleration"] = p, v, a
        # A joint at rest is exactly where it is.
        joint["rest"] = p if v == 0.0 and a == 0.0 else end
        joint["excursion"] = braking_excursion(v, a, largest, jerk)


@kernel("void(JOINT[::1], f8[::1], f8[:, ::1])")
def brake_along(joints: Joints, shares: Array, poses: Array) -> None:
    """Write where braking joints are after shares of the time in which all come to rest.

    Args:
        joints: The joints, shape (N,).
        shares: Shares of the time, from 0 to 1, shape (K,).
        poses: Written: positions of the joints [rad], shape (K, N).
    """
    longest = 0.0
    for n in range(joints.size):
        joint = joints[n]
        braking = braking_profile(
            joint["velocity"], joint["acceleration"], joint["max_acceleration"], joint["max_jerk"]
        )
        longest = max(longest, braking.rise + braking.hold + braking.fade)
    for n in range(joints.size):
        joint = joints[n]
        p, v, a = joint["position"], joint["velocity"], joint["acceleration"]
        largest, jerk = joint["max_acceleration"], joint["max_jerk"]
        for k in range(shares.size):
            time = shares[k] * longest
            poses[k, n] = brake_for(p, v, a, largest, jerk, time, joint["rest"]).position
