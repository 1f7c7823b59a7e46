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

**The instant.** While a joint speeds up with jerk `j`, `c = j v - a² / 2` stays the same. If it
begins to brake at an acceleration `x`, its deceleration peaks at `q` with `q² = x² + c`. All
phases added up, it comes to rest after a way `w` with
`j² w + a (c + a² / 6) = (q + x) (c + q x)`. Where `q` exceeds the largest acceleration `l`, which
is then held, the right side is `q² (q² + l²) / (2 l) + x (q² + c)` instead. It is convex in `x`,
also where one passes into the other.

Motions of all joints, shape (5, N), are rows of positions, velocities, accelerations, places of
rest, and bounds of how far braking leads out of the way there; limits, shape (2, N), of largest
accelerations and jerks.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Limits = tuple[float, float, float]
"""Largest acceleration and jerk of a joint, and 1 / jerk, which is needed more often."""
Motion = tuple[float, float, float]
Phases = tuple[float, float, float, float]
Braking = tuple[Phases, float, float]

EXACT = 1e-14
"""How near to its aim [rad] a joint is planned to rest."""
SHORTEST = 1e-15
"""Length [s] of a bracket that needs no further search."""
AT_AIM = 1e-12
"""A joint at rest this near to its aim [rad] is there."""
ROUNDING = 2e-15
"""Part of the terms of a sum by which rounding may change it."""
MOST_ROUNDS = 100
"""Bound of the search, which mostly ends after one round or two."""
SIXTH = 1.0 / 6.0


@kernel("Tuple((f8, f8, f8))(f8[:, ::1], i8)")
def limits_of(limits: Array, joint: int) -> Limits:
    """Return the limits of one joint."""
    return limits[0, joint], limits[1, joint], 1.0 / limits[1, joint]


@kernel("Tuple((f8, f8, f8, f8))(f8, f8, f8, Tuple((f8, f8, f8)))")
def phases_to(velocity: float, acceleration: float, wanted: float, limits: Limits) -> Phases:
    """Return the jerk, with its sign, and the three durations of the way to a velocity."""
    largest, jerk, per_jerk = limits
    faded = velocity + 0.5 * acceleration * abs(acceleration) * per_jerk
    if faded == wanted:
        # Nothing to do but to let the acceleration fade.
        return math.copysign(jerk, acceleration), 0.0, 0.0, abs(acceleration) * per_jerk
    sign = 1.0 if faded < wanted else -1.0
    start, gap = sign * acceleration, sign * (wanted - velocity)
    peak = math.sqrt(max(jerk * gap + 0.5 * start * start, 0.0))
    held = 0.0
    if peak > largest:
        peak = max(largest, start)
        held = max(gap - (peak * peak - 0.5 * start * start) * per_jerk, 0.0) / peak
    return sign * jerk, max(peak - start, 0.0) * per_jerk, held, peak * per_jerk


@kernel("Tuple((f8, f8, f8))(f8, f8, f8, f8, f8)")
def moved(
    position: float, velocity: float, acceleration: float, jerk: float, time: float
) -> Motion:
    """Return the motion after a time of constant jerk."""
    return (
        position + time * (velocity + time * (0.5 * acceleration + time * jerk * SIXTH)),
        velocity + time * (acceleration + 0.5 * time * jerk),
        acceleration + time * jerk,
    )


@kernel("Tuple((f8, f8, f8))(Tuple((f8, f8, f8)), Tuple((f8, f8, f8, f8)), f8, f8)")
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


@kernel("Tuple((Tuple((f8, f8, f8, f8)), f8, f8))(f8, f8, Tuple((f8, f8, f8)))")
def braking_of(velocity: float, acceleration: float, limits: Limits) -> Braking:
    """Return how a joint brakes: this is most of what a cycle computes.

    Returns:
        Its phases, as `phases_to` velocity zero gives them; how far they lead [rad]; and how fast
        the place of rest moves [rad/s] for every unit by which the jerk differs from theirs.
    """
    # Mirrored, so that the joint goes forward.
    largest, jerk, per_jerk = limits
    sign = 1.0 if velocity + 0.5 * acceleration * abs(acceleration) * per_jerk >= 0.0 else -1.0
    v, a = sign * velocity, sign * acceleration
    peak, held = math.sqrt(max(jerk * v + 0.5 * a * a, 0.0)), 0.0
    if peak > largest:
        peak = max(largest, -a)
        held = max(v - (peak * peak - 0.5 * a * a) * per_jerk, 0.0) / peak
    rising, fading = max(peak + a, 0.0) * per_jerk, peak * per_jerk
    way = (
        rising * (v + rising * (0.5 * a - jerk * rising * SIXTH)) + SIXTH * peak * fading * fading
    )
    if held > 0.0:
        left = v + rising * (a - 0.5 * jerk * rising)
        way += held * (left - 0.5 * peak * held)
        slope = 0.5 * rising * rising + (left + a * (held + 0.5 * fading)) * per_jerk
    else:
        slope = 0.5 * (a + peak) * (a + 2.0 * peak) * per_jerk * per_jerk
    return (-sign * jerk, rising, held, fading), sign * way, slope


