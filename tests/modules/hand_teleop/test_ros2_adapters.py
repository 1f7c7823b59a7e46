# SPDX-License-Identifier: Apache-2.0
"""Gloves over topics keep the promises of their interface."""

from collections.abc import Iterator

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from typing_extensions import override

from teleop_system.interfaces import IHandInput
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.hand_teleop.ros2_adapters import (
    FINGER_JOINTS,
    GlovePublisher,
    GloveTopic,
)
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.session.signals import DERIVATIONS
from teleop_system.simulators.simulated_hand import SimulatedHand
from teleop_system.testing import HandInputSuite
from tests.ros2.spinning import spinning
from tests.waiting import wait_for

ANGLES = tuple(0.01 * index for index in range(20))


@pytest.fixture(scope="module")
def node() -> Iterator[TeleopNode]:
    with spinning() as made:
        yield made


class TestGloveTopic(HandInputSuite):
    @pytest.fixture(autouse=True)
    def use(self, node: TeleopNode) -> None:
        self.node = node

    @override
    def create(self) -> IHandInput:
        return GloveTopic(self.node, "left", "left_fingers")


def take(node: TeleopNode, names: tuple[str, ...], angles: tuple[float, ...]) -> GloveTopic:
    topic = GloveTopic(node, "left", "left_fingers")
    topic.take(message(names, angles))
    return topic


def message(names: tuple[str, ...], angles: tuple[float, ...]) -> bytes:
    """Return a joint state that may have any number of names and any number of angles."""
    found = JointState(name=list(names), position=list(angles))
    return bytes(serialize_message(found))


@pytest.mark.parametrize("names", [(), FINGER_JOINTS])
def test_angles_come_in_the_order_of_the_contract(
    node: TeleopNode, names: tuple[str, ...]
) -> None:
    topic = take(node, names, ANGLES)
    assert topic.latest is not None
    np.testing.assert_array_equal(topic.latest.joint_angles, ANGLES)


def test_named_angles_may_come_in_any_order(node: TeleopNode) -> None:
    topic = take(node, tuple(reversed(FINGER_JOINTS)), tuple(reversed(ANGLES)))
    assert topic.latest is not None
    np.testing.assert_array_equal(topic.latest.joint_angles, ANGLES)


@pytest.mark.parametrize(
    ("names", "angles", "rule"),
    [
        ((), ANGLES[:19], Rule.WRONG_SHAPE),
        (FINGER_JOINTS[:19], ANGLES[:19], Rule.WRONG_SHAPE),
        (FINGER_JOINTS, ANGLES[:19], Rule.WRONG_SHAPE),
        (("tail", *FINGER_JOINTS[1:]), ANGLES, Rule.WRONG_SHAPE),
        ((FINGER_JOINTS[1], *FINGER_JOINTS[1:]), ANGLES, Rule.WRONG_SHAPE),
        ((), (float("nan"), *ANGLES[1:]), Rule.NON_FINITE),
    ],
)
def test_invalid_angles_are_refused_with_a_cause(
    node: TeleopNode, names: tuple[str, ...], angles: tuple[float, ...], rule: Rule
) -> None:
    topic = take(node, names, angles)
    assert topic.latest is None
    assert topic.cause is not None
    assert topic.cause.rule is rule
    topic.take(message((), ANGLES))
    assert topic.latest is not None
    assert topic.cause is None


def test_tips_are_added_where_they_are_wanted(node: TeleopNode) -> None:
    topic = GloveTopic(node, "left", "left_tips", complete=DERIVATIONS["left_tips"].compute)
    topic.take(message((), ANGLES))
    assert topic.latest is not None
    assert topic.latest.finger_tip_positions is not None
    assert topic.latest.finger_tip_positions.shape == (5, 3)


def test_a_glove_passes_the_topic_unchanged(node: TeleopNode) -> None:
    source = SimulatedHand("right", motion="fist", clock=node.now)
    source.initialize()
    publisher = GlovePublisher(node, source)
    for entity in node._managed_entities:
        entity.on_activate(None)
    topic = GloveTopic(node, "right", "right_fingers")
    topic.initialize()
    wait_for(lambda: publisher.publish() and topic.get_joint_state().valid)
    assert topic.get_joint_state().side == "right"
    topic.shutdown()
