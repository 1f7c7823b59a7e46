# SPDX-License-Identifier: Apache-2.0
"""ROS 2 topics of the operator's head and of the robot's neck."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import QuaternionStamped

from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.ros2.cdr import StampedCodec
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.sample_topic import PoseTopic
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

ROOM = "map"
"""Frame of the orientation: x forward, y left, z up, fixed in the operator's room."""


class HeadOrientationTopic(PoseTopic):
    """A `QuaternionStamped` topic as the tracker of a head at the origin.

    Args:
        node: The `TeleopNode` that subscribes.
        on_sample: Called with "head" when an orientation arrives.
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
    """Publishes a head tracker as a `QuaternionStamped` topic.

    Args:
        node: The `TeleopNode` that publishes; it sends nothing while inactive.
        tracker: The tracker.
    """

    def __init__(self, node: Any, tracker: IMasterTracker) -> None:
        self._tracker = tracker
        self._codec = StampedCodec(StampedCodec.QUATERNION, ROOM)
        self._publisher = node.publisher(
            QuaternionStamped, TopicNames.HMD_ORIENTATION, QoSPreset.SENSOR_DATA
        )

    def publish(self) -> bool:
        """Publish the newest orientation; return whether it was valid."""
        pose = self._tracker.get_pose()
        if pose.valid:
            values = pose.orientation.tolist()
            self._publisher.publish(self._codec.encode(pose.timestamp, values))
        return pose.valid


class PanTiltTopic(JointWriter):
    """The command topic of the robot's neck.

    Args:
        node: The `TeleopNode` that publishes; it sends nothing while inactive.
        joints: The joints of the neck, pan first.
    """

    def __init__(self, node: Any, joints: Sequence[str]) -> None:
        super().__init__(node, TopicNames.CAMERA_PAN_TILT_CMD, joints)


def read_orientation(data: bytes) -> Pose6D:
    """Decode a `QuaternionStamped` as the pose of a head at the origin.

    Raises:
        InvalidValueError: The message is invalid.
    """
    message = _ORIENTATION.decode(data)
    return Pose6D(np.zeros(3), np.array(message.values), message.stamp)


_ORIENTATION = StampedCodec(StampedCodec.QUATERNION)