@kernel("f8(f8, f8, f8, Tuple((f8, f8, f8)))")
def rest_of(position: float, velocity: float, acceleration: float, limits: Limits) -> float:
    """Return where a joint that brakes comes to rest [rad]."""
    return position + braking_of(velocity, acceleration, limits)[1]


@kernel("f8(Tuple((f8, f8, f8, f8)), f8)")
def jerk_at(phases: Phases, time: float) -> float:
    """Return the jerk at a time on the way to a velocity."""
    jerk, rising, held, fading = phases
    if time < rising:
        return jerk
    return -jerk if rising + held <= time < rising + held + fading else 0.0


@kernel("Tuple((f8, f8, f8))(Tuple((f8, f8, f8)), Tuple((f8, f8, f8, f8)), f8, f8)")
def braked_for(start: Motion, phases: Phases, time: float, end: float) -> Motion:
    """Return the motion after a time of braking; at rest it is at `end` if that is all but so."""
    p, v, a = start
    if v == 0.0 and a == 0.0:
        return start
    p, v, a = moved_along(start, phases, 0.0, time)
    if v == 0.0 and a == 0.0 and abs(p - end) < AT_AIM:
        p = end
    return p, v, a


@kernel("Tuple((f8, f8))(f8, f8, f8, Tuple((f8, f8, f8)), f8)")
def speeding_up(
    velocity: float, acceleration: float, way: float, limits: Limits, step: float
) -> tuple[float, float]:
    """Return for how long of a step [s] a joint speeds up before it brakes to rest after `way`.

    Args:
        velocity: Of the joint, positive in the direction in which the jerk acts [rad/s].
        acceleration: Likewise [rad/s^2].
        way: Where to come to rest, from here, likewise [rad].
        limits: Of the joint.
        step: Duration of the step, all of which the jerk lasts if the joint need not brake [s].

    Returns:
        That time, and how long the deceleration then grows [s].
    """
    largest, jerk, per_jerk = limits
    kept = jerk * velocity - 0.5 * acceleration * acceleration
    goal = jerk * jerk * way + acceleration * (kept + SIXTH * acceleration * acceleration)
    end = acceleration + jerk * step
    # A joint that keeps up with its command brakes for about half of every step.
    x = acceleration + 0.5 * jerk * step
    if kept < 0.0 and (x < 0.0 or x * x < -kept):
        if end < 0.0 or end * end < -kept:
            return step, 0.0  # It still goes the other way.
        x = end
    total = 0.0
    # Of ways that are long, rounding leaves less to be known.
    enough = max(EXACT * jerk * jerk, ROUNDING * (abs(goal) + abs(acceleration * kept)))
    # Newton's search: after its first step, it never passes the zero of a convex function.
    for _ in range(MOST_ROUNDS):
        squared = max(x * x + kept, 0.0)
        if squared <= largest * largest:
            peak = math.sqrt(squared)
            total = peak + x
            over, slope = total * (kept + peak * x) - goal, total * (total + peak)
        else:
            peak, more = largest, squared + largest * largest
            total = peak + x
            over = 0.5 * squared * more / largest + x * (squared + kept) - goal
            slope = x * (squared + more) / largest + 3.0 * x * x + 2.0 * kept
        if abs(over) <= enough:
            break
        if over < 0.0 and x >= end:
            return step, 0.0
        x = min(x - over / slope, end) if slope > 0.0 else end
        total = min(math.sqrt(max(x * x + kept, 0.0)), largest) + x
    return min(max(x - acceleration, 0.0) * per_jerk, step), total * per_jerk


@kernel(
    "f8(Tuple((f8, f8, f8)), Tuple((f8, f8, f8, f8)), f8, f8, Tuple((f8, f8, f8)), f8)",
)
def going_on(
    start: Motion, phases: Phases, wanted: float, aim: float, limits: Limits, step: float
) -> float:
    """Return for how long of a step [s] a joint goes on to a velocity before it has to brake."""
    sign = math.copysign(1.0, wanted)
    low, high, time = 0.0, step, step
    # What is left to the aim when braking begins at a time falls from one end of the step to the
    # other through zero, if at all: Newton's search, kept between the ends.
    for turn in range(MOST_ROUNDS):
        p, v, a = moved_along(start, phases, wanted, time)
        braking, way, gain = braking_of(v, a, limits)
        left = sign * (aim - (p + way))
        if abs(left) <= EXACT or high - low <= SHORTEST or (left > 0.0 and turn == 0):
            break
        if left > 0.0:
            low = time
        else:
            high = time
        slope = sign * gain * (jerk_at(phases, time) - braking[0])
        time = time + left / slope if slope > 0.0 else low
        if not low < time < high:
            time = 0.5 * (low + high)
    return time


