# SPDX-License-Identifier: Apache-2.0
"""A camera that publishes one colour and one depth image per request.

Run in a separate process by `NodeProcess`; the requested number is the stamp of the image.
"""

import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import Image
from std_msgs.msg import Int32

from teleop_system.ros2.fast_dds import enlarge_shared_memory
from teleop_system.simulators.ros2_camera import encode_image
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

REQUESTS = "/picture_source/number"
SIZE = (480, 640)


class PictureSource(Node):
    def __init__(self) -> None:
        super().__init__("picture_source")
        sensor = get_qos_profile(QoSPreset.SENSOR_DATA)
        self._color = self.create_publisher(Image, TopicNames.CAMERA_COLOR_IMAGE, sensor)
        self._depth = self.create_publisher(Image, TopicNames.CAMERA_DEPTH_IMAGE, sensor)
        command = get_qos_profile(QoSPreset.COMMAND)
        self.create_subscription(Int32, REQUESTS, self._publish, command)

    def _publish(self, request: Int32) -> None:
        self._color.publish(encode_image(request.data, np.zeros((*SIZE, 3), np.uint8), "rgb8"))
        self._depth.publish(encode_image(request.data, np.zeros(SIZE, np.float32), "32FC1"))


def main() -> None:
    enlarge_shared_memory()
    rclpy.init()
    rclpy.spin(PictureSource())
