# SPDX-License-Identifier: Apache-2.0
"""Motions of real size and speed are followed wherever the robot can, and nothing touches.

Hands travel half a metre and more. Longer runs, and others, with TELEOP_CLOSED_LOOP_SECONDS and
TELEOP_CLOSED_LOOP_OVERRIDES; the seed of the reaches is TELEOP_CLOSED_LOOP_SEED.
"""

import os

import numpy as np
import pytest

from tests.session.closed_loop import HANDS, Run, run_loop
from tests.session.wide_reaches import WideReaches

SECONDS = float(os.environ.get("TELEOP_CLOSED_LOOP_SECONDS", "12"))
OVERRIDES = os.environ.get("TELEOP_CLOSED_LOOP_OVERRIDES", "").split()
SEED = int(os.environ.get("TELEOP_CLOSED_LOOP_SEED", "0"))
SPEED = float(os.environ.get("TELEOP_CLOSED_LOOP_SPEED", "1.2"))
"""Fastest speed of a hand in [m/s]; the robot falls short of faster ones."""


@pytest.fixture(scope="module")
def run() -> Run:
    return run_loop(
        SECONDS,
        "session.modules=[arm]",
        *OVERRIDES,
        disturb=WideReaches(SEED, speed=SPEED),
    )


@pytest.mark.parametrize("hand", HANDS)
def test_hands_follow_where_they_can(run: Run, hand: str) -> None:
    wanted = np.array([poses[HANDS[hand]].position for poses in run.wanted])
    assert np.ptp(wanted, axis=0).max() > 0.5, "the operator hardly moved"
    assert run.reachable.mean() > 0.7
    distance, angle = run.rms(hand)
    assert distance <= 0.025
    # The last wrist joint rotates at 2.1 rad/s at most, the operator twice as fast.
    assert angle <= 5.0


def test_the_robot_does_not_touch_itself(run: Run) -> None:
    assert run.contacts == set()


def test_no_joint_is_commanded_beyond_its_limits(run: Run) -> None:
    assert run.beyond <= 1e-9


def test_nothing_is_held_for_long(run: Run) -> None:
    assert run.longest_hold <= 0.5, run.holds