@kernel("Tuple((f8, f8, f8, f8))(Tuple((f8, f8, f8)), f8, f8, f8, Tuple((f8, f8, f8)), f8)")
def stepped(
    start: Motion, rest: float, aim: float, speed: float, limits: Limits, step: float
) -> tuple[float, float, float, float]:
    """Return the motion after one step of the fastest way to rest at `aim`, and its rest.

    Args:
        start: The motion.
        rest: Where it would come to rest [rad].
        aim: Where it shall [rad].
        speed: Largest speed [rad/s].
        limits: Of the joint.
        step: Duration of the step in [s].
    """
    p, v, a = start
    if v == 0.0 and a == 0.0 and abs(aim - rest) < AT_AIM:
        return p, v, a, rest
    largest, jerk, per_jerk = limits
    sign = math.copysign(1.0, aim - rest)
    v, a = sign * v, sign * a
    end = a + jerk * step
    if end <= largest and v + 0.5 * (step * (a + end) + end * abs(end) * per_jerk) <= speed:
        # It may speed up all the step, as in nearly all cases.
        time, rising = speeding_up(v, a, sign * (aim - p), limits, step)
        p, v, a = moved(start[0], start[1], start[2], sign * jerk, time)
        if time < step <= time + rising:
            p, v, a = moved(p, v, a, -sign * jerk, step - time)
            return p, v, a, aim
    else:
        wanted = sign * speed
        phases = phases_to(start[1], start[2], wanted, limits)
        time = going_on(start, phases, wanted, aim, limits, step)
        p, v, a = moved_along(start, phases, wanted, time)
    braking, way, _ = braking_of(v, a, limits)
    rest = p + way
    if time < step:
        p, v, a = braked_for((p, v, a), braking, step - time, aim)
    return p, v, a, rest


@kernel("f8(f8, f8, Tuple((f8, f8, f8)))")
def excursion_of(velocity: float, acceleration: float, limits: Limits) -> float:
    """Return a bound of how far braking leads out of the way to its end [rad].

    Only a joint that turns round while it brakes leaves that way: its acceleration is so large
    that it outlasts the speed, by at most the time in which the acceleration fades.
    """
    largest, _, per_jerk = limits
    faded = velocity + 0.5 * acceleration * abs(acceleration) * per_jerk
    return abs(velocity) * largest * per_jerk if faded * velocity < 0.0 else 0.0


@kernel("void(f8[:, ::1], i8, f8, f8, f8, f8, Tuple((f8, f8, f8)))")
def write_motion(
    out: Array, n: int, p: float, v: float, a: float, rest: float, limits: Limits
) -> None:
    """Write one joint's column of the motions."""
    out[0, n], out[1, n], out[2, n] = p, v, a
    # What rests is where it is, to the last bit.
    out[3, n] = p if v == 0.0 and a == 0.0 else rest
    out[4, n] = excursion_of(v, a, limits)


@kernel("void(f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8, f8[:, ::1])")
def follow(
    motion: Array, limits: Array, aims: Array, speeds: Array, step: float, out: Array
) -> None:
    """Write the motions after one step of the fastest ways to rest at their aims.

    Args:
        motion: Present motions, shape (5, N).
        limits: Largest accelerations and jerks, shape (2, N).
        aims: Where each joint shall come to rest [rad], shape (N,).
        speeds: Largest speeds [rad/s], shape (N,).
        step: Duration of the step in [s].
        out: Motions after it, shape (5, N).
    """
    for n in range(aims.size):
        each = limits_of(limits, n)
        start = (motion[0, n], motion[1, n], motion[2, n])
        p, v, a, rest = stepped(start, motion[3, n], aims[n], speeds[n], each, step)
        write_motion(out, n, p, v, a, rest, each)


@kernel("void(f8[:, ::1], f8[:, ::1], f8, f8[:, ::1])")
def brake(motion: Array, limits: Array, step: float, out: Array) -> None:
    """Write the motions after every joint has braked for a step of `step` [s]."""
    for n in range(motion.shape[1]):
        each = limits_of(limits, n)
        p, v, a = motion[0, n], motion[1, n], motion[2, n]
        braking, way, _ = braking_of(v, a, each)
        rest = p + way
        p, v, a = braked_for((p, v, a), braking, step, rest)
        write_motion(out, n, p, v, a, rest, each)


@kernel("void(f8[:, ::1], f8[:, ::1], f8, f8[::1])")
def braking_pose(motion: Array, limits: Array, share: float, out: Array) -> None:
    """Write where joints are after a part of the time in which all of them come to rest."""
    longest = 0.0
    for n in range(motion.shape[1]):
        phases = braking_of(motion[1, n], motion[2, n], limits_of(limits, n))[0]
        longest = max(longest, phases[1] + phases[2] + phases[3])
    for n in range(motion.shape[1]):
        p, v, a = motion[0, n], motion[1, n], motion[2, n]
        phases, way, _ = braking_of(v, a, limits_of(limits, n))
        out[n] = braked_for((p, v, a), phases, share * longest, p + way)[0]


@kernel("void(f8[:, ::1], f8[:, ::1])")
def find_rest(motion: Array, limits: Array) -> None:
    """Write the last two rows of motions from the first three."""
    for n in range(motion.shape[1]):
        each = limits_of(limits, n)
        p, v, a = motion[0, n], motion[1, n], motion[2, n]
        motion[3, n], motion[4, n] = rest_of(p, v, a, each), excursion_of(v, a, each)
