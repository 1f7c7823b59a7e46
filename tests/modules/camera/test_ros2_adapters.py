# SPDX-License-Identifier: Apache-2.0
"""Heads over topics keep the promises of their interfaces."""

from collections.abc import Iterator

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from typing_extensions import override

from teleop_system.interfaces import IMasterTracker, TrackerRole
from teleop_system.modules.camera.ros2_adapters import (
    HeadOrientationTopic,
    HeadPublisher,
    PanTiltTopic,
)
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.testing import MasterTrackerSuite
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames
from tests.ros2.spinning import spinning
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def node() -> Iterator[TeleopNode]:
    with spinning() as made:
        yield made


class TestHeadOrientationTopic(MasterTrackerSuite):
    @pytest.fixture(autouse=True)
    def use(self, node: TeleopNode) -> None:
        self.node = node

    @override
    def create(self) -> IMasterTracker:
        return HeadOrientationTopic(self.node)


def test_a_head_passes_the_topic_unchanged(node: TeleopNode) -> None:
    source = SimulatedTracker(TrackerRole.HEAD, clock=node.now)
    source.initialize()
    publisher = HeadPublisher(node, source)
    for entity in node._managed_entities:
        entity.on_activate(None)
    topic = HeadOrientationTopic(node)
    topic.initialize()
    wait_for(lambda: publisher.publish() and topic.get_pose().valid)
    assert np.linalg.norm(topic.get_pose().orientation) == pytest.approx(1.0)
    assert topic.get_role() is TrackerRole.HEAD
    topic.shutdown()


def test_the_neck_is_commanded_by_name(node: TeleopNode) -> None:
    heard: list[JointState] = []
    node.subscribe(JointState, TopicNames.CAMERA_PAN_TILT_CMD, heard.append, QoSPreset.COMMAND)
    neck = PanTiltTopic(node, ("head_0", "head_1"))
    for entity in node._managed_entities:
        entity.on_activate(None)

    def is_heard() -> bool:
        neck.send([0.1, -0.2], 12.5)
        return bool(heard)

    wait_for(is_heard)
    assert heard[0].name == ["head_0", "head_1"]
    assert list(heard[0].position) == [0.1, -0.2]
    assert (heard[0].header.stamp.sec, heard[0].header.stamp.nanosec) == (12, 500_000_000)
