# SPDX-License-Identifier: Apache-2.0
"""Trackers over topics keep the promises of their interface."""

from collections.abc import Iterator

import numpy as np
import pytest
from typing_extensions import override

from teleop_system.interfaces import IMasterTracker, TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.arm_teleop.ros2_adapters import (
    TrackerPublisher,
    TrackerTopic,
)
from teleop_system.ros2.cdr import StampedCodec
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.testing import MasterTrackerSuite
from tests.ros2.spinning import spinning
from tests.waiting import wait_for

POSE = StampedCodec(StampedCodec.POSE)


@pytest.fixture(scope="module")
def node() -> Iterator[TeleopNode]:
    with spinning() as made:
        yield made


class TestTrackerTopic(MasterTrackerSuite):
    @pytest.fixture(autouse=True)
    def use(self, node: TeleopNode) -> None:
        self.node = node

    @override
    def create(self) -> IMasterTracker:
        return TrackerTopic(self.node, TrackerRole.LEFT_HAND)


def test_a_tracker_passes_the_topic_unchanged(node: TeleopNode) -> None:
    source = SimulatedTracker(TrackerRole.WAIST, clock=node.now)
    source.initialize()
    publisher = TrackerPublisher(node, source)
    for entity in node._managed_entities:
        entity.on_activate(None)
    heard: list[str] = []
    topic = TrackerTopic(node, TrackerRole.WAIST, heard.append)
    topic.initialize()
    wait_for(lambda: publisher.publish() and bool(heard))
    pose = topic.get_pose()
    assert pose.valid
    np.testing.assert_allclose(pose.position, source.get_pose().position, atol=0.05)
    assert heard[0] == "waist"
    source.shutdown()
    assert publisher.publish() is False
    topic.shutdown()


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (POSE.encode(1.0, (float("nan"), 0, 0, 0, 0, 0, 1)), Rule.NON_FINITE),
        (POSE.encode(1.0, (0, 0, float("inf"), 0, 0, 0, 1)), Rule.NON_FINITE),
        (POSE.encode(1.0, (0, 0, 0, 0, 0, 0, 1))[:40], Rule.WRONG_SHAPE),
        (b"", Rule.WRONG_SHAPE),
        (b"\x09\x09\x09\x09" * 20, Rule.WRONG_SHAPE),
    ],
)
def test_an_invalid_pose_is_reported_and_the_last_good_one_is_kept(
    node: TeleopNode, data: bytes, rule: Rule
) -> None:
    heard: list[str] = []
    topic = TrackerTopic(node, TrackerRole.RIGHT_HAND, heard.append)
    topic.take(POSE.encode(5.0, (1, 2, 3, 0, 0, 0, 1)))
    topic.take(data)
    assert topic.latest is not None
    assert topic.latest.timestamp == 5.0
    assert topic.cause is not None
    assert (topic.cause.rule, topic.cause.subject) == (rule, "right_hand")
    assert (topic.received, topic.rejected, len(heard)) == (1, 1, 1)
    topic.take(POSE.encode(6.0, (1, 2, 3, 0, 0, 0, 1)))
    assert topic.cause is None


def test_a_cause_keeps_the_time_of_its_start(node: TeleopNode) -> None:
    topic = TrackerTopic(node, TrackerRole.RIGHT_HAND)
    topic.take(b"")
    assert topic.cause is not None
    since = topic.cause.since
    topic.take(b"")
    assert topic.cause.since == since
