# SPDX-License-Identifier: Apache-2.0
"""The head of a simulated robot moves through the robot side, and within its limits."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.interfaces import ISimulator
from teleop_system.robots import load_robot
from teleop_system.session.build import make_simulator
from teleop_system.tools.simulated_robot_loop import SimulatedRobotLoop
from tests.session.sessions import settings_with

ROBOT = load_robot("rby1")
LONGEST = 30.0


@pytest.fixture(scope="module")
def simulator() -> Iterator[ISimulator]:
    made = make_simulator(settings_with())
    yield made
    made.shutdown()


def head_of(simulator: ISimulator) -> np.ndarray:
    assert ROBOT.head is not None
    names = simulator.get_joint_names()
    return simulator.get_state().joint_positions[[names.index(j) for j in ROBOT.head.joints]]


def test_the_head_reaches_the_requested_angles_within_its_limits(simulator: ISimulator) -> None:
    settings = settings_with()
    goal = np.array([0.4, 0.3])
    assert ROBOT.head is not None
    limits = np.array([ROBOT.limits(joint).velocity for joint in ROBOT.head.joints])
    times, heads = [], []
    with SimulatedRobotLoop(ROBOT, simulator, settings.session, settings.safety) as loop:
        until = time.monotonic() + LONGEST
        while time.monotonic() < until and np.abs(head_of(simulator) - goal).max() > 0.02:
            loop.aim_head(*goal)
            times.append(simulator.get_time())
            heads.append(head_of(simulator))
            time.sleep(0.01)
    np.testing.assert_allclose(head_of(simulator), goal, atol=0.03)
    # A single reading lies between two physics steps; a mean over a few cycles does not.
    moved = np.abs(np.array(heads)[10:] - np.array(heads)[:-10])
    spans = np.array(times)[10:] - np.array(times)[:-10]
    assert (moved <= (spans[:, None] + 0.02) * limits * 1.05).all()
