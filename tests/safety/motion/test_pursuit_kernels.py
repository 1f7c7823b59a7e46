# SPDX-License-Identifier: Apache-2.0
"""Single joints move as fast as Ruckig, an independent library, says they can."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import ruckig
from numpy.typing import NDArray

from teleop_system.safety.motion import braking_kernels, pursuit_kernels
from teleop_system.safety.motion.joint_motion import MotionLimits, MotionState
from teleop_system.utils.compiled import IS_COMPILED

Array = NDArray[np.float64]

CASES = 100_000 if os.environ.get("TELEOP_FULL") else 10_000
STEP = 0.01


def random_cases(count: int) -> tuple[MotionLimits, MotionState, Array]:
    """Limits, motions and targets of all sorts."""
    random = np.random.default_rng(3)
    largest = random.uniform(2.0, 50.0, count)
    jerk = largest * random.uniform(5.0, 30.0, count)
    speeds = random.uniform(0.3, 4.0, count)
    acceleration = random.uniform(-1.0, 1.0, count) * largest
    # Only what can happen: a speed that stays within its limit while the acceleration fades.
    room = np.maximum(speeds - 0.5 * acceleration**2 / jerk, 0.0)
    acceleration *= room > 0.0
    velocity = random.uniform(-1.0, 1.0, count) * room
    velocity = velocity * (random.random(count) > 0.1)
    limits = MotionLimits(speeds, largest, jerk)
    state = limits.motion(random.normal(size=count), velocity, acceleration)
    # Near the rest position and far from it: every order of magnitude has cases of its own.
    targets = state.rest + random.normal(size=count) * 10.0 ** random.uniform(-9.0, 0.5, count)
    return limits, state, targets


def stepped(limits: MotionLimits, state: MotionState, targets: Array) -> MotionState:
    return limits.stepped(state, targets, np.zeros(targets.size, dtype=bool), STEP)


def test_a_step_is_that_of_the_fastest_motion() -> None:
    limits, state, targets = random_cases(CASES)
    ours = stepped(limits, state, targets)
    judge, given = ruckig.Ruckig(1, STEP), ruckig.InputParameter(1)
    output = ruckig.OutputParameter(1)
    given.target_velocity = given.target_acceleration = [0.0]
    positions, velocities = np.empty((2, CASES))
    for case in range(CASES):
        given.current_position = [state.position[case]]
        given.current_velocity = [state.velocity[case]]
        given.current_acceleration = [state.acceleration[case]]
        given.target_position, given.max_velocity = [targets[case]], [limits.speed[case]]
        given.max_acceleration = [limits.acceleration[case]]
        given.max_jerk = [limits.jerk[case]]
        judge.reset()
        assert judge.update(given, output) in (ruckig.Result.Working, ruckig.Result.Finished)
        positions[case], velocities[case] = output.new_position[0], output.new_velocity[0]
    # Ruckig finds roots to within about this much.
    np.testing.assert_allclose(ours.position, positions, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(ours.velocity, velocities, rtol=0.0, atol=1e-7)


def test_the_formula_of_the_brake_onset_agrees_with_the_search_for_it() -> None:
    limits, state, targets = random_cases(3000)
    compared = 0
    for case in range(targets.size):
        p, v, a, rest = (float(values[case]) for values in state[:4])
        target, speed = float(targets[case]), float(limits.speed[case])
        largest, jerk = float(limits.acceleration[case]), float(limits.jerk[case])
        sign = 1.0 if target > rest else -1.0
        profile = braking_kernels.profile_to_velocity(v, a, sign * speed, largest, jerk)
        if profile.jerk * sign > 0.0 and profile.rise >= STEP:
            time = pursuit_kernels.brake_onset(
                sign * v, sign * a, sign * (target - p), largest, jerk, STEP
            ).time
            found = pursuit_kernels.search_brake_onset(
                p, v, a, sign * speed, target, largest, jerk, STEP
            )
            assert (time < STEP) == (found < STEP)
            # Where the rest position hardly moves, neither can know the time better than this.
            one, other = (
                braking_kernels.rest_position(
                    *braking_kernels.follow_profile(p, v, a, *profile, sign * speed, moment),
                    largest,
                    jerk,
                )
                for moment in (time, found)
            )
            assert one == pytest.approx(other, rel=0.0, abs=2e-14)
            compared += time < STEP
    assert compared > 300


def test_joints_end_at_their_targets_and_stay_there_to_the_last_bit() -> None:
    limits, state, targets = random_cases(500)
    for _ in range(3000):
        state = stepped(limits, state, targets)
    np.testing.assert_array_equal(state.position, targets)
    np.testing.assert_array_equal(state.rest, targets)
    assert state.is_resting()
    assert not state.excursion.any()


@pytest.mark.parametrize("longest", [1.0, 10.0, 100.0])
def test_a_joint_that_is_braking_ends_at_its_target_however_long_its_path(longest: float) -> None:
    random, count = np.random.default_rng(5), 20_000
    largest = 10.0 ** random.uniform(-0.3, 1.7, count)
    jerk = largest * random.uniform(5.0, 30.0, count)
    distance = random.uniform(0.05, 1.0, count) * longest
    velocity = np.maximum(0.9 * np.sqrt(2.0 * largest * distance), largest**2 / jerk)
    sign = np.where(np.arange(count) % 2, 1.0, -1.0)
    limits = MotionLimits(2.0 * velocity, largest, jerk)
    position = sign * random.uniform(-3.0, 3.0, count)
    state = limits.motion(position, sign * velocity, -sign * largest)
    # A command that stands, or ends a little distance off, on either side.
    targets = state.rest + random.choice([-1.0, 0.0, 1.0], count) * 1e-12
    new = stepped(limits, state, targets)
    assert (np.abs(new.acceleration) <= largest * (1.0 + 1e-12)).all()
    again = limits.motion(new.position, new.velocity, new.acceleration)
    np.testing.assert_allclose(again.rest, new.rest, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(again.rest, targets, rtol=0.0, atol=1e-11)


@pytest.mark.skipif(not IS_COMPILED, reason="Numba is not installed")
def test_interpreted_kernels_give_the_same_result_to_the_last_bit() -> None:
    code = f"import {__name__} as test; test.print_steps()"
    interpreted = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert interpreted == steps_as_text()


def steps_as_text() -> str:
    return np.stack(stepped(*random_cases(300))).tobytes().hex()


def print_steps() -> None:
    sys.stdout.write(steps_as_text())
