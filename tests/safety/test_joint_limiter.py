# SPDX-License-Identifier: Apache-2.0
"""The joint limiter against an oracle that only sees the positions it emits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from teleop_system.safety.joint_limiter import JointLimiter
from tests.rates import largest_rates

VELOCITY, ACCELERATION, JERK = 3.0, 10.0, 100.0
LIMITS = np.array([VELOCITY, ACCELERATION, JERK])

# Differences of positions of size 1 lose digits in proportion to 1/dt³.
TOLERANCE = 1e-6


def limiter_of(size: int = 1, **bounds: float) -> JointLimiter:
    return JointLimiter(size, VELOCITY, ACCELERATION, JERK, **bounds)


def run(limiter: JointLimiter, targets: NDArray[np.float64], steps: NDArray[np.float64]) -> list:
    return [0.0] + [
        float(limiter.update(target, dt)[0])
        for target, dt in zip(targets.tolist(), steps.tolist(), strict=True)
    ]


@pytest.mark.parametrize("hold", [1, 7, 150])
@pytest.mark.parametrize("is_even", [True, False], ids=["even", "uneven"])
def test_no_limit_is_ever_exceeded(hold: int, is_even: bool) -> None:
    rng = np.random.default_rng(hold)
    count = 2000
    targets = np.repeat(rng.uniform(-2.0, 2.0, count // hold + 1), hold)[:count]
    steps = np.full(count, 0.01) if is_even else 10.0 ** rng.uniform(-2.5, -0.5, count)
    positions = run(limiter_of(), targets, steps)
    assert (largest_rates(positions, steps) <= LIMITS * (1.0 + TOLERANCE)).all()


@pytest.mark.parametrize("dt", [0.002, 0.01, 1.0 / 30.0])
@pytest.mark.parametrize("distance", [2.0, -0.1, 1e-3, -1e-6])
def test_a_fixed_target_is_reached_exactly_and_never_overshot(dt: float, distance: float) -> None:
    limiter = limiter_of()
    positions = run(limiter, np.full(int(2.0 / dt), distance), np.full(int(2.0 / dt), dt))
    assert positions[-1] == distance
    reached = max(position * math.copysign(1.0, distance) for position in positions)
    assert reached <= abs(distance) + 1e-13  # Rounding of a sum.
    assert limiter.velocity[0] == 0.0


def test_a_long_distance_takes_about_the_least_time() -> None:
    limiter = limiter_of()
    dt, ticks = 0.005, 0
    while limiter.position[0] != 3.0:
        limiter.update(3.0, dt)
        ticks += 1
    # Distance over speed, and one ramp of jerk and acceleration limited speed.
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
    )
)
def test_bounds_hold_whatever_is_requested(
    requests: list[tuple[float, float, float, int]],
) -> None:
    limiter = limiter_of(lower=-1.0, upper=1.0)
    positions, steps = [0.0], []
    for target, velocity, dt, ticks in requests:
        for _ in range(ticks):
            positions.append(float(limiter.update(target, dt, target_velocity=velocity)[0]))
            steps.append(dt)
    assert np.abs(positions).max() <= 1.0 + 1e-9
    allowed = LIMITS * (1.0 + np.array([TOLERANCE, 1e-5, 1e-4]))
    assert (largest_rates(positions, steps) <= allowed).all()


def test_knowing_the_velocity_of_a_target_removes_the_lag() -> None:
    without, informed = limiter_of(), limiter_of()
    for tick in range(300):
        target = 1.0 * tick * 0.01
        without.update(target, 0.01)
        informed.update(target, 0.01, target_velocity=1.0)
    assert target - without.position[0] > 0.05
    # It speeds up and brakes within every step, which makes it lead by a quarter of a step.
    assert abs(target - informed.position[0]) < 0.25 * 0.01


def test_braking_ends_at_the_rest_position() -> None:
    limiter = limiter_of()
    for _ in range(40):
        limiter.update(9.0, 0.01)
    end = limiter.rest[0]
    for _ in range(100):
        limiter.brake(0.01)
    assert limiter.velocity[0] == 0.0
    assert limiter.position[0] == pytest.approx(end, abs=1e-6)


def test_a_lowered_speed_limit_is_met_as_soon_as_acceleration_allows() -> None:
    limiter = limiter_of()
    for _ in range(60):
        limiter.update(99.0, 0.01)
    assert limiter.velocity[0] == pytest.approx(VELOCITY)
    for _ in range(30):
        limiter.update(99.0, 0.01, max_speed=1.0)
    assert limiter.velocity[0] == pytest.approx(1.0)


def test_joints_move_as_they_would_alone() -> None:
    rng = np.random.default_rng(5)
    velocity, acceleration = rng.uniform(1.0, 4.0, 5), rng.uniform(5.0, 20.0, 5)
    together = JointLimiter(5, velocity, acceleration, JERK)
    alone = [
        JointLimiter(1, float(v), float(a), JERK)
        for v, a in zip(velocity, acceleration, strict=True)
    ]
    for tick in range(300):
        if tick % 30 == 0:
            target = rng.uniform(-1.0, 1.0, 5)
        positions = together.update(target, 0.01)
        singles = [a.update(t, 0.01)[0] for a, t in zip(alone, target, strict=True)]
        np.testing.assert_array_equal(positions, singles)


@pytest.mark.parametrize("target", [math.nan, math.inf, -math.inf])
def test_a_target_that_is_not_finite_brings_the_motion_to_rest(target: float) -> None:
    limiter = limiter_of()
    for _ in range(30):
        limiter.update(1.0, 0.01)
    for _ in range(100):
        limiter.update(target, 0.01, target_velocity=target)
    assert limiter.velocity[0] == 0.0
    assert 0.0 < limiter.position[0] < 1.5


@pytest.mark.parametrize("dt", [0.0, -0.01, math.nan])
def test_without_time_nothing_moves(dt: float) -> None:
    limiter = limiter_of()
    limiter.update(1.0, 0.01)
    before = limiter.position[0]
    assert limiter.update(1.0, dt)[0] == before
    assert limiter.brake(dt)[0] == before
