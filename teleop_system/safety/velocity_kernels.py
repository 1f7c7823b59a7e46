# SPDX-License-Identifier: Apache-2.0
"""A velocity that changes within acceleration and jerk limits, from cycle to cycle."""

import math
from typing import NamedTuple

from teleop_system.utils.compiled import kernel

LEAST_STEP = 1e-3
"""If a target can be reached within a step of this length [s], it is set exactly."""


class VelocityStep(NamedTuple):
    """A velocity and its acceleration after a step."""

    velocity: float
    acceleration: float


@kernel("(f8, f8, f8, f8, f8, f8)")
def approach_velocity(
    velocity: float,
    acceleration: float,
    target: float,
    max_acceleration: float,
    jerk: float,
    step: float,
) -> VelocityStep:
    """Return the next velocity on the fastest motion to a target velocity, without overshoot.

    Velocities are sent once a cycle and held until the next, so the limits hold for the
    differences of successive outputs: a = Δv / dt and j = Δa / dt, whatever the steps are.

    Args:
        velocity: Present velocity.
        acceleration: Its change in the last step, per [s].
        target: The velocity to reach.
        max_acceleration: Largest acceleration of this step. If it falls faster than the jerk
            allows, it is met as soon as possible.
        jerk: Largest jerk of this step.
        step: Duration of the step in [s].
    """
    gap, change = target - velocity, jerk * step
    low, high = acceleration - change, acceleration + change
    direct = gap / step
    if abs(direct) <= min(max_acceleration, jerk * LEAST_STEP) and low <= direct <= high:
        return VelocityStep(target, direct)
    # One step with this acceleration and fading out close the gap exactly: the positive root of
    # a dt + a²/(2 j) = gap, in a form that keeps its digits near zero.
    size = 2.0 * abs(gap) / (step + math.sqrt(step * step + 2.0 * abs(gap) / jerk))
    wanted = math.copysign(min(max_acceleration, size), gap)
    acceleration = min(max(wanted, low), high)
    return VelocityStep(velocity + acceleration * step, acceleration)
