# SPDX-License-Identifier: Apache-2.0
"""How joints follow commands: the estimated motion of a command, its target, and the lag."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.braking_kernels import rest_position
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Records = NDArray[np.void]

LONGEST_INTERVAL = 0.1
"""Commands count as no further apart than this [s], however long one was missing."""
LARGEST_EXCESS = 1e-6
"""Distance outside a position limit in [rad] that yields a cause."""

PART = np.dtype(
    [
        ("is_new", np.bool_),
        ("holds", np.bool_),
        ("interval", np.float64),
        ("ahead", np.float64),
        ("speed_scale", np.float64),
    ],
    align=True,
)
"""How a part follows in one cycle: whether it has new positions, whether it brakes and holds, the
time since the positions before (0 for a start from rest), for how long its command is taken to
continue before it brakes [s], and the share of the largest speeds that is allowed."""
JOINT = np.dtype(
    [
        ("part", np.int64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("lower_target", np.float64),
        ("upper_target", np.float64),
        ("speed", np.float64),
        ("acceleration", np.float64),
        ("jerk", np.float64),
        ("commanded", np.float64),
        ("command_velocity", np.float64),
        ("command_acceleration", np.float64),
        ("excess", np.float64),
        ("unlimited_target", np.float64),
    ],
    align=True,
)
"""A joint: the index of its part, its position limits, the ends of its targets, and its largest
speed, acceleration and jerk. Then its command: the requested position within the limits, the
estimated velocity and acceleration of the requests, how far the request is outside the limits, and
where the command would come to rest."""


class CommandMotion(NamedTuple):
    """The estimated motion of one joint's command, and how far the request is out of range."""

    position: float
    velocity: float
    acceleration: float
    excess: float


@kernel("(f8, f8, f8, f8, f8, f8, f8, f8, f8, f8)")
def estimate_command(
    requested: float,
    interval: float,
    weight: float,
    lower: float,
    upper: float,
    max_speed: float,
    max_acceleration: float,
    position: float,
    velocity: float,
    acceleration: float,
) -> CommandMotion:
    """Return the estimated motion of a command with its new position.

    Args:
        requested: The new position [rad].
        interval: Time since the last one in [s].
        weight: Weight of the new sample in the estimated velocity and acceleration.
        lower: Smallest allowed position [rad].
        upper: Largest allowed position [rad].
        max_speed: Largest speed [rad/s].
        max_acceleration: Largest acceleration [rad/s^2].
        position: Commanded position so far [rad], within the limits.
        velocity: Its estimated velocity [rad/s].
        acceleration: Its estimated acceleration [rad/s^2].
    """
    allowed = min(max(requested, lower), upper)
    speed = (allowed - position) / interval
    change = (min(max(speed, -max_speed), max_speed) - velocity) * weight
    rate = min(max(change / interval, -max_acceleration), max_acceleration)
    return CommandMotion(
        allowed,
        velocity + change,
        acceleration + (rate - acceleration) * weight,
        requested - allowed,
    )


@kernel("void(f8[::1], PART[::1], JOINT[::1], f8, f8, f8[::1], f8[::1], b1[::1])")
def follow_commands(
    requested: Array,
    parts: Records,
    joints: Records,
    smoothing: float,
    least_interval: float,
    target: Array,
    speed: Array,
    is_held: Flags,
) -> None:
    """Write where the commands of all joints come to rest, and how fast joints may follow.

    A joint that heads for the commanded position itself, and plans to stop there, lags by its own
    braking time. It heads for the position where the *command* would come to rest instead.

    Args:
        requested: Newest positions of the commands [rad], shape (N,), as all arrays of joints.
        parts: How the parts follow, shape (P,).
        joints: The joints; their commands are updated.
        smoothing: Time constant of the estimated motion in [s].
        least_interval: Commands count as no closer together than this in [s].
        target: Written: where the commands come to rest, within the limits [rad].
        speed: Written: largest speeds at present [rad/s].
        is_held: Written: whether a joint brakes and holds.
    """
    for n in range(requested.size):
        joint = joints[n]
        part = parts[joint["part"]]
        lower, upper = joint["lower"], joint["upper"]
        max_acceleration = joint["acceleration"]
        p, v, a = joint["commanded"], joint["command_velocity"], joint["command_acceleration"]
        if part["is_new"]:
            excess = 0.0
            if part["interval"] == 0.0:
                p, v, a = min(max(requested[n], lower), upper), 0.0, 0.0
                excess = requested[n] - p
            else:
                interval = min(max(part["interval"], least_interval), LONGEST_INTERVAL)
                weight = -math.expm1(-interval / smoothing) if smoothing > 0.0 else 1.0
                p, v, a, excess = estimate_command(
                    requested[n],
                    interval,
                    weight,
                    lower,
                    upper,
                    joint["speed"],
                    max_acceleration,
                    p,
                    v,
                    a,
                )
            joints[n]["commanded"], joints[n]["excess"] = p, excess
            joints[n]["command_velocity"], joints[n]["command_acceleration"] = v, a
        rest = rest_position(p, v, a, max_acceleration, joint["jerk"]) + v * part["ahead"]
        joints[n]["unlimited_target"] = rest
        target[n] = min(max(rest, joint["lower_target"]), joint["upper_target"])
        speed[n] = joint["speed"] * part["speed_scale"]
        is_held[n] = part["holds"]


@kernel("b1(JOINT[::1], f8[::1], b1[::1], f8, b1[::1], b1[::1])")
def find_limited(
    joints: Records,
    position: Array,
    is_held: Flags,
    largest_lag: float,
    is_outside: Flags,
    is_behind: Flags,
) -> bool:
    """Find the joints that follow and do not reach their command; return whether there are any.

    Args:
        joints: The joints with their commands, shape (N,), as all arrays.
        position: Positions of the joints [rad].
        is_held: Whether a joint holds.
        largest_lag: Distance between command and joint without a cause [rad].
        is_outside: Written: whether the request is outside the position limits.
        is_behind: Written: whether the joint is further away from its command.
    """
    any_limited = False
    for n in range(joints.size):
        lag, excess = joints[n]["commanded"] - position[n], joints[n]["excess"]
        is_outside[n] = not is_held[n] and abs(excess) > LARGEST_EXCESS
        is_behind[n] = not is_held[n] and abs(lag) > largest_lag
        any_limited = any_limited or is_outside[n] or is_behind[n]
    return any_limited
