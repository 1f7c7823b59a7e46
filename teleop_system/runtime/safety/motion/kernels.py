# SPDX-License-Identifier: Apache-2.0
"""Fastest motions of single joints within velocity, acceleration and jerk limits.

**To a velocity.** From velocity `v` and acceleration `a` the fastest way to a velocity `w`, with
no acceleration left, has three phases: the jerk brings the acceleration to a peak `p`, which is
held, and fades to zero. Towards a greater velocity, the first and the last phase gain
`(p² - a²) / (2 j)` and `p² / (2 j)`; without a phase between them `p² = j (w - v) + a² / 2`, and
where that is more than allowed, what is left is gained while `p` is held. *Braking* is the way to
velocity zero.

**To a place.** The joint heads for its largest velocity in the direction of the place, for as long
as it could still brake to rest before or at the place; then it brakes. The place of rest only
moves on while the joint goes ahead, so one instant parts the two phases. A step needs to know only
whether that instant lies within the step, and if so, when.

Motions of all joints, shape (3, N), are rows of positions, velocities and accelerations; limits,
shape (2, N), of largest accelerations and jerks.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Phases = tuple[float, float, float, float]
Motion = tuple[float, float, float]

EXACT = 1e-14
"""How near to its aim [rad] a joint is planned to rest."""
SHORTEST = 1e-15
"""Length [s] of a bracket that needs no further search."""
AT_AIM = 1e-12
"""A joint at rest this near to its aim [rad] is there."""
MOST_ROUNDS = 100
"""Bound of the search, which ends after a handful of rounds."""


@kernel("Tuple((f8, f8, f8, f8))(f8, f8, f8, f8, f8)")
def phases_to(
    velocity: float, acceleration: float, wanted: float, largest: float, jerk: float
) -> Phases:
    """Return the jerk, with its sign, and the three durations of the way to a velocity."""
    faded = velocity + 0.5 * acceleration * abs(acceleration) / jerk
    if faded == wanted:
        # Nothing to do but to let the acceleration fade.
        return math.copysign(jerk, acceleration), 0.0, 0.0, abs(acceleration) / jerk
    sign = 1.0 if faded < wanted else -1.0
    start, gap = sign * acceleration, sign * (wanted - velocity)
    peak = math.sqrt(max(jerk * gap + 0.5 * start * start, 0.0))
    held = 0.0
    if peak > largest:
        peak = max(largest, start)
        held = max(gap - (peak * peak - 0.5 * start * start) / jerk, 0.0) / peak
    return sign * jerk, max(peak - start, 0.0) / jerk, held, peak / jerk


@kernel("Tuple((f8, f8, f8))(f8, f8, f8, f8, f8)")
def moved(
    position: float, velocity: float, acceleration: float, jerk: float, time: float
) -> Motion:
    """Return the motion after a time of constant jerk."""
    return (
        position + time * (velocity + time * (0.5 * acceleration + time * jerk / 6.0)),
        velocity + time * (acceleration + 0.5 * time * jerk),
        acceleration + time * jerk,
    )


@kernel(
    "Tuple((f8, f8, f8))(Tuple((f8, f8, f8)), Tuple((f8, f8, f8, f8)), f8, f8)",
)
def moved_along(start: Motion, phases: Phases, wanted: float, time: float) -> Motion:
    """Return the motion after a time on the way to a velocity."""
    p, v, a = start
    jerk, rising, held, fading = phases
    if time <= rising:
        return moved(p, v, a, jerk, time)
    p, v, a = moved(p, v, a, jerk, rising)
    time -= rising
    if time <= held:
        return moved(p, v, a, 0.0, time)
    p, v, a = moved(p, v, a, 0.0, held)
    time -= held
    if time < fading:
        return moved(p, v, a, -jerk, time)
    p, v, a = moved(p, v, a, -jerk, fading)
    # Rounding must not leave a joint creeping.
    return p + (time - fading) * wanted, wanted, 0.0


@kernel("f8(f8, f8, f8, f8, f8)")
def rest_of(
    position: float, velocity: float, acceleration: float, largest: float, jerk: float
) -> float:
    """Return where a joint that brakes comes to rest [rad]."""
    if velocity == 0.0 and acceleration == 0.0:
        return position
    # The three phases of `phases_to`, added up, and mirrored so that the joint goes forward: this
    # is most of what a cycle computes.
    period = 1.0 / jerk
    faded = velocity + 0.5 * acceleration * abs(acceleration) * period
    sign = 1.0 if faded >= 0.0 else -1.0
    v, a = sign * velocity, sign * acceleration
    peak = math.sqrt(max(jerk * v + 0.5 * a * a, 0.0))
    held = 0.0
    if peak > largest:
        peak = max(largest, -a)
        held = max(v - (peak * peak - 0.5 * a * a) * period, 0.0) / peak
    rising = max(peak + a, 0.0) * period
    way = rising * (v + rising * (0.5 * a - jerk * rising / 6.0))
    way += held * (v + rising * (a - 0.5 * jerk * rising) - 0.5 * peak * held)
    return position + sign * (way + peak * peak * peak * period * period / 6.0)


@kernel("f8(Tuple((f8, f8, f8, f8)), f8)")
def jerk_at(phases: Phases, time: float) -> float:
    """Return the jerk at a time on the way to a velocity."""
    jerk, rising, held, fading = phases
    if time < rising:
        return jerk
    return -jerk if rising + held <= time < rising + held + fading else 0.0


@kernel("f8(f8, f8, f8, f8, f8)")
def rest_slope(
    velocity: float, acceleration: float, change: float, largest: float, jerk: float
) -> float:
    """Return how fast the place of rest moves [rad/s] while the acceleration changes by `change`.

    It stays while the joint brakes, so only the difference from the jerk of braking moves it.
    """
    signed, rising, held, fading = phases_to(velocity, acceleration, 0.0, largest, jerk)
    start, peak = -acceleration if signed > 0.0 else acceleration, fading * jerk
    if held > 0.0:
        ahead = abs(velocity) if signed * velocity < 0.0 else -abs(velocity)
        left = ahead + rising * (start - 0.5 * jerk * rising)
        per_change = 0.5 * rising * rising + (left + start * (held + 0.5 * fading)) / jerk
    else:
        per_change = 0.5 * (start + peak) * (start + 2.0 * peak) / (jerk * jerk)
    return per_change * (change - signed)


@kernel("Tuple((f8, f8, f8))(Tuple((f8, f8, f8)), f8, f8, f8, f8)")
def braked_for(start: Motion, largest: float, jerk: float, time: float, end: float) -> Motion:
    """Return the motion after a time of braking; at rest it is at `end` if that is all but so."""
    p, v, a = start
    if v == 0.0 and a == 0.0:
        return start
    p, v, a = moved_along(start, phases_to(v, a, 0.0, largest, jerk), 0.0, time)
    if v == 0.0 and a == 0.0 and abs(p - end) < AT_AIM:
        p = end
    return p, v, a


@kernel("Tuple((f8, f8, f8))(Tuple((f8, f8, f8)), f8, f8, f8, f8, f8)")
def stepped(
    start: Motion, aim: float, speed: float, largest: float, jerk: float, step: float
) -> Motion:
    """Return the motion after one step of the fastest way to rest at `aim`."""
    p, v, a = start
    short = aim - rest_of(p, v, a, largest, jerk)
    if v == 0.0 and a == 0.0 and abs(short) < AT_AIM:
        return start
    sign = math.copysign(1.0, short)
    wanted = sign * speed
    phases = phases_to(v, a, wanted, largest, jerk)
    ahead = moved_along(start, phases, wanted, step)
    left = sign * (aim - rest_of(ahead[0], ahead[1], ahead[2], largest, jerk))
    if left >= 0.0:
        return ahead
    # What is left to the aim when braking begins at a time falls from one end of the step to the
    # other through zero: Newton's search, kept between the ends.
    low, high = 0.0, step
    time = step * abs(short) / (abs(short) - left)
    for _ in range(MOST_ROUNDS):
        ahead = moved_along(start, phases, wanted, time)
        left = sign * (aim - rest_of(ahead[0], ahead[1], ahead[2], largest, jerk))
        if abs(left) <= EXACT or high - low <= SHORTEST:
            break
        if left > 0.0:
            low = time
        else:
            high = time
        change = jerk_at(phases, time)
        slope = sign * rest_slope(ahead[1], ahead[2], change, largest, jerk)
        time = time + left / slope if slope > 0.0 else high
        if not low < time < high:
            time = 0.5 * (low + high)
    return braked_for(ahead, largest, jerk, step - time, aim)


@kernel("void(f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8, f8[:, ::1])")
def follow(
    motion: Array, limits: Array, aims: Array, speeds: Array, step: float, out: Array
) -> None:
    """Write the motions after one step of the fastest ways to rest at their aims.

    Args:
        motion: Present motions, shape (3, N).
        limits: Largest accelerations and jerks, shape (2, N).
        aims: Where each joint shall come to rest [rad], shape (N,).
        speeds: Largest speeds [rad/s], shape (N,).
        step: Duration of the step in [s].
        out: Motions after it, shape (3, N).
    """
    for n in range(aims.size):
        start = (motion[0, n], motion[1, n], motion[2, n])
        out[0, n], out[1, n], out[2, n] = stepped(
            start, aims[n], speeds[n], limits[0, n], limits[1, n], step
        )


@kernel("void(f8[:, ::1], f8[:, ::1], f8, f8[:, ::1])")
def brake(motion: Array, limits: Array, step: float, out: Array) -> None:
    """Write the motions after every joint has braked for a step of `step` [s]."""
    for n in range(motion.shape[1]):
        p, v, a = motion[0, n], motion[1, n], motion[2, n]
        largest, jerk = limits[0, n], limits[1, n]
        rest = rest_of(p, v, a, largest, jerk)
        out[0, n], out[1, n], out[2, n] = braked_for((p, v, a), largest, jerk, step, rest)


@kernel("void(f8[:, ::1], f8[:, ::1], f8[::1])")
def rest(motion: Array, limits: Array, out: Array) -> None:
    """Write where joints that brake come to rest [rad], shape (N,)."""
    for n in range(motion.shape[1]):
        out[n] = rest_of(motion[0, n], motion[1, n], motion[2, n], limits[0, n], limits[1, n])


@kernel("void(f8[:, ::1], f8[:, ::1], f8, f8[::1])")
def braking_pose(motion: Array, limits: Array, share: float, out: Array) -> None:
    """Write where joints are after a part of the time in which all of them come to rest."""
    longest = 0.0
    for n in range(motion.shape[1]):
        v, a = motion[1, n], motion[2, n]
        if v != 0.0 or a != 0.0:
            phases = phases_to(v, a, 0.0, limits[0, n], limits[1, n])
            longest = max(longest, phases[1] + phases[2] + phases[3])
    for n in range(motion.shape[1]):
        start = (motion[0, n], motion[1, n], motion[2, n])
        largest, jerk = limits[0, n], limits[1, n]
        end = rest_of(start[0], start[1], start[2], largest, jerk)
        out[n] = braked_for(start, largest, jerk, share * longest, end)[0]


@kernel("Tuple((f8, f8))(f8, f8, f8, f8, f8)")
def rest_and_excursion(
    position: float, velocity: float, acceleration: float, largest: float, jerk: float
) -> tuple[float, float]:
    """Return where braking ends, and a bound of how far it leads out of the way there [rad].

    Only a joint that turns round while it brakes leaves that way: its acceleration is so large
    that it outlasts the speed, by at most the time in which the acceleration fades.
    """
    turns_round = (velocity + 0.5 * acceleration * abs(acceleration) / jerk) * velocity < 0.0
    excursion = abs(velocity) * largest / jerk if turns_round else 0.0
    return rest_of(position, velocity, acceleration, largest, jerk), excursion


@kernel("void(f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def way_to_rest(motion: Array, limits: Array, out: Array) -> None:
    """Write where braking begins and ends, and how far it leads out of the way between [rad].

    Args:
        motion: Present motions, shape (3, N).
        limits: Largest accelerations and jerks, shape (2, N).
        out: Positions, places of rest, and a bound of the excursions [rad], shape (3, N).
    """
    for n in range(motion.shape[1]):
        out[0, n] = motion[0, n]
        out[1, n], out[2, n] = rest_and_excursion(
            motion[0, n], motion[1, n], motion[2, n], limits[0, n], limits[1, n]
        )


@kernel("b1(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def take_wishes(given: Array, ranges: Array, motion: Array, beyond: Array) -> bool:
    """Bring the estimated motion of the commands up to date with new ones.

    Args:
        given: Commanded positions [rad], shares of the new in the estimate and rates [1/s] of
            each joint, shape (3, N); share and rate are zero where there is no new command.
        ranges: Lower and upper limits of positions, largest speeds and accelerations, (4, N).
        motion: The estimate so far, and then the new one, shape (3, N).
        beyond: How far commands were outside their limits [rad], shape (1, N).

    Returns:
        Whether any command was outside its limits.
    """
    is_beyond = False
    for n in range(motion.shape[1]):
        raw, share, rate = given[0, n], given[1, n], given[2, n]
        position = min(max(raw, ranges[0, n]), ranges[1, n])
        beyond[0, n] = raw - position
        is_beyond = is_beyond or raw != position
        speed = min(max((position - motion[0, n]) * rate, -ranges[2, n]), ranges[2, n])
        change = (speed - motion[1, n]) * share
        largest = min(max(change * rate, -ranges[3, n]), ranges[3, n])
        motion[0, n] = position
        motion[1, n] += change
        motion[2, n] += (largest - motion[2, n]) * share
    return is_beyond


@kernel(
    "Tuple((b1, b1, f8))(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1],"
    " b1[::1], f8, f8[:, :, ::1])",
)
def pursue(
    motion: Array,
    limits: Array,
    given: Array,
    ranges: Array,
    wishes: Array,
    aims: Array,
    holding: NDArray[np.bool_],
    step: float,
    out: Array,
) -> tuple[bool, bool, float]:
    """Write the motions after one step in which joints follow their commands, or brake and hold.

    Args:
        motion: Present motions, shape (3, N).
        limits: Largest accelerations, jerks and speeds, shape (3, N).
        given: What `take_wishes` takes, and how long the commands go on before they brake [s],
            shape (4, N).
        ranges: What `take_wishes` takes, and the lowest and highest aims [rad], shape (6, N).
        wishes: The estimated motion of the commands, brought up to date, shape (3, N).
        aims: Written: where the commands would come to rest, the same within the allowed range,
            and how far they were outside their limits [rad], shape (3, N).
        holding: Whether each joint brakes rather than follows, shape (N,).
        step: Duration of the step in [s].
        out: Written: the motions after it, and their ways to rest as of `way_to_rest`, shape
            (2, 3, N).

    Returns:
        Whether any command was outside its limits, whether a joint that holds still moves, and
        the sum of the squares of the distances of all that follow from their commands [rad^2].
    """
    is_beyond = take_wishes(given, ranges, wishes, aims[2:])
    is_moving, behind = False, 0.0
    for n in range(holding.size):
        largest, jerk = limits[0, n], limits[1, n]
        p, v, a = wishes[0, n], wishes[1, n], wishes[2, n]
        place = rest_of(p, v, a, largest, jerk) + v * given[3, n]
        aims[0, n] = place
        aims[1, n] = min(max(place, ranges[4, n]), ranges[5, n])
        start = (motion[0, n], motion[1, n], motion[2, n])
        if holding[n]:
            end = rest_of(start[0], start[1], start[2], largest, jerk)
            p, v, a = braked_for(start, largest, jerk, step, end)
            is_moving = is_moving or v != 0.0 or a != 0.0
        else:
            p, v, a = stepped(start, aims[1, n], limits[2, n], largest, jerk, step)
            behind += (wishes[0, n] - p) * (wishes[0, n] - p)
        out[0, 0, n], out[0, 1, n], out[0, 2, n] = p, v, a
        out[1, 0, n] = p
        out[1, 1, n], out[1, 2, n] = rest_and_excursion(p, v, a, largest, jerk)
    return is_beyond, is_moving, behind
