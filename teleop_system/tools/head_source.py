# SPDX-License-Identifier: Apache-2.0
"""Sends the operator's head orientation from ROS 2 to a stream."""

import contextlib
from collections.abc import Iterator

from teleop_system.exceptions import MissingExtraError, StreamError
from teleop_system.interfaces import ICameraStream
from teleop_system.modules.camera.streaming.client import RGBDStreamClient
from teleop_system.tools.streaming import RosOptions
from teleop_system.utils.ros2_helpers import is_ros_available
from teleop_system.utils.ros2_spinning import open_node


@contextlib.contextmanager
def hmd_to_stream(camera: ICameraStream, ros: RosOptions) -> Iterator[None]:
    """Send `/master/hmd/orientation` to a stream while the context is open.

    Raises:
        StreamError: The camera is not a stream.
        MissingExtraError: ROS 2 is missing.
    """
    if not isinstance(camera, RGBDStreamClient):
        raise StreamError("only a stream client can send the operator's head orientation")
    if not is_ros_available():
        raise MissingExtraError("rclpy (or a sourced ROS 2)", "ros")
    from teleop_system.modules.camera import ros2_head_sync

    node, close = open_node("head_to_stream", use_sim_time=ros.use_sim_time)
    try:
        ros2_head_sync.HeadToStream(node, camera, ros.topic_prefix)
        yield
    finally:
        close()
