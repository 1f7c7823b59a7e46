# SPDX-License-Identifier: Apache-2.0
"""Which messages of other tools are accepted; the node is a fake, and nothing is sent."""

import math
import types
from typing import Any

import pytest
from rclpy.logging import get_logger
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from teleop_system.robot_side.intake import CommandIntake
from teleop_system.ros2.robot_topics.tool_topics import ToolTopics
from teleop_system.safety import RobotParts, SafetyConfig
from teleop_system.utils.ros2_helpers import TopicNames
from tests.robot_side.robot_sides import rby1

TORSO = "torso"


class Rig:
    """The tool topics of a robot, and a sender of messages."""

    def __init__(self) -> None:
        self.time, self.is_active = 100.0, True
        self.callbacks: dict[str, Any] = {}
        self.parts = RobotParts(rby1())
        self.intake = CommandIntake(self.parts, SafetyConfig(), str)
        robot_side: Any = types.SimpleNamespace(
            safety=types.SimpleNamespace(parts=self.parts), output=None
        )
        self.tools = ToolTopics(self, rby1(), robot_side, self.intake)

    def now(self) -> float:
        return self.time

    def get_logger(self) -> Any:
        return get_logger("test")

    def subscribe(self, kind: Any, topic: str, callback: Any, *others: Any, **more: Any) -> None:
        self.callbacks[topic] = callback

    def send(self, topic: str, message: Any) -> None:
        self.callbacks[topic](message, {"publisher_gid": {"data": b"tool"}})

    def send_trajectory(self, stamp: float) -> None:
        joints = list(self.parts[TORSO].joints)
        point = JointTrajectoryPoint(positions=[0.0] * len(joints))
        point.time_from_start.sec = 2
        message = JointTrajectory(joint_names=joints, points=[point])
        message.header.stamp.sec = int(stamp)
        message.header.stamp.nanosec = round(1e9 * (stamp % 1.0))
        self.send(TopicNames.TORSO_TRAJECTORY, message)

    def causes(self) -> str:
        return "; ".join(map(str, self.intake.causes(self.time)))


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.mark.parametrize("stamp", [0.0, 100.0, 100.9, 99.6])
def test_a_trajectory_may_start_now_soon_or_a_moment_ago(rig: Rig, stamp: float) -> None:
    rig.send_trajectory(stamp)
    assert rig.tools.is_busy
    assert rig.causes() == ""


@pytest.mark.parametrize(
    ("stamp", "cause"),
    [
        (130.0, "time_order: torso trajectory"),
        (101.2, "time_order: torso trajectory"),
        (1e9, "time_order: torso trajectory"),
        (99.4, "stale: torso trajectory"),
        (1.0, "stale: torso trajectory"),
    ],
)
def test_a_trajectory_with_a_wrong_start_time_is_refused_and_owns_no_part(
    rig: Rig, stamp: float, cause: str
) -> None:
    rig.send_trajectory(stamp)
    assert not rig.tools.is_busy
    assert cause in rig.causes()
    assert rig.intake.owner(TORSO) is None


def test_positions_of_all_joints_are_accepted_together_or_not_at_all(rig: Rig) -> None:
    values = [0.0] * rig.parts.size
    rig.send(TopicNames.JOINT_POSITIONS, Float64MultiArray(data=[*values[1:], math.nan]))
    assert "non_finite: joint_positions" in rig.causes()
    assert not rig.intake.commands
    rig.send(TopicNames.JOINT_POSITIONS, Float64MultiArray(data=values))
    assert set(rig.intake.commands) == set(rig.parts)
