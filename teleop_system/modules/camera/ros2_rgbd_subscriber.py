# SPDX-License-Identifier: Apache-2.0
"""The robot's camera and neck over ROS 2 topics; a drop-in for `SimCameraStream`."""

import math
import time
from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from teleop_system.devices.ros2_rgbd_topics import CameraTopicNames, RGBDTopicCamera
from teleop_system.exceptions import InvalidValueError
from teleop_system.utils.ros2_helpers import TopicNames


class ROS2RGBDSubscriber(RGBDTopicCamera):
    """Images from `/slave/camera/*`; head commands go to `/slave/camera/pan_tilt_cmd`.

    Args:
        topic_prefix: Prefix of all topics.
        joints: Pan and tilt joint of the neck.
        patience: Longest wait for the first frame in [s].
        use_sim_time: Whether the robot runs on simulated time.
        node: A spinning node; without one the camera makes its own.
    """

    def __init__(
        self,
        topic_prefix: str = "",
        *,
        joints: Sequence[str] = ("head_0", "head_1"),
        patience: float = 10.0,
        use_sim_time: bool = False,
        node: Any = None,
    ) -> None:
        self._prefix = topic_prefix
        super().__init__(
            "rgbd subscriber",
            CameraTopicNames(
                self._topic(TopicNames.CAMERA_COLOR_IMAGE),
                self._topic(TopicNames.CAMERA_DEPTH_IMAGE),
                self._topic(TopicNames.CAMERA_INFO),
            ),
            patience=patience,
            use_sim_time=use_sim_time,
            node=node,
        )
        self._joints = tuple(joints)
        self._angles = (0.0, 0.0)
        self._command: Any = None

    @override
    def open_topics(self) -> None:
        from sensor_msgs.msg import JointState

        self._command = self.advertise(JointState, self._topic(TopicNames.CAMERA_PAN_TILT_CMD))
        self.subscribe(JointState, self._topic(TopicNames.JOINT_STATES), self._on_joints)

    @override
    def shutdown(self) -> None:
        self._command = None
        super().shutdown()

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        self.command_head(pan, tilt, time.monotonic())

    @override
    def command_head(self, pan: float, tilt: float, timestamp: float) -> None:
        """Publish a neck command, stamped with the time the operator's head was measured.

        The robot side holds the head when commands stop, so repeat them.

        Raises:
            InvalidValueError: An angle is not finite.
        """
        from sensor_msgs.msg import JointState

        if not (math.isfinite(pan) and math.isfinite(tilt)):
            raise InvalidValueError(f"pan and tilt must be finite, got {pan} and {tilt}")
        publisher, node = self._command, self.node
        if publisher is None or node is None:
            return
        bound = math.pi
        angles = [max(-bound, min(bound, float(a))) for a in (pan, tilt)]
        message = JointState(name=list(self._joints), position=angles)
        age = max(0, int(1e9 * (time.monotonic() - timestamp)))
        now = node.get_clock().now().nanoseconds
        stamp = max(0, now - age)
        message.header.stamp.sec = stamp // 1_000_000_000
        message.header.stamp.nanosec = stamp % 1_000_000_000
        publisher.publish(message)

    @override
    def get_orientation(self) -> tuple[float, float]:
        return self._angles

    def _on_joints(self, message: Any) -> None:
        indices = {name: index for index, name in enumerate(message.name)}
        found = [indices.get(joint) for joint in self._joints]
        if None not in found and len(message.position) == len(message.name):
            pan, tilt = (float(message.position[index]) for index in found if index is not None)
            if math.isfinite(pan) and math.isfinite(tilt):
                self._angles = (pan, tilt)

    def _topic(self, name: str) -> str:
        return TopicNames.with_prefix(name, self._prefix)
