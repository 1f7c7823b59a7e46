# SPDX-License-Identifier: Apache-2.0
"""Plans for the arms of a robot, within its limits and near its targets."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

from teleop_system.robots import load_robot
from teleop_system.solvers import make_solver
from teleop_system.solvers.planning.motion_planner import MotionPlanner
from teleop_system.solvers.planning.postures import PoseSequence, reachable_postures

ROBOT = load_robot("rby1")
STEP = 0.04


@pytest.fixture(scope="module")
def planner() -> MotionPlanner:
    return MotionPlanner(ROBOT)


def begin(planner: MotionPlanner) -> np.ndarray:
    pose = ROBOT.pose("ready")
    return np.array([pose.get(joint, 0.0) for joint in planner.joints])


def swings(planner: MotionPlanner, amplitude: float, frequency: float) -> np.ndarray:
    time = np.arange(0.0, 4.0, STEP)
    postures = np.tile(begin(planner), (len(time), 1))
    grows = np.clip(time / 2.0, 0.0, 1.0)  # From rest.
    for joint in ("right_arm_0", "left_arm_3"):
        postures[:, planner.joints.index(joint)] += (
            grows * amplitude * np.sin(2.0 * np.pi * frequency * time)
        )
    return postures


def hand_errors(planner: MotionPlanner, postures: np.ndarray, motion: np.ndarray) -> np.ndarray:
    expected, found = planner.end_effectors(postures), planner.end_effectors(motion)
    return np.array(
        [
            np.linalg.norm(found[arm].positions - expected[arm].positions, axis=1)
            for arm in ("right_arm", "left_arm")
        ]
    )


def test_hands_are_at_their_targets_if_there_is_time(planner: MotionPlanner) -> None:
    postures = swings(planner, 0.3, 0.4)
    motion = planner.plan(postures, STEP)
    assert hand_errors(planner, postures, motion).max() < 2e-3


def test_hands_that_cannot_keep_up_exceed_no_limit(planner: MotionPlanner) -> None:
    postures = swings(planner, 0.6, 1.5)
    motion = planner.plan(postures, STEP)
    limits = planner.limits
    assert (np.abs(np.diff(motion, 1, axis=0)) / STEP <= limits.velocity * 1.000001).all()
    assert (np.abs(np.diff(motion, 2, axis=0)) / STEP**2 <= limits.acceleration * 1.000001).all()
    assert (np.abs(np.diff(motion, 3, axis=0)) / STEP**3 <= limits.jerk * 1.0001).all()
    errors = hand_errors(planner, postures, motion)
    assert errors.max() > 0.02
    # Other joints help, so the hand is nearer than a single joint could bring it.
    assert errors.max() < 0.15


def test_a_motion_keeps_a_share_of_the_limits(planner: MotionPlanner) -> None:
    half = planner.limits.scaled(0.5, 0.5, 0.5)
    motion = planner.plan(swings(planner, 0.6, 1.5), STEP, half)
    accelerations = np.abs(np.diff(motion, 2, axis=0)) / STEP**2
    assert (accelerations <= 0.5 * planner.limits.acceleration * 1.000001).all()


def test_postures_stay_as_near_as_possible_to_a_target_out_of_reach(
    planner: MotionPlanner,
) -> None:
    solver = make_solver(ROBOT)
    names = solver.get_joint_names()
    start = np.array([ROBOT.pose("ready").get(joint, 0.0) for joint in names])
    order = [names.index(joint) for joint in planner.joints]
    here = planner.end_effectors(start[order][None])["right_arm"]
    aims = here.positions + np.array([[0.0, 0.0, 0.0], [0.05, 0.0, 0.05], [3.0, 0.0, 0.0]])
    targets = {"right_arm": PoseSequence(aims, np.repeat(here.orientations, 3, axis=0))}
    postures = reachable_postures(solver, targets, start)[:, order]
    away = np.linalg.norm(planner.end_effectors(postures)["right_arm"].positions - aims, axis=1)
    assert away[0] < 1e-3
    assert away[1] < 1e-3
    assert away[2] > 1.0
