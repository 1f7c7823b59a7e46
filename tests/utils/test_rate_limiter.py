# SPDX-License-Identifier: Apache-2.0
"""The rate limiter against an oracle that only sees the positions it emits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from teleop_system.utils.filters import RateLimiter

VELOCITY, ACCELERATION, JERK = 3.0, 10.0, 100.0

# Differences of positions of size 1 lose digits in proportion to 1/dt³.
TOLERANCE = 1e-6


def worst(positions: list[float], steps: list[float]) -> tuple[float, float, float]:
    """Return the largest speed, acceleration and jerk of a motion that begins at rest."""
    dt = np.array(steps)
    velocity = np.diff(positions) / dt
    acceleration = np.diff(velocity, prepend=0.0) / dt
    jerk = np.diff(acceleration, prepend=0.0) / dt
    return tuple(float(np.abs(series).max()) for series in (velocity, acceleration, jerk))


def run(
    limiter: RateLimiter, targets: NDArray[np.float64], steps: NDArray[np.float64]
) -> list[float]:
    positions = [limiter.position]
    for target, dt in zip(targets.tolist(), steps.tolist(), strict=True):
        positions.append(limiter.update(target, dt))
    return positions


@pytest.mark.parametrize("jerk", [None, JERK])
@pytest.mark.parametrize("hold", [1, 7, 150])
@pytest.mark.parametrize("is_even", [True, False], ids=["even", "uneven"])
def test_no_limit_is_ever_exceeded(jerk: float | None, hold: int, is_even: bool) -> None:
    rng = np.random.default_rng(hold)
    count = 2000
    targets = np.repeat(rng.uniform(-2.0, 2.0, count // hold + 1), hold)[:count]
    steps = np.full(count, 0.01) if is_even else 10.0 ** rng.uniform(-2.5, -0.5, count)
    positions = run(RateLimiter(VELOCITY, ACCELERATION, jerk), targets, steps)
    speed, acceleration, change = worst(positions, steps.tolist())
    assert speed <= VELOCITY * (1.0 + TOLERANCE)
    assert acceleration <= ACCELERATION * (1.0 + TOLERANCE)
    if jerk is not None:
        assert change <= jerk * (1.0 + TOLERANCE)


@pytest.mark.parametrize("jerk", [None, JERK])
@pytest.mark.parametrize("dt", [0.002, 0.01, 1.0 / 30.0])
@pytest.mark.parametrize("way", [2.0, -0.1, 1e-3, -1e-6])
def test_a_fixed_target_is_reached_exactly_and_never_overshot(
    jerk: float | None, dt: float, way: float
) -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION, jerk)
    positions = [limiter.update(way, dt) for _ in range(int(2.0 / dt))]
    assert positions[-1] == way
    assert max(position * math.copysign(1.0, way) for position in positions) <= abs(way)
    assert limiter.velocity == 0.0


def test_a_long_way_takes_about_the_least_time() -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION, JERK)
    dt, ticks = 0.005, 0
    while limiter.position != 3.0:
        limiter.update(3.0, dt)
        ticks += 1
    # Way over speed, and one ramp of jerk and acceleration limited speed.
    least = 3.0 / VELOCITY + VELOCITY / ACCELERATION + ACCELERATION / JERK
    assert least - dt <= ticks * dt <= 1.05 * least


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-9.0, 9.0), st.floats(-9.0, 9.0), st.floats(1e-3, 0.3), st.integers(1, 40)
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([None, JERK]),
)
def test_bounds_hold_whatever_is_asked_for(
    wishes: list[tuple[float, float, float, int]], jerk: float | None
) -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION, jerk, lower=-1.0, upper=1.0)
    positions, steps = [0.0], []
    for target, pace, dt, ticks in wishes:
        for _ in range(ticks):
            positions.append(limiter.update(target, dt, target_velocity=pace))
            steps.append(dt)
    assert np.abs(positions).max() <= 1.0 + 1e-9
    speed, acceleration, change = worst(positions, steps)
    assert speed <= VELOCITY * (1.0 + TOLERANCE)
    assert acceleration <= ACCELERATION * (1.0 + 1e-5)
    assert jerk is None or change <= jerk * (1.0 + 1e-4)


def test_knowing_the_pace_of_a_target_removes_the_lag() -> None:
    blind, told = (RateLimiter(VELOCITY, ACCELERATION, JERK) for _ in range(2))
    for tick in range(300):
        target = 1.0 * tick * 0.01
        blind.update(target, 0.01)
        told.update(target, 0.01, target_velocity=1.0)
    assert target - blind.position > 0.05
    assert abs(target - told.position) < 1e-6


def test_halting_ends_at_the_stopping_point() -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION, JERK)
    for _ in range(40):
        limiter.update(9.0, 0.01)
    end = limiter.stopping_point
    for _ in range(100):
        limiter.halt(0.01)
    assert limiter.velocity == 0.0
    assert limiter.position == pytest.approx(end, abs=1e-6)


def test_a_lowered_speed_limit_is_met_as_soon_as_acceleration_allows() -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION)
    for _ in range(50):
        limiter.update(99.0, 0.01)
    assert limiter.velocity == pytest.approx(VELOCITY)
    for _ in range(20):
        limiter.update(99.0, 0.01, velocity=1.0)
    assert limiter.velocity == pytest.approx(1.0)


@pytest.mark.parametrize("jerk", [None, JERK])
def test_elements_of_an_array_move_as_they_would_alone(jerk: float | None) -> None:
    rng = np.random.default_rng(5)
    velocity, acceleration = rng.uniform(1.0, 4.0, 5), rng.uniform(5.0, 20.0, 5)
    together = RateLimiter(velocity, acceleration, jerk)
    together.reset(np.zeros(5))
    alone = [
        RateLimiter(float(v), float(a), jerk) for v, a in zip(velocity, acceleration, strict=True)
    ]
    for tick in range(300):
        if tick % 30 == 0:
            target = rng.uniform(-1.0, 1.0, 5)
        positions = together.update(target, 0.01)
        singles = [a.update(float(t), 0.01) for a, t in zip(alone, target, strict=True)]
        np.testing.assert_allclose(positions, singles, atol=1e-9)


@pytest.mark.parametrize("target", [math.nan, math.inf, -math.inf])
def test_a_target_that_is_no_number_brings_the_motion_to_rest(target: float) -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION, JERK)
    for _ in range(30):
        limiter.update(1.0, 0.01)
    for _ in range(100):
        limiter.update(target, 0.01, target_velocity=target)
    assert limiter.velocity == 0.0
    assert 0.0 < limiter.position < 1.5


@pytest.mark.parametrize("dt", [0.0, -0.01, math.nan])
def test_without_time_nothing_moves(dt: float) -> None:
    limiter = RateLimiter(VELOCITY, ACCELERATION)
    limiter.update(1.0, 0.01)
    before = limiter.position
    assert limiter.update(1.0, dt) == before
