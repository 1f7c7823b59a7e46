# SPDX-License-Identifier: Apache-2.0
"""Forwards the operator's head orientation from its ROS 2 topic to a stream's server."""

import logging
import time
from typing import Any

from teleop_system.exceptions import InvalidValueError
from teleop_system.modules.camera.ros2_adapters import read_orientation
from teleop_system.modules.camera.streaming.client import RGBDStreamClient
from teleop_system.utils.logger import ThrottledLogger
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

logger = logging.getLogger(__name__)


class HeadToStream:
    """Sends every orientation from `/master/hmd/orientation` through a stream's client.

    Args:
        node: A spinning node.
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
            self._log.warning("head", f"ignored a head orientation: {error}", now=now)
            return
        age = self._node.get_clock().now().nanoseconds * 1e-9 - pose.timestamp
        stamp = now - age if 0.0 <= age <= 10.0 else now
        self.sent += self._client.send_head(pose.orientation, stamp)
