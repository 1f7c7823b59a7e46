# SPDX-License-Identifier: Apache-2.0
"""Every robot is divided into parts, and each of them can be kept safe."""

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots import discover_robots
from teleop_system.safety import PartCommand, RobotParts, SafetyManager
from tests.safety.rig import robot_named


def test_parts_are_chains_hands_and_head_in_this_order() -> None:
    parts = RobotParts(robot_named("rby1"))
    assert list(parts) == ["torso", "right_arm", "left_arm", "right_hand", "left_hand", "head"]
    assert parts["head"].joints == ("head_0", "head_1")


@pytest.mark.parametrize("name", sorted(discover_robots()))
def test_every_joint_but_the_wheels_belongs_to_exactly_one_part(name: str) -> None:
    robot = robot_named(name)
    parts = RobotParts(robot)
    wheels = robot.base.joints if robot.base is not None else ()
    assert sorted(parts.joints) == sorted(set(robot.controlled_joints) - set(wheels))
    for part in parts.values():
        assert parts.joints[part.columns] == part.joints


def test_a_hand_on_its_own_is_one_part_not_five_fingers() -> None:
    assert list(RobotParts(robot_named("dg5f_left"))) == ["left_hand"]


def test_an_unknown_part_names_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'head'"):
        RobotParts(robot_named("rby1"))["haed"]


@pytest.mark.parametrize("name", sorted(discover_robots()))
def test_every_robot_follows_what_is_possible(name: str) -> None:
    robot = robot_named(name)
    manager = SafetyManager(robot)
    pose = robot.pose(robot.initial_pose)
    manager.reset(pose)
    target = np.array([pose[joint] for joint in manager.parts.joints])
    middle = np.clip(0.5 * (manager.parts.lower + manager.parts.upper), -3.0, 3.0)
    target += 0.05 * np.sign(middle - target) * np.minimum(1.0, np.abs(middle - target))
    for index in range(200):
        now = 0.01 * (index + 1)
        output = manager.update(
            {
                part: PartCommand(target[own.columns], now, own.joints)
                for part, own in manager.parts.items()
            },
            now=now,
            engaged=set(manager.parts),
        )
    np.testing.assert_allclose(output.positions, target, atol=1e-3)
