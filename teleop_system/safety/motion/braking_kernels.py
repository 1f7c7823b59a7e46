# SPDX-License-Identifier: Apache-2.0
"""How joints brake within acceleration and jerk limits: the arithmetic of single joints.

**To a velocity.** The fastest motion from velocity `v` and acceleration `a` to a velocity `w` with
zero acceleration has three phases: the jerk raises the acceleration to a peak `p`, the peak is
held, and the acceleration fades to zero. The first and last phase change the velocity by
`(p² - a²) / (2 j)` and `p² / (2 j)`. Without a hold phase, `p² = j (w - v) + a² / 2`. Where that
peak exceeds the limit, the rest of the velocity change is made while the limit is held. *Braking*
is the motion to velocity zero.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

AT_REST = 1e-12
"""A joint at rest this near to its target [rad] has reached it."""
SIXTH = 1.0 / 6.0


class Motion(NamedTuple):
    """The motion of one joint at one time, in [rad], [rad/s] and [rad/s^2]."""

    position: float
    velocity: float
    acceleration: float


class VelocityProfile(NamedTuple):
    """The fastest motion to a velocity: a signed jerk [rad/s^3] and three durations [s]."""

    jerk: float
    rise: float
    hold: float
    fade: float


class Braking(NamedTuple):
    """The fastest motion to rest.

    The first four are those of a `VelocityProfile`. `distance` is how far it leads [rad];
    `rest_rate` is how fast the rest position moves [rad/s] per unit by which the actual jerk
    differs from the profile's.
    """

    jerk: float
    rise: float
    hold: float
    fade: float
    distance: float
    rest_rate: float


@kernel("(f8, f8, f8, f8, f8)")
def profile_to_velocity(
    velocity: float,
    acceleration: float,
    final_velocity: float,
    max_acceleration: float,
    max_jerk: float,
) -> VelocityProfile:
    """Return the fastest motion to a velocity."""
    per_jerk = 1.0 / max_jerk
    faded = velocity + 0.5 * acceleration * abs(acceleration) * per_jerk
    if faded == final_velocity:
        # Only the acceleration has to fade.
        fade = abs(acceleration) * per_jerk
        return VelocityProfile(math.copysign(max_jerk, acceleration), 0.0, 0.0, fade)
    sign = 1.0 if faded < final_velocity else -1.0
    start, gap = sign * acceleration, sign * (final_velocity - velocity)
    peak = math.sqrt(max(max_jerk * gap + 0.5 * start * start, 0.0))
    hold = 0.0
    if peak > max_acceleration:
        peak = max(max_acceleration, start)
        hold = max(gap - (peak * peak - 0.5 * start * start) * per_jerk, 0.0) / peak
    rise = max(peak - start, 0.0) * per_jerk
    return VelocityProfile(sign * max_jerk, rise, hold, peak * per_jerk)


@kernel("(f8, f8, f8, f8)")
def braking_profile(
    velocity: float, acceleration: float, max_acceleration: float, max_jerk: float
) -> Braking:
    """Return the fastest motion to rest."""
    # Mirrored, so that the joint moves forward.
    per_jerk = 1.0 / max_jerk
    sign = 1.0 if velocity + 0.5 * acceleration * abs(acceleration) * per_jerk >= 0.0 else -1.0
    v, a = sign * velocity, sign * acceleration
    peak, hold = math.sqrt(max(max_jerk * v + 0.5 * a * a, 0.0)), 0.0
    if peak > max_acceleration:
        peak = max(max_acceleration, -a)
        hold = max(v - (peak * peak - 0.5 * a * a) * per_jerk, 0.0) / peak
    rise, fade = max(peak + a, 0.0) * per_jerk, peak * per_jerk
    distance = rise * (v + rise * (0.5 * a - max_jerk * rise * SIXTH)) + SIXTH * peak * fade * fade
    if hold > 0.0:
        left = v + rise * (a - 0.5 * max_jerk * rise)
        distance += hold * (left - 0.5 * peak * hold)
        rest_rate = 0.5 * rise * rise + (left + a * (hold + 0.5 * fade)) * per_jerk
    else:
        rest_rate = 0.5 * (a + peak) * (a + 2.0 * peak) * per_jerk * per_jerk
    return Braking(-sign * max_jerk, rise, hold, fade, sign * distance, rest_rate)


@kernel("(f8, f8, f8, f8, f8)")
def integrate(
    position: float, velocity: float, acceleration: float, jerk: float, time: float
) -> Motion:
    """Return the motion after a time of constant jerk."""
    return Motion(
        position + time * (velocity + time * (0.5 * acceleration + time * jerk * SIXTH)),
        velocity + time * (acceleration + 0.5 * time * jerk),
        acceleration + time * jerk,
    )


@kernel("(f8, f8, f8, f8, f8, f8, f8, f8, f8)")
def follow_profile(
    position: float,
    velocity: float,
    acceleration: float,
    jerk: float,
    rise: float,
    hold: float,
    fade: float,
    final_velocity: float,
    time: float,
) -> Motion:
    """Return the motion after a time on a velocity profile."""
    if time <= rise:
        return integrate(position, velocity, acceleration, jerk, time)
    p, v, a = integrate(position, velocity, acceleration, jerk, rise)
    time -= rise
    if time <= hold:
        return integrate(p, v, a, 0.0, time)
    p, v, a = integrate(p, v, a, 0.0, hold)
    time -= hold
    if time < fade:
        return integrate(p, v, a, -jerk, time)
    p, v, a = integrate(p, v, a, -jerk, fade)
    # Rounding must not leave a joint creeping.
    return Motion(p + (time - fade) * final_velocity, final_velocity, 0.0)


@kernel("f8(f8, f8, f8, f8, f8)")
def jerk_at(jerk: float, rise: float, hold: float, fade: float, time: float) -> float:
    """Return the jerk at a time on a velocity profile."""
    if time < rise:
        return jerk
    return -jerk if rise + hold <= time < rise + hold + fade else 0.0


@kernel("f8(f8, f8, f8, f8, f8)")
def rest_position(
    position: float,
    velocity: float,
    acceleration: float,
    max_acceleration: float,
    max_jerk: float,
) -> float:
    """Return where a joint that brakes comes to rest [rad]."""
    return position + braking_profile(velocity, acceleration, max_acceleration, max_jerk).distance


@kernel("(f8, f8, f8, f8, f8, f8, f8)")
def brake_for(
    position: float,
    velocity: float,
    acceleration: float,
    max_acceleration: float,
    max_jerk: float,
    time: float,
    rest: float,
) -> Motion:
    """Return the motion after a time of braking; a joint at rest stands exactly at `rest`."""
    if velocity == 0.0 and acceleration == 0.0:
        return Motion(position, velocity, acceleration)
    braking = braking_profile(velocity, acceleration, max_acceleration, max_jerk)
    p, v, a = follow_profile(
        position,
        velocity,
        acceleration,
        braking.jerk,
        braking.rise,
        braking.hold,
        braking.fade,
        0.0,
        time,
    )
    if v == 0.0 and a == 0.0 and abs(p - rest) < AT_REST:
        p = rest
    return Motion(p, v, a)


@kernel("f8(f8, f8, f8, f8)")
def braking_excursion(
    velocity: float, acceleration: float, max_acceleration: float, max_jerk: float
) -> float:
    """Return a bound of how far braking leaves the range between its start and end [rad].

    Only a joint that reverses while it brakes leaves that range: its acceleration is so large
    that it outlasts the speed, by at most the time in which the acceleration fades.
    """
    per_jerk = 1.0 / max_jerk
    faded = velocity + 0.5 * acceleration * abs(acceleration) * per_jerk
    return abs(velocity) * max_acceleration * per_jerk if faded * velocity < 0.0 else 0.0


@kernel(
    "void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8,"
    " f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])"
)
def brake_joints(
    position: Array,
    velocity: Array,
    acceleration: Array,
    max_acceleration: Array,
    max_jerk: Array,
    step: float,
    new_position: Array,
    new_velocity: Array,
    new_acceleration: Array,
    new_rest: Array,
    new_excursion: Array,
) -> None:
    """Write the motions after all joints have braked for `step` [s]; all shape (N,)."""
    for n in range(position.size):
        p, v, a = position[n], velocity[n], acceleration[n]
        rest = rest_position(p, v, a, max_acceleration[n], max_jerk[n])
        p, v, a = brake_for(p, v, a, max_acceleration[n], max_jerk[n], step, rest)
        new_position[n], new_velocity[n], new_acceleration[n] = p, v, a
        # A joint at rest is exactly where it is.
        new_rest[n] = p if v == 0.0 and a == 0.0 else rest
        new_excursion[n] = braking_excursion(v, a, max_acceleration[n], max_jerk[n])


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8, f8[::1])")
def braking_pose(
    position: Array,
    velocity: Array,
    acceleration: Array,
    max_acceleration: Array,
    max_jerk: Array,
    share: float,
    pose: Array,
) -> None:
    """Write where the joints are after a share of the time in which all come to rest."""
    longest = 0.0
    for n in range(position.size):
        braking = braking_profile(velocity[n], acceleration[n], max_acceleration[n], max_jerk[n])
        longest = max(longest, braking.rise + braking.hold + braking.fade)
    for n in range(position.size):
        p, v, a = position[n], velocity[n], acceleration[n]
        rest = rest_position(p, v, a, max_acceleration[n], max_jerk[n])
        time = share * longest
        pose[n] = brake_for(p, v, a, max_acceleration[n], max_jerk[n], time, rest).position


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])")
def find_rest(
    position: Array,
    velocity: Array,
    acceleration: Array,
    max_acceleration: Array,
    max_jerk: Array,
    rest: Array,
    excursion: Array,
) -> None:
    """Write where the joints come to rest, and by how much they may leave the range until then."""
    for n in range(position.size):
        p, v, a = position[n], velocity[n], acceleration[n]
        rest[n] = rest_position(p, v, a, max_acceleration[n], max_jerk[n])
        excursion[n] = braking_excursion(v, a, max_acceleration[n], max_jerk[n])
