# SPDX-License-Identifier: Apache-2.0
"""Every part of every robot has one command topic, named by the contract where possible."""

import pytest

from teleop_system.robots import discover_robots, load_robot
from teleop_system.ros2.robot_topics.part_topics import command_topics, trajectory_topics
from teleop_system.safety import RobotParts
from teleop_system.utils.ros2_helpers import TopicNames


def test_the_topics_of_the_rby1_are_those_of_the_contract() -> None:
    robot = load_robot("rby1")
    parts = RobotParts(robot)
    assert command_topics(robot, parts) == {
        "torso": TopicNames.TORSO_CMD,
        "right_arm": TopicNames.RIGHT_ARM_CMD,
        "left_arm": TopicNames.LEFT_ARM_CMD,
        "right_hand": TopicNames.RIGHT_HAND_CMD,
        "left_hand": TopicNames.LEFT_HAND_CMD,
        "head": TopicNames.CAMERA_PAN_TILT_CMD,
    }
    assert trajectory_topics(robot, parts) == {
        "torso": TopicNames.TORSO_TRAJECTORY,
        "right_arm": TopicNames.RIGHT_ARM_TRAJECTORY,
        "left_arm": TopicNames.LEFT_ARM_TRAJECTORY,
    }


@pytest.mark.parametrize("name", sorted(discover_robots()))
def test_no_two_parts_share_a_topic(name: str) -> None:
    robot = load_robot(name)
    parts = RobotParts(robot)
    topics = command_topics(robot, parts)
    assert set(topics) == set(parts)
    assert len(set(topics.values())) == len(topics)
