# SPDX-License-Identifier: Apache-2.0
"""The operator's head between ROS 2 and a stream, in both directions.

At the operator: `/master/hmd/orientation` goes out through the stream's client. At the robot: what
comes in through the stream's server becomes `/slave/camera/pan_tilt_cmd`.
"""

import logging
import time
from typing import Any

from teleop_system.exceptions import InvalidValueError
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.camera.head_follower import HeadThread
from teleop_system.modules.camera.ros2_adapters import read_orientation
from teleop_system.modules.camera.ros2_rgbd_subscriber import ROS2RGBDSubscriber
from teleop_system.modules.camera.streaming.client import RGBDStreamClient
from teleop_system.utils.logger import ThrottledLogger
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

logger = logging.getLogger(__name__)


class HeadToStream:
    """Sends every orientation of the operator's head topic through a client.

    Args:
        node: A node that somebody spins.
        client: A started client.
        topic_prefix: Prefix of the topic.
    """

    def __init__(self, node: Any, client: RGBDStreamClient, topic_prefix: str = "") -> None:
        from geometry_msgs.msg import QuaternionStamped

        self._node, self._client = node, client
        self._log = ThrottledLogger(logger, 5.0)
        self.sent = 0
        node.create_subscription(
            QuaternionStamped,
            TopicNames.with_prefix(TopicNames.HMD_ORIENTATION, topic_prefix),
            self._on_head,
            get_qos_profile(QoSPreset.SENSOR_DATA),
            raw=True,
        )

    def _on_head(self, data: bytes) -> None:
        now = time.monotonic()
        try:
            pose = read_orientation(data)
        except InvalidValueError as error:
            self._log.warning("head", f"an orientation is left out: {error}", now=now)
            return
        age = self._node.get_clock().now().nanoseconds * 1e-9 - pose.timestamp
        stamp = now - age if 0.0 <= age <= 10.0 else now
        self.sent += self._client.send_head(pose.orientation, stamp)


def neck_over_topics(camera: ROS2RGBDSubscriber, config: CameraConfig) -> HeadThread:
    """Return what turns the wishes of a stream's clients into commands of the robot's neck.

    Args:
        camera: The robot's camera.
        config: Limits of the neck, and the rate.
    """
    return HeadThread(config, camera.send, camera.get_orientation)
