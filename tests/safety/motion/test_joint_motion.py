# SPDX-License-Identifier: Apache-2.0
"""Braking is what closed formulas say it is."""

import numpy as np
import pytest

from teleop_system.safety.motion.joint_motion import MotionLimits, MotionState

SIZE = 50


def stopping_distance(v: float, a: float, largest: float, jerk: float) -> float:
    """Return the braking distance, from the three phases of braking in the least time."""
    sign = 1.0 if v + a * abs(a) / (2.0 * jerk) >= 0.0 else -1.0
    v, a = sign * v, sign * a
    peak = min(largest, (jerk * v + 0.5 * a * a) ** 0.5)
    first, last = (a + peak) / jerk, peak / jerk
    v1 = v + a * first - 0.5 * jerk * first**2
    steady = max(0.0, (v1 - 0.5 * peak * last) / peak) if peak > 0.0 else 0.0
    v2 = v1 - peak * steady
    distance = v * first + 0.5 * a * first**2 - jerk * first**3 / 6.0
    distance += v1 * steady - 0.5 * peak * steady**2
    distance += v2 * last - 0.5 * peak * last**2 + jerk * last**3 / 6.0
    return sign * distance


def random_motion(seed: int) -> tuple[MotionLimits, MotionState]:
    random = np.random.default_rng(seed)
    largest = random.uniform(2.0, 50.0, SIZE)
    jerk = largest * random.uniform(5.0, 30.0, SIZE)
    limits = MotionLimits(np.ones(SIZE), largest, jerk)
    return limits, limits.motion(
        random.normal(size=SIZE),
        random.uniform(-3.0, 3.0, SIZE),
        random.uniform(-1.0, 1.0, SIZE) * largest,
    )


@pytest.mark.parametrize("seed", range(10))
def test_rest_position_agrees_with_the_closed_formula(seed: int) -> None:
    limits, state = random_motion(seed)
    distances = [
        stopping_distance(*numbers)
        for numbers in zip(
            state.velocity, state.acceleration, limits.acceleration, limits.jerk, strict=True
        )
    ]
    np.testing.assert_allclose(state.rest, state.position + distances, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_braking_step_by_step_ends_at_the_same_position(seed: int) -> None:
    limits, state = random_motion(seed)
    rest = state.rest
    for _ in range(300):
        state = limits.braked(state, 0.01)
        np.testing.assert_allclose(state.rest, rest, atol=1e-11)
    assert state.is_resting()
    np.testing.assert_allclose(state.position, rest, atol=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_braking_stays_within_its_bounds(seed: int) -> None:
    limits, state = random_motion(seed)
    lower = np.minimum(state.position, state.rest) - state.excursion - 1e-12
    upper = np.maximum(state.position, state.rest) + state.excursion + 1e-12
    for share in np.linspace(0.0, 1.0, 50):
        pose = limits.braking_pose(state, share)
        assert ((pose >= lower) & (pose <= upper)).all()


def test_joints_that_stand_stay_to_the_last_bit() -> None:
    limits, state = random_motion(0)
    resting = MotionState.at_rest(state.position)
    np.testing.assert_array_equal(limits.braked(resting, 0.01).position, state.position)
    np.testing.assert_array_equal(resting.rest, state.position)
