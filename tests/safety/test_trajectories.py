# SPDX-License-Identifier: Apache-2.0
"""Braking is what closed formulas say it is."""

import numpy as np
import pytest

from teleop_system.safety.motion.motion_state import MotionState
from teleop_system.safety.motion.trajectories import Trajectories

SIZE = 50


def stopping_distance(v: float, a: float, largest: float, jerk: float) -> float:
    """Return how far a joint still goes, from the three phases of braking in the least time."""
    sign = 1.0 if v + a * abs(a) / (2.0 * jerk) >= 0.0 else -1.0
    v, a = sign * v, sign * a
    peak = min(largest, (jerk * v + 0.5 * a * a) ** 0.5)
    first, last = (a + peak) / jerk, peak / jerk
    v1 = v + a * first - 0.5 * jerk * first**2
    steady = max(0.0, (v1 - 0.5 * peak * last) / peak) if peak > 0.0 else 0.0
    v2 = v1 - peak * steady
    way = v * first + 0.5 * a * first**2 - jerk * first**3 / 6.0
    way += v1 * steady - 0.5 * peak * steady**2
    way += v2 * last - 0.5 * peak * last**2 + jerk * last**3 / 6.0
    return sign * way


def random_motion(seed: int) -> tuple[Trajectories, MotionState, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    largest = random.uniform(2.0, 50.0, SIZE)
    jerk = largest * random.uniform(5.0, 30.0, SIZE)
    rows = (
        random.normal(size=SIZE),
        random.uniform(-3.0, 3.0, SIZE),
        random.uniform(-1.0, 1.0, SIZE) * largest,
    )
    return Trajectories(largest, jerk), MotionState.of(np.stack(rows)), largest, jerk


@pytest.mark.parametrize("seed", range(10))
def test_place_of_rest_agrees_with_the_closed_formula(seed: int) -> None:
    trajectories, state, largest, jerk = random_motion(seed)
    ways = [
        stopping_distance(*numbers)
        for numbers in zip(state.velocity, state.acceleration, largest, jerk, strict=True)
    ]
    np.testing.assert_allclose(trajectories.rest(state), state.position + ways, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_braking_on_the_way_leads_to_the_same_place(seed: int) -> None:
    trajectories, state, _, _ = random_motion(seed)
    rest = trajectories.rest(state)
    for _ in range(300):
        state = trajectories.braked(state, 0.01)
        np.testing.assert_allclose(trajectories.rest(state), rest, atol=1e-11)
    assert state.is_resting()
    np.testing.assert_allclose(state.position, rest, atol=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_braking_stays_within_the_bound_of_its_way(seed: int) -> None:
    trajectories, state, _, _ = random_motion(seed)
    start, _, _, rest, around = trajectories.way_to_rest(state)
    np.testing.assert_array_equal(start, state.position)
    np.testing.assert_array_equal(rest, trajectories.rest(state))
    lower = np.minimum(state.position, rest) - around - 1e-12
    upper = np.maximum(state.position, rest) + around + 1e-12
    for share in np.linspace(0.0, 1.0, 50):
        pose = trajectories.braking_pose(state, share)
        assert ((pose >= lower) & (pose <= upper)).all()


def test_joints_that_stand_stay_to_the_last_bit() -> None:
    trajectories, state, _, _ = random_motion(0)
    resting = MotionState.at_rest(state.position)
    np.testing.assert_array_equal(trajectories.braked(resting, 0.01).position, state.position)
    np.testing.assert_array_equal(trajectories.rest(resting), state.position)
