# SPDX-License-Identifier: Apache-2.0
"""How command messages are interpreted; the node is a fake, and nothing is sent."""

import math
import types
from collections.abc import Callable
from typing import Any

import pytest
from geometry_msgs.msg import Twist
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from teleop_system.robot_side.intake import CommandIntake
from teleop_system.ros2.robot_topics.command_topics import CommandTopics
from teleop_system.ros2.statistics import TrafficStatistics
from teleop_system.safety import RobotParts, SafetyConfig
from teleop_system.utils.ros2_helpers import TopicNames
from tests.robot_side.robot_sides import rby1

ARM = "right_arm"
WALL = 2_000_000_000_000_000_000
GARBLED, OPERATOR = b"garbled", b"operator"


class Rig:
    """The command topics of a robot, with a function that delivers messages."""

    def __init__(self) -> None:
        self.time, self.is_active, self.mode = 100.0, True, "position"
        self.efforts: list[tuple[Any, ...]] = []
        self.callbacks: dict[str, Callable[[bytes, dict[str, Any]], None]] = {}
        self.parts = RobotParts(rby1())
        self.intake = CommandIntake(self.parts, SafetyConfig(), str)
        robot_side: Any = types.SimpleNamespace(
            safety=types.SimpleNamespace(parts=self.parts),
            drive=types.SimpleNamespace(add_efforts=lambda *added: self.efforts.append(added)),
            output=None,
        )
        self.topics = CommandTopics(
            self,
            rby1(),
            robot_side,
            self.intake,
            TrafficStatistics(),
            mode=lambda: self.mode,
            wall=lambda: WALL,
        )

    def now(self) -> float:
        return self.time

    def subscribe(self, kind: Any, topic: str, callback: Any, *others: Any, **more: Any) -> None:
        self.callbacks[topic] = callback

    def send(self, topic: str, data: bytes, sender: bytes = OPERATOR, delay: float = 0.0) -> None:
        """Deliver a message `delay` [s] after it was published."""
        source = WALL - round(1e9 * delay)
        info = {"publisher_gid": {"data": sender}, "source_timestamp": source}
        self.callbacks[topic](data, info)

    def send_arm(self, sender: bytes = OPERATOR, age: float = 0.0, **fields: Any) -> None:
        """Send a message for the right arm with an age of `age` [s]."""
        joints = list(self.parts[ARM].joints)
        message = JointState(**{"name": joints, "position": [0.0] * len(joints), **fields})
        stamp = self.time - age
        message.header.stamp.sec = int(stamp)
        message.header.stamp.nanosec = int(1e9 * (stamp % 1.0))
        self.send(TopicNames.RIGHT_ARM_CMD, serialize_message(message), sender)

    def causes(self) -> str:
        return "; ".join(map(str, self.intake.causes(self.time)))


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_good_message_is_a_command_and_keeps_the_inputs_fresh(rig: Rig) -> None:
    rig.send_arm(age=0.01)
    assert rig.intake.owner(ARM) == str(OPERATOR)
    assert rig.intake.age(rig.time) == pytest.approx(0.01)
    assert rig.causes() == ""


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"name": ["elbow"] * 7}, "wrong_shape: right_arm names"),
        ({"name": []}, "wrong_shape: right_arm names"),
        ({"position": [0.0] * 3}, "wrong_shape: right_arm"),
        ({"position": [math.nan] * 7}, "non_finite: right_arm_0"),
        ({"age": -1e6}, "time_order: right_arm"),
        ({"age": 5.0}, "stale: right_arm"),
    ],
)
def test_a_sender_of_malformed_messages_does_not_own_the_part(
    rig: Rig, fields: dict[str, Any], cause: str
) -> None:
    rig.send_arm(GARBLED, **fields)
    assert cause in rig.causes()
    assert not rig.intake.is_fresh(rig.time, 1e9), "no command was accepted"
    rig.send_arm(OPERATOR)
    assert rig.intake.owner(ARM) == str(OPERATOR)


def test_bytes_that_cannot_be_decoded_do_not_own_the_part(rig: Rig) -> None:
    rig.send(TopicNames.RIGHT_ARM_CMD, b"\0\1\0\0junk", GARBLED)
    rig.send(TopicNames.BASE_CMD_VEL, b"\0\1\0\0junk", GARBLED)
    assert "wrong_shape: right_arm" in rig.causes() and "base" in rig.causes()
    assert rig.intake.owner(ARM) is None and rig.intake.owner("base") is None


def test_efforts_belong_to_the_command_of_their_message(rig: Rig) -> None:
    rig.mode = "effort"
    rig.send_arm(effort=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    ((part, stamp, efforts),) = rig.efforts
    assert (part, stamp) == (ARM, rig.intake.commands[ARM].timestamp)
    assert efforts.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    rig.mode = "position"
    rig.send_arm(effort=[1e3] * 7)
    assert len(rig.efforts) == 1


@pytest.mark.parametrize(
    "fields", [{"age": 100.0}, {"age": -1e6}, {"position": []}, {"position": [math.nan] * 7}]
)
def test_efforts_of_a_refused_message_are_ignored(rig: Rig, fields: dict[str, Any]) -> None:
    rig.mode = "effort"
    rig.send_arm(effort=[1e3] * 7, **fields)
    assert rig.efforts == []


@pytest.mark.parametrize("bad", [[1.0], [math.inf] * 7])
def test_efforts_of_a_wrong_shape_are_reported_and_end_the_previous_ones(
    rig: Rig, bad: list[float]
) -> None:
    rig.mode = "effort"
    rig.send_arm(effort=bad)
    assert "wrong_shape: right_arm efforts" in rig.causes()
    assert not rig.efforts[-1][2].any()


def test_the_age_of_a_velocity_is_its_transport_time(rig: Rig) -> None:
    twist = serialize_message(Twist())
    rig.send(TopicNames.BASE_CMD_VEL, twist, delay=0.04)
    assert rig.intake.base is not None
    assert rig.time - rig.intake.base.timestamp == pytest.approx(0.04)


def test_a_velocity_delivered_late_is_not_followed(rig: Rig) -> None:
    twist = serialize_message(Twist())
    for _ in range(5):
        rig.send(TopicNames.BASE_CMD_VEL, twist, delay=1.0)
        rig.time += 0.02
    assert rig.intake.base is None
    assert "stale: base" in rig.causes()
    assert rig.intake.owner("base") is None
