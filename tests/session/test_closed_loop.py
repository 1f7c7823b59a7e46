# SPDX-License-Identifier: Apache-2.0
"""The whole body in MuJoCo follows a simulated operator: hands, base, and no self-collision.

The acceptance run of a minute is this test with TELEOP_CLOSED_LOOP_SECONDS=60; other operators and
robots go into TELEOP_CLOSED_LOOP_OVERRIDES, such as "robot=rby1_dg5f seed=3".
"""

import os

import numpy as np
import pytest

from tests.session.closed_loop import HANDS, Run, run_loop

SECONDS = float(os.environ.get("TELEOP_CLOSED_LOOP_SECONDS", "17"))
OVERRIDES = os.environ.get("TELEOP_CLOSED_LOOP_OVERRIDES", "").split()
STANDING, BOUT, STEPS, STRIDE = 9.8, 5.6, 8, 0.25
"""The simulated operator stands, then takes eight steps on the spot, repeatedly; [s], [m]."""


@pytest.fixture(scope="module")
def run() -> Run:
    return run_loop(SECONDS, *OVERRIDES)


@pytest.mark.parametrize("hand", HANDS)
def test_hands_follow_the_operator(run: Run, hand: str) -> None:
    assert run.reachable.sum() > 0.7 * len(run.times)
    distance, angle = run.rms(hand)
    assert distance <= 0.015
    assert angle <= 3.0


def test_the_base_stands_while_the_operator_stands(run: Run) -> None:
    odometry = np.array(run.odometry)[np.array(run.times) < STANDING]
    # The motion of the arms pushes the base a little.
    assert np.ptp(odometry[:, :2], axis=0).max() < 0.01


def test_the_base_drives_as_far_as_the_operator_steps(run: Run) -> None:
    bouts = int((SECONDS + 0.1 - 1.0) // (STANDING + BOUT))
    ended = np.array(run.times) < bouts * (STANDING + BOUT) + 1.5
    odometry = np.array(run.odometry)[ended]
    walked = bouts * STEPS * STRIDE
    # It takes two steps to detect walking, and some time to stop.
    assert 0.7 * walked <= odometry[-1, 0] <= 1.1 * walked
    assert abs(odometry[-1, 1]) < 0.1 * walked


def test_the_robot_does_not_touch_itself(run: Run) -> None:
    assert run.contacts == set()


def test_no_joint_is_commanded_beyond_its_limits(run: Run) -> None:
    assert run.beyond <= 1e-9


def test_no_part_holds_during_the_run(run: Run) -> None:
    assert run.holds == []
