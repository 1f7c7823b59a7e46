# SPDX-License-Identifier: Apache-2.0
"""The arithmetic behind `RateLimiter`: one step of one motion, and of many."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Motion = tuple[float, float, float]

MOST_ROUNDS = 10
CLOSE = 1e-13
"""Distance between stopping point and target that counts as none."""


@kernel("f8(f8, f8, f8)")
def clip(value: float, low: float, high: float) -> float:
    """Return a value, or the end of the range that it is beyond."""
    return min(max(value, low), high)


@kernel("f8(f8, f8, f8)")
def approach(way: float, dt: float, braking: float) -> float:
    """Return the speed at which one step and a full braking after it cover the way exactly."""
    # The positive root of v dt + v²/(2 b) = way, in a form that keeps its digits near zero.
    distance = abs(way)
    speed = 2.0 * distance / (dt + math.sqrt(dt * dt + 2.0 * distance / braking))
    return math.copysign(speed, way)


@kernel("f8(f8, f8, f8, f8)")
def stopping_distance(velocity: float, acceleration: float, largest: float, jerk: float) -> float:
    """Return how far the motion still goes when brought to rest in the least time."""
    if jerk == math.inf:
        return velocity * abs(velocity) / (2.0 * largest)
    # Mirrored so that the speed left when the acceleration has faded out is positive.
    onward = velocity + acceleration * abs(acceleration) / (2.0 * jerk)
    sign = math.copysign(1.0, onward)
    v, a = sign * velocity, sign * acceleration
    peak_squared = max(jerk * v + 0.5 * a * a, 0.0)
    peak = min(largest, math.sqrt(peak_squared))
    fading = (a + peak) / jerk
    steady = max(peak_squared / largest - largest, 0.0) / jerk
    first = fading * (v + fading * (0.5 * a - jerk * fading / 6.0))
    second = 0.5 * steady * largest * (largest / jerk + steady)
    return sign * (first + second + peak * peak * peak / (6.0 * jerk * jerk))


@kernel("Tuple((f8, b1))(f8, f8, f8, f8, f8, f8)")
def direct_step(
    velocity: float, way: float, dt: float, speed: float, largest: float, smallest: float
) -> tuple[float, bool]:
    """Return the speed of this step, and whether it ends on the target; jerk is free."""
    change = largest * dt
    low, high = velocity - change, velocity + change
    direct = way / dt
    if abs(direct) <= largest * smallest and low <= direct <= high and abs(direct) <= speed:
        return direct, True
    return clip(clip(approach(way, dt, largest), -speed, speed), low, high), False


@kernel("f8(f8, f8, f8, f8, f8, f8)")
def beyond(
    acceleration: float, velocity: float, way: float, dt: float, largest: float, jerk: float
) -> float:
    """Return how far past the target the motion would come to rest with an acceleration."""
    speed = velocity + acceleration * dt
    return speed * dt + stopping_distance(speed, acceleration, largest, jerk) - way


@kernel("f8(f8, f8, f8, f8, f8, f8, f8)")
def steer(
    velocity: float, way: float, dt: float, low: float, high: float, largest: float, jerk: float
) -> float:
    """Return the acceleration in a range with which the motion rests at, or nearest to, a way."""
    above = beyond(high, velocity, way, dt, largest, jerk)
    if above <= 0.0:
        return high
    below = beyond(low, velocity, way, dt, largest, jerk)
    if below >= 0.0:
        return low
    guess, stayed = low, 0
    for _ in range(MOST_ROUNDS):
        guess = clip(low + (high - low) * below / (below - above), low, high)
        value = beyond(guess, velocity, way, dt, largest, jerk)
        if abs(value) <= CLOSE:
            break
        # An end that stays twice counts half (Illinois), or the steps would stall at it.
        if value <= 0.0:
            low, below = guess, value
            above *= 0.5 if stayed == 1 else 1.0
            stayed = 1
        else:
            high, above = guess, value
            below *= 0.5 if stayed == -1 else 1.0
            stayed = -1
    return guess


@kernel("Tuple((f8, b1))(f8, f8, f8, f8, f8, f8, f8, f8)")
def jerk_step(
    velocity: float,
    acceleration: float,
    way: float,
    dt: float,
    speed: float,
    largest: float,
    jerk: float,
    smallest: float,
) -> tuple[float, bool]:
    """Return the speed of this step, and whether it ends on the target."""
    # Steering the speed's own stopping point keeps it from overshooting the speed limit.
    low = max(-largest, approach(-speed - velocity, dt, jerk))
    high = min(largest, approach(speed - velocity, dt, jerk))
    least, most = acceleration - jerk * dt, acceleration + jerk * dt
    low, high = clip(low, least, most), clip(high, least, most)
    direct = way / dt
    change = (direct - velocity) / dt
    # What is left over can be taken off within the next two steps.
    rest = 0.25 * jerk * smallest
    if abs(direct) <= rest * smallest and abs(change) <= rest and low <= change <= high:
        return direct, True
    return velocity + steer(velocity, way, dt, low, high, largest, jerk) * dt, False


@kernel("Tuple((f8, f8, f8))(Tuple((f8, f8, f8)), f8, f8, f8, f8, f8, f8, f8, f8, f8)")
def limited_step(
    motion: Motion,
    target: float,
    pace: float,
    dt: float,
    speed: float,
    largest: float,
    jerk: float,
    lower: float,
    upper: float,
    smallest: float,
) -> Motion:
    """Return position, velocity and acceleration one step later.

    Args:
        motion: The same of now.
        target: Where to go; where it is not finite the motion comes to rest.
        pace: Velocity of the target.
        dt: Duration of the step in [s].
        speed: Largest speed.
        largest: Largest acceleration.
        jerk: Largest jerk; infinite leaves it free.
        lower: Least position.
        upper: Greatest position.
        smallest: Shortest step time to be expected in [s].
    """
    position, velocity, acceleration = motion
    goal = target
    if pace != 0.0 and math.isfinite(pace):
        goal += stopping_distance(clip(pace, -speed, speed), 0.0, largest, jerk)
    if not math.isfinite(goal):
        goal = position + stopping_distance(velocity, acceleration, largest, jerk)
    goal = clip(goal, lower, upper)
    way = goal - position
    if jerk == math.inf:
        new, lands = direct_step(velocity, way, dt, speed, largest, smallest)
    else:
        new, lands = jerk_step(velocity, acceleration, way, dt, speed, largest, jerk, smallest)
    return (goal if lands else position + new * dt), new, (new - velocity) / dt


@kernel("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8, f8[:, ::1])")
def limited_steps(
    motions: Array, wishes: Array, limits: Array, dt: float, smallest: float, out: Array
) -> None:
    """Write the motions one step later.

    Args:
        motions: Positions, velocities and accelerations, shape (3, N).
        wishes: Targets, their velocities and the largest speeds of this step, shape (3, N).
        limits: Accelerations, jerks, least and greatest positions, shape (4, N).
        dt: Duration of the step in [s].
        smallest: Shortest step time to be expected in [s].
        out: The motions after it, shape (3, N).
    """
    for n in range(motions.shape[1]):
        out[0, n], out[1, n], out[2, n] = limited_step(
            (motions[0, n], motions[1, n], motions[2, n]),
            wishes[0, n],
            wishes[1, n],
            dt,
            wishes[2, n],
            limits[0, n],
            limits[1, n],
            limits[2, n],
            limits[3, n],
            smallest,
        )
