# SPDX-License-Identifier: Apache-2.0
"""Trackers over ROS 2 topics; the only place that knows their messages."""

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped

from teleop_system.interfaces import ArmSide, IMasterTracker, Pose6D, TrackerRole
from teleop_system.robots import Chain
from teleop_system.ros2.cdr import StampedCodec
from teleop_system.ros2.sample_topic import PoseTopic
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

ROOM = "map"
"""Frame of the trackers' poses: x forward, y left, z up, fixed in the operator's room."""


class TrackerTopic(PoseTopic):
    """A `PoseStamped` topic, used as an `IMasterTracker`.

    Args:
        node: The `TeleopNode` that subscribes.
        role: Where the tracker is worn.
        on_sample: Called with the value of the role whenever a pose has arrived.
    """

    def __init__(
        self, node: Any, role: TrackerRole, on_sample: Callable[[str], None] | None = None
    ) -> None:
        topic = TopicNames.tracker(role)
        super().__init__(node, role, PoseStamped, topic, read_pose, on_sample=on_sample)


class TrackerPublisher:
    """An `IMasterTracker`, published as a `PoseStamped` topic.

    Args:
        node: The `TeleopNode` that publishes; while it is not active, nothing is sent.
        tracker: The tracker.
    """

    def __init__(self, node: Any, tracker: IMasterTracker) -> None:
        self._tracker = tracker
        self._codec = StampedCodec(StampedCodec.POSE, ROOM)
        topic = TopicNames.tracker(tracker.get_role())
        self._publisher = node.publisher(PoseStamped, topic, QoSPreset.SENSOR_DATA)

    def publish(self) -> bool:
        """Send the newest pose; return whether it is valid."""
        pose = self._tracker.get_pose()
        if pose.valid:
            values = (*pose.position.tolist(), *pose.orientation.tolist())
            self._publisher.publish(self._codec.encode(pose.timestamp, values))
        return pose.valid


def read_pose(data: bytes) -> Pose6D:
    """Return the pose in the bytes of a `PoseStamped`.

    A quaternion that is not of unit length passes; the controller's gate reports it.

    Raises:
        InvalidValueError: They hold no pose.
    """
    message = _POSE.decode(data)
    values = np.array(message.values)
    return Pose6D(values[:3], values[3:], message.stamp)


def chain_side(chain: Chain) -> ArmSide:
    """Return the side whose command topic a chain has; an arm without a side is the right one."""
    if chain.kind == "torso":
        return ArmSide.TORSO
    return ArmSide.LEFT if chain.side == "left" else ArmSide.RIGHT


_POSE = StampedCodec(StampedCodec.POSE)
