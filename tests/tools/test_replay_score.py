# SPDX-License-Identifier: Apache-2.0
"""Reachability and walk scores of motions with known answers."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.robots import load_robot
from teleop_system.settings import load_settings
from teleop_system.solvers.planning.motion_planner import MotionPlanner
from teleop_system.solvers.planning.postures import PoseSequence
from teleop_system.tools.replay.base_oracle import judge_walk
from teleop_system.tools.replay.reachability import HandReach, Reachability

ROBOT = load_robot("rby1")
TICK = 0.01


def judge(offset: np.ndarray) -> HandReach:
    """Judge targets of the right hand: its first position plus an offset [m], (T, 3)."""
    begin = ROBOT.pose("ready")
    planner = MotionPlanner(ROBOT)
    here = planner.end_effectors(np.array([[begin.get(joint, 0.0) for joint in planner.joints]]))
    targets = {
        name: PoseSequence(
            course.positions + (offset if name == "right_arm" else np.zeros_like(offset)),
            np.repeat(course.orientations, len(offset), axis=0),
        )
        for name, course in here.items()
    }
    solver = load_settings(["hardware=mocap"]).solver
    return Reachability(ROBOT, solver, begin).judge(targets, ["right_arm"], TICK)["right_arm"]


def swing(amplitude: float, frequency: float) -> np.ndarray:
    time = np.arange(0.0, 4.0, TICK)
    offset = np.zeros((len(time), 3))
    offset[:, 0] = (
        np.clip(time, 0.0, 1.0) ** 2 * amplitude * np.sin(2.0 * np.pi * frequency * time)
    )
    return offset


def test_a_slow_swing_is_in_time_and_a_fast_one_is_not() -> None:
    slow, fast = judge(swing(0.08, 0.4)), judge(swing(0.08, 4.0))
    assert slow.is_reachable.all()
    assert slow.is_in_time.all()
    assert fast.is_reachable.all()  # Each single position is within reach.
    assert fast.is_in_time[200:].mean() < 0.4  # 50 m/s^2 exceed the limits of both arms.


def test_a_far_target_is_unreachable_but_the_path_to_it_is_reachable() -> None:
    offset = np.zeros((400, 3))
    offset[:, 0] = np.linspace(0.0, 2.0, 400)
    reach = judge(offset)
    assert reach.is_reachable[:10].all()
    assert not reach.is_reachable[300:].any()


def limits() -> LocomotionConfig:
    assert ROBOT.base is not None
    return load_settings().locomotion.within(ROBOT.base)


def straight(speed: float, seconds: float = 10.0) -> tuple[np.ndarray, np.ndarray]:
    time = np.arange(0.0, seconds, TICK)
    course = np.zeros((len(time), 3))
    course[:, 0] = speed * time
    return time, course


def test_a_base_that_follows_a_slow_walk_drives_the_allowed_path() -> None:
    time, course = straight(0.3)
    assert judge_walk(time, course, course, limits()).share == pytest.approx(1.0, abs=0.05)


def test_the_allowed_path_respects_the_limits_of_the_base() -> None:
    config = limits()
    time, course = straight(2.0)
    walk = judge_walk(time, course, course, config)
    assert walk.walked == pytest.approx(20.0, rel=0.01)
    # At full speed after the acceleration.
    lost = 0.5 * config.max_linear**2 / config.linear_acceleration
    assert walk.allowed == pytest.approx(config.max_linear * 10.0 - lost, rel=0.01)


def test_a_rotation_about_the_axle_is_not_a_forward_motion() -> None:
    assert ROBOT.base is not None
    time, person = straight(0.0)
    person[:, 2] = 0.3 * time
    odometry = person.copy()
    odometry[:, 0] = -ROBOT.base.axle_offset * (np.cos(person[:, 2]) - 1.0)
    odometry[:, 1] = -ROBOT.base.axle_offset * np.sin(person[:, 2])
    walk = judge_walk(time, person, odometry, limits())
    assert walk.driven < 0.005
    assert walk.rotation_driven == pytest.approx(3.0, rel=0.02)


def test_translation_and_rotation_share_the_wheels() -> None:
    config = limits()
    time, person = straight(0.4, 1.0)
    person[:, 2] = 0.9 * time
    alone = judge_walk(*straight(0.4, 1.0), person, config).allowed
    along = np.cumsum(0.4 * TICK * np.exp(1j * person[:, 2]))
    person[:, 0], person[:, 1] = along.real, along.imag
    both = judge_walk(time, person, person, config).allowed
    assert both < 0.75 * alone
