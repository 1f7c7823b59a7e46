# SPDX-License-Identifier: Apache-2.0
"""Serialised pictures, compared with what rclpy reads."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image

from teleop_system.simulators.ros2_camera import encode_image


@pytest.mark.parametrize(
    ("encoding", "shape", "kind"),
    [("rgb8", (24, 33, 3), np.uint8), ("32FC1", (7, 5), np.float32)],
)
def test_a_picture_is_read_as_it_was_written(
    encoding: str, shape: tuple[int, ...], kind: type
) -> None:
    pixels = np.random.default_rng(1).uniform(0, 255, shape).astype(kind)
    message = deserialize_message(encode_image(1234.25, pixels, encoding), Image)
    assert (message.height, message.width) == shape[:2]
    assert (message.encoding, message.is_bigendian) == (encoding, 0)
    assert message.header.frame_id == "camera_optical"
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1234, 250_000_000)
    assert message.step * message.height == len(message.data)
    np.testing.assert_array_equal(np.frombuffer(bytes(message.data), kind), pixels.ravel())
