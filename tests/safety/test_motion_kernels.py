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

from teleop_system.safety.motion import kernels
from teleop_system.safety.motion.pursuit_kernels import take_wishes
from teleop_system.utils.compiled import IS_COMPILED

Array = NDArray[np.float64]

CASES = 100_000 if os.environ.get("TELEOP_FULL") else 10_000
STEP = 0.01


def random_cases(count: int) -> tuple[Array, Array, Array, Array]:
    """Motions (5, N), limits (2, N), speeds (N,) and aims (N,) of all sorts."""
    random = np.random.default_rng(3)
    largest = random.uniform(2.0, 50.0, count)
    jerk = largest * random.uniform(5.0, 30.0, count)
    speeds = random.uniform(0.3, 4.0, count)
    acceleration = random.uniform(-1.0, 1.0, count) * largest
    # Only what can come to be: a speed that stays within its limit while the acceleration fades.
    room = np.maximum(speeds - 0.5 * acceleration**2 / jerk, 0.0)
    acceleration *= room > 0.0
    velocity = random.uniform(-1.0, 1.0, count) * room
    velocity, acceleration = velocity * (random.random(count) > 0.1), acceleration
    rows = [random.normal(size=count), velocity, acceleration]
    motion = np.stack([*rows, np.empty(count), np.empty(count)])
    limits = np.stack([largest, jerk])
    kernels.find_rest(motion, limits)
    # Near the place of rest, and far from it: every order of magnitude has cases of its own.
    aims = motion[3] + random.normal(size=count) * 10.0 ** random.uniform(-9.0, 0.5, count)
    return motion, limits, speeds, aims


def test_a_step_is_that_of_the_fastest_motion() -> None:
    motion, limits, speeds, aims = random_cases(CASES)
    ours = np.empty_like(motion)
    kernels.follow(motion, limits, aims, speeds, STEP, ours)
    judge, given = ruckig.Ruckig(1, STEP), ruckig.InputParameter(1)
    output = ruckig.OutputParameter(1)
    given.target_velocity = given.target_acceleration = [0.0]
    theirs = np.empty((3, CASES))
    for case in range(CASES):
        p, v, a = motion[:3, case].tolist()
        given.current_position, given.current_velocity, given.current_acceleration = [p], [v], [a]
        given.target_position, given.max_velocity = [aims[case]], [speeds[case]]
        given.max_acceleration, given.max_jerk = [limits[0, case]], [limits[1, case]]
        judge.reset()
        assert judge.update(given, output) in (ruckig.Result.Working, ruckig.Result.Finished)
        theirs[:, case] = (
            output.new_position[0],
            output.new_velocity[0],
            output.new_acceleration[0],
        )
    # Ruckig finds roots to within about this much.
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=0.0, atol=1e-7)


def test_the_formula_of_the_instant_to_brake_agrees_with_the_search_for_it() -> None:
    motion, limits, speeds, aims = random_cases(3000)
    compared = 0
    for case in range(aims.size):
        p, v, a, rest, _ = motion[:, case].tolist()
        aim, each = float(aims[case]), kernels.limits_of(limits, case)
        sign = 1.0 if aim > rest else -1.0
        wanted = sign * float(speeds[case])
        phases = kernels.phases_to(v, a, wanted, each)
        if phases[0] * sign > 0.0 and phases[1] >= STEP:
            time, _ = kernels.speeding_up(sign * v, sign * a, sign * (aim - p), each, STEP)
            found = kernels.going_on((p, v, a), phases, wanted, aim, each, STEP)
            assert (time < STEP) == (found < STEP)
            # Where the place of rest hardly moves, neither can know the time better than this.
            place, other = (
                kernels.rest_of(*kernels.moved_along((p, v, a), phases, wanted, t), each)
                for t in (time, found)
            )
            assert place == pytest.approx(other, rel=0.0, abs=2e-14)
            compared += time < STEP
    assert compared > 300


def test_joints_end_at_their_aims_and_stay_there_to_the_last_bit() -> None:
    motion, limits, speeds, aims = random_cases(500)
    for _ in range(3000):
        new = np.empty_like(motion)
        kernels.follow(motion, limits, aims, speeds, STEP, new)
        motion = new
    np.testing.assert_array_equal(motion[0], aims)
    np.testing.assert_array_equal(motion[3], aims)
    assert not motion[[1, 2, 4]].any()


@pytest.mark.parametrize("longest", [1.0, 10.0, 100.0])
def test_a_joint_in_the_midst_of_braking_ends_at_its_aim_however_long_its_way(
    longest: float,
) -> None:
    random, count = np.random.default_rng(5), 20_000
    largest = 10.0 ** random.uniform(-0.3, 1.7, count)
    jerk = largest * random.uniform(5.0, 30.0, count)
    way = random.uniform(0.05, 1.0, count) * longest
    velocity = np.maximum(0.9 * np.sqrt(2.0 * largest * way), largest**2 / jerk)
    motion, limits = np.zeros((5, count)), np.stack([largest, jerk])
    motion[:3] = random.uniform(-3.0, 3.0, count), velocity, -largest
    motion[:3, ::2] *= -1.0
    kernels.find_rest(motion, limits)
    # A command that stands, or ends a little way off, on either side.
    aims = motion[3] + random.choice([-1.0, 0.0, 1.0], count) * 1e-12
    new = np.empty_like(motion)
    kernels.follow(motion, limits, aims, 2.0 * velocity, STEP, new)
    assert (np.abs(new[2]) <= largest * (1.0 + 1e-12)).all()
    told = new[3].copy()
    kernels.find_rest(new, limits)
    np.testing.assert_allclose(new[3], told, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(new[3], aims, rtol=0.0, atol=1e-11)


@pytest.mark.skipif(not IS_COMPILED, reason="Numba is not installed")
def test_interpreted_kernels_give_the_same_result_to_the_last_bit() -> None:
    code = f"import {__name__} as test; test.print_steps()"
    interpreted = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert interpreted == steps_as_text()


def steps_as_text() -> str:
    motion, limits, speeds, aims = random_cases(300)
    steps = np.empty_like(motion)
    kernels.follow(motion, limits, aims, speeds, STEP, steps)
    return steps.tobytes().hex()


def print_steps() -> None:
    sys.stdout.write(steps_as_text())


def test_the_estimated_motion_of_commands_is_that_of_a_low_pass() -> None:
    given = np.array([[0.01, 5.0], [0.5, 0.0], [100.0, 0.0]])
    ranges = np.array([[-1.0, -1.0], [1.0, 1.0], [2.0, 2.0], [10.0, 10.0]])
    motion, beyond = np.zeros((3, 2)), np.zeros((1, 2))
    assert take_wishes(given, ranges, motion, beyond)
    # Half of 1 rad/s; the change of velocity within a period is clipped to 10 rad/s², and halved.
    np.testing.assert_allclose(motion[:, 0], [0.01, 0.5, 5.0])
    # No new command: its position is clipped, its motion left alone.
    np.testing.assert_allclose(motion[:, 1], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(beyond[0], [0.0, 4.0])
