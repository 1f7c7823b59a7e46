# SPDX-License-Identifier: Apache-2.0
"""Heads over ROS 2 topics, the operator's and the robot's; the only place that knows messages."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import QuaternionStamped

from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.ros2.cdr import StampedCodec
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.pose_topic import PoseTopic
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

ROOM = "map"
"""Frame of the orientation: x forward, y left, z up, fixed in the operator's room."""


class HeadOrientationTopic(PoseTopic):
    """A `QuaternionStamped` topic, seen as the tracker of a head that stays at the origin.

    Args:
        node: The `TeleopNode` that listens.
        on_sample: Called with "head" whenever an orientation has arrived.
    """

    def __init__(self, node: Any, on_sample: Callable[[str], None] | None = None) -> None:
        super().__init__(
            node,
            TrackerRole.HEAD,
            QuaternionStamped,
            TopicNames.HMD_ORIENTATION,
            read_orientation,
            on_sample=on_sample,
        )


class HeadPublisher:
    """The tracker of a head, published as a `QuaternionStamped` topic.

    Args:
        node: The `TeleopNode` that publishes; while it is not active, nothing is sent.
        tracker: The tracker.
    """

    def __init__(self, node: Any, tracker: IMasterTracker) -> None:
        self._tracker = tracker
        self._codec = StampedCodec(StampedCodec.QUATERNION, ROOM)
        self._publisher = node.publisher(
            QuaternionStamped, TopicNames.HMD_ORIENTATION, QoSPreset.SENSOR_DATA
        )

    def publish(self) -> bool:
        """Send the newest orientation; tell whether there was a valid one."""
        pose = self._tracker.get_pose()
        if pose.valid:
            values = pose.orientation.tolist()
            self._publisher.publish(self._codec.encode(pose.timestamp, values))
        return pose.valid


class PanTiltTopic(JointWriter):
    """The topic that the robot's neck is commanded on.

    Args:
        node: The `TeleopNode` that commands; while it is not active, nothing is sent.
        joints: The joints of the neck, pan first.
    """

    def __init__(self, node: Any, joints: Sequence[str]) -> None:
        super().__init__(node, TopicNames.CAMERA_PAN_TILT_CMD, joints)


def read_orientation(data: bytes) -> Pose6D:
    """Return the pose of a head at the origin that the bytes of a `QuaternionStamped` tell.

    Raises:
        InvalidValueError: They tell none.
    """
    message = _ORIENTATION.decode(data)
    return Pose6D(np.zeros(3), np.array(message.values), message.stamp)


_ORIENTATION = StampedCodec(StampedCodec.QUATERNION)
