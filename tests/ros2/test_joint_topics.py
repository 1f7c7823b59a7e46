# SPDX-License-Identifier: Apache-2.0
"""Joints on topics are matched by name; their order and number may vary."""

from collections.abc import Iterator

import numpy as np
import pytest

from teleop_system.ros2.cdr import JointStateCodec
from teleop_system.ros2.joint_topics import JointFeed
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.utils.ros2_helpers import TopicNames
from tests.ros2.spinning import spinning


@pytest.fixture(scope="module")
def node() -> Iterator[TeleopNode]:
    with spinning() as made:
        yield made


@pytest.fixture
def feed(node: TeleopNode) -> JointFeed:
    return JointFeed(node, TopicNames.JOINT_STATES, ("wrist", "shoulder"))


def test_states_come_in_the_requested_order(feed: JointFeed) -> None:
    feed.take(JointStateCodec(("base", "wrist", "elbow", "shoulder")).encode(5.0, (9, 3, 2, 1)))
    assert feed.latest is not None
    assert list(feed.latest.names) == ["wrist", "shoulder"]
    np.testing.assert_array_equal(feed.latest.positions, [3.0, 1.0])
    feed.take(JointStateCodec(("shoulder", "wrist")).encode(6.0, (4, 5)))
    np.testing.assert_array_equal(feed.latest.positions, [5.0, 4.0])


def test_a_message_without_a_joint_is_rejected_and_the_last_state_is_kept(
    feed: JointFeed,
) -> None:
    feed.take(JointStateCodec(("shoulder", "wrist")).encode(5.0, (1, 2)))
    feed.take(JointStateCodec(("shoulder",)).encode(6.0, (7,)))
    assert feed.latest is not None
    assert feed.latest.timestamp == 5.0
    assert (feed.received, feed.rejected) == (1, 1)
    assert feed.cause is not None


def test_the_age_counts_from_the_last_good_message(feed: JointFeed) -> None:
    assert feed.age == np.inf
    feed.take(JointStateCodec(("shoulder", "wrist")).encode(5.0, (1, 2)))
    assert feed.age < 5.0
