# SPDX-License-Identifier: Apache-2.0
"""How joints follow targets within velocity, acceleration and jerk limits.

**To a position.** The joint heads for its largest velocity in the direction of the target as long
as it can still brake to rest before or at the target; then it brakes. While the joint moves ahead
its rest position only advances, so one instant separates the two phases. A step needs to know
only whether that instant lies within the step, and if so, when.

**The instant.** While a joint speeds up with jerk `j`, `c = j v - a² / 2` is constant. If braking
begins at acceleration `x`, the deceleration peaks at `q` with `q² = x² + c`. Summed over all
phases, the joint comes to rest after a distance `d` with
`j² d + a (c + a² / 6) = (q + x) (c + q x)`. Where `q` exceeds the largest acceleration `l`, which
is then held, the right side is `q² (q² + l²) / (2 l) + x (q² + c)` instead. It is convex in `x`,
also where one case passes into the other.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.braking_kernels import (
    AT_REST,
    SIXTH,
    brake_for,
    braking_excursion,
    braking_profile,
    follow_profile,
    integrate,
    jerk_at,
    profile_to_velocity,
    rest_position,
)
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

EXACT = 1e-14
"""A joint is planned to rest this near to its target [rad]."""
SHORTEST = 1e-15
"""Length [s] of a bracket that needs no further search."""
ROUNDING = 2e-15
"""Relative error that rounding may cause in a sum."""
MAX_ROUNDS = 100
"""Bound of the search, which mostly ends after one or two rounds."""


class BrakeOnset(NamedTuple):
    """When a joint has to brake within a step, and how long its deceleration then grows [s]."""

    time: float
    growth: float


class NextMotion(NamedTuple):
    """The motion of one joint after a step, and where braking from there would end."""

    position: float
    velocity: float
    acceleration: float
    rest: float


@kernel("(f8, f8, f8, f8, f8, f8)")
def brake_onset(
    velocity: float,
    acceleration: float,
    distance: float,
    max_acceleration: float,
    max_jerk: float,
    step: float,
) -> BrakeOnset:
    """Return for how long of a step a joint may speed up and still rest after `distance`.

    Args:
        velocity: Of the joint, positive in the direction in which the jerk acts [rad/s].
        acceleration: Of the joint, same sign convention [rad/s^2].
        distance: From here to the rest position [rad].
        max_acceleration: Of the joint.
        max_jerk: Of the joint; it acts for the whole step if the joint need not brake.
        step: Duration of the step in [s].
    """
    kept = max_jerk * velocity - 0.5 * acceleration * acceleration
    goal = max_jerk * max_jerk * distance + acceleration * (
        kept + SIXTH * acceleration * acceleration
    )
    end = acceleration + max_jerk * step
    # A joint that keeps up with its command brakes for about half of every step.
    x = acceleration + 0.5 * max_jerk * step
    if kept < 0.0 and (x < 0.0 or x * x < -kept):
        if end < 0.0 or end * end < -kept:
            return BrakeOnset(step, 0.0)  # It still moves in the other direction.
        x = end
    total = 0.0
    # Over long distances rounding limits how exactly the rest position is known.
    enough = max(EXACT * max_jerk * max_jerk, ROUNDING * (abs(goal) + abs(acceleration * kept)))
    # Newton's search: after its first step it never passes the zero of a convex function.
    for _ in range(MAX_ROUNDS):
        squared = max(x * x + kept, 0.0)
        if squared <= max_acceleration * max_acceleration:
            peak = math.sqrt(squared)
            total = peak + x
            over, slope = total * (kept + peak * x) - goal, total * (total + peak)
        else:
            peak, more = max_acceleration, squared + max_acceleration * max_acceleration
            total = peak + x
            over = 0.5 * squared * more / max_acceleration + x * (squared + kept) - goal
            slope = x * (squared + more) / max_acceleration + 3.0 * x * x + 2.0 * kept
        if abs(over) <= enough:
            break
        if over < 0.0 and x >= end:
            return BrakeOnset(step, 0.0)
        x = min(x - over / slope, end) if slope > 0.0 else end
        total = min(math.sqrt(max(x * x + kept, 0.0)), max_acceleration) + x
    per_jerk = 1.0 / max_jerk
    return BrakeOnset(min(max(x - acceleration, 0.0) * per_jerk, step), total * per_jerk)


@kernel("f8(f8, f8, f8, f8, f8, f8, f8, f8)")
def search_brake_onset(
    position: float,
    velocity: float,
    acceleration: float,
    final_velocity: float,
    target: float,
    max_acceleration: float,
    max_jerk: float,
    step: float,
) -> float:
    """Return for how long of a step [s] a joint may head for a velocity before it has to brake."""
    profile = profile_to_velocity(
        velocity, acceleration, final_velocity, max_acceleration, max_jerk
    )
    sign = math.copysign(1.0, final_velocity)
    low, high, time = 0.0, step, step
    # The distance left when braking begins falls from one end of the step to the other through
    # zero, if at all: Newton's search, kept between the ends.
    for round_index in range(MAX_ROUNDS):
        p, v, a = follow_profile(
            position,
            velocity,
            acceleration,
            profile.jerk,
            profile.rise,
            profile.hold,
            profile.fade,
            final_velocity,
            time,
        )
        braking = braking_profile(v, a, max_acceleration, max_jerk)
        left = sign * (target - (p + braking.distance))
        if abs(left) <= EXACT or high - low <= SHORTEST or (left > 0.0 and round_index == 0):
            break
        if left > 0.0:
            low = time
        else:
            high = time
        jerk = jerk_at(profile.jerk, profile.rise, profile.hold, profile.fade, time)
        slope = sign * braking.rest_rate * (jerk - braking.jerk)
        time = time + left / slope if slope > 0.0 else low
        if not low < time < high:
            time = 0.5 * (low + high)
    return time


@kernel("(f8, f8, f8, f8, f8, f8, f8, f8, f8)")
def step_towards(
    position: float,
    velocity: float,
    acceleration: float,
    rest: float,
    target: float,
    max_speed: float,
    max_acceleration: float,
    max_jerk: float,
    step: float,
) -> NextMotion:
    """Return the motion after one step of the fastest motion to rest at `target`.

    Args:
        position: Present position [rad].
        velocity: Present velocity [rad/s].
        acceleration: Present acceleration [rad/s^2].
        rest: Where the joint would come to rest if it braked [rad].
        target: Where it should come to rest [rad].
        max_speed: Largest speed [rad/s].
        max_acceleration: Largest acceleration [rad/s^2].
        max_jerk: Largest jerk [rad/s^3].
        step: Duration of the step in [s].
    """
    if velocity == 0.0 and acceleration == 0.0 and abs(target - rest) < AT_REST:
        return NextMotion(target, 0.0, 0.0, target)
    sign = math.copysign(1.0, target - rest)
    v, a = sign * velocity, sign * acceleration
    end = a + max_jerk * step
    fastest = v + 0.5 * (step * (a + end) + end * abs(end) * (1.0 / max_jerk))
    if end <= max_acceleration and fastest <= max_speed:
        # It may speed up for the whole step, as in nearly all cases.
        onset = brake_onset(v, a, sign * (target - position), max_acceleration, max_jerk, step)
        time = onset.time
        p, v, a = integrate(position, velocity, acceleration, sign * max_jerk, time)
        if time < step <= time + onset.growth:
            p, v, a = integrate(p, v, a, -sign * max_jerk, step - time)
            return NextMotion(p, v, a, target)
    else:
        wanted = sign * max_speed
        time = search_brake_onset(
            position, velocity, acceleration, wanted, target, max_acceleration, max_jerk, step
        )
        profile = profile_to_velocity(velocity, acceleration, wanted, max_acceleration, max_jerk)
        p, v, a = follow_profile(
            position,
            velocity,
            acceleration,
            profile.jerk,
            profile.rise,
            profile.hold,
            profile.fade,
            wanted,
            time,
        )
    rest = rest_position(p, v, a, max_acceleration, max_jerk)
    if time < step:
        p, v, a = brake_for(p, v, a, max_acceleration, max_jerk, step - time, target)
    return NextMotion(p, v, a, rest)


@kernel(
    "void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], b1[::1], f8[::1], f8[::1], f8[::1], f8,"
    " f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])"
)
def step_joints(
    position: Array,
    velocity: Array,
    acceleration: Array,
    rest: Array,
    target: Array,
    braking: NDArray[np.bool_],
    max_speed: Array,
    max_acceleration: Array,
    max_jerk: Array,
    step: float,
    new_position: Array,
    new_velocity: Array,
    new_acceleration: Array,
    new_rest: Array,
    new_excursion: Array,
) -> None:
    """Write the motions after one step in which joints approach their targets, or brake.

    Args:
        position: Present positions [rad], shape (N,), as all arrays.
        velocity: Present velocities [rad/s].
        acceleration: Present accelerations [rad/s^2].
        rest: Where the joints would come to rest if they braked [rad].
        target: Where they should come to rest [rad]; a joint without a finite target brakes.
        braking: Whether a joint brakes, whatever its target is.
        max_speed: Largest speeds [rad/s].
        max_acceleration: Largest accelerations [rad/s^2].
        max_jerk: Largest jerks [rad/s^3].
        step: Duration of the step in [s].
        new_position: Written, as all that follow: the motions after the step.
        new_velocity: Velocities.
        new_acceleration: Accelerations.
        new_rest: Where braking would end.
        new_excursion: How far braking may leave the range between position and rest.
    """
    for n in range(position.size):
        p, v, a, end = position[n], velocity[n], acceleration[n], rest[n]
        largest, jerk = max_acceleration[n], max_jerk[n]
        if braking[n] or not math.isfinite(target[n]):
            p, v, a = brake_for(p, v, a, largest, jerk, step, end)
        else:
            p, v, a, end = step_towards(p, v, a, end, target[n], max_speed[n], largest, jerk, step)
        new_position[n], new_velocity[n], new_acceleration[n] = p, v, a
        # A joint at rest is exactly where it is.
        new_rest[n] = p if v == 0.0 and a == 0.0 else end
        new_excursion[n] = braking_excursion(v, a, largest, jerk)
