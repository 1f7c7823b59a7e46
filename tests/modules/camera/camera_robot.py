# SPDX-License-Identifier: Apache-2.0
"""A robot with only a head: it publishes a camera and follows the pan and tilt commands.

It runs in its own process:
`python -m tests.modules.camera.camera_robot rgb8 32FC1 [realsense|plain]`.
"""

import array
import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, JointState

from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile
from tests.modules.camera.streaming.scenes import scene

ROOT = Path(__file__).parents[3]
NEW_REALSENSE = "/camera/camera"
OLD_REALSENSE = "/camera"


@contextlib.contextmanager
def running(*command: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Yield a process of Python, and end it afterwards."""
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def running_robot(color: str = "rgb8", depth: str = "32FC1", kind: str = "plain"):  # type: ignore[no-untyped-def]
    """Return a context in which such a robot runs; its head looks straight ahead at the start."""
    return running("-m", "tests.modules.camera.camera_robot", color, depth, kind)


def free_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def topics(kind: str) -> tuple[str, str, str]:
    if kind == "plain":
        names = TopicNames
        return names.CAMERA_COLOR_IMAGE, names.CAMERA_DEPTH_IMAGE, names.CAMERA_INFO
    stem = OLD_REALSENSE if kind == "old_realsense" else NEW_REALSENSE
    return (
        f"{stem}/color/image_raw",
        f"{stem}/aligned_depth_to_color/image_raw",
        f"{stem}/color/camera_info",
    )


class CameraRobot(Node):
    def __init__(self, color: str, depth: str, kind: str) -> None:
        super().__init__("camera_robot")
        self._encodings = (color, depth)
        sensor = get_qos_profile(QoSPreset.SENSOR_DATA)
        names = topics(kind)
        self._color = self.create_publisher(Image, names[0], sensor)
        self._depth = self.create_publisher(Image, names[1], sensor)
        self._info = self.create_publisher(CameraInfo, names[2], sensor)
        self._joints = self.create_publisher(JointState, TopicNames.JOINT_STATES, sensor)
        command = get_qos_profile(QoSPreset.COMMAND)
        self.create_subscription(
            JointState, TopicNames.CAMERA_PAN_TILT_CMD, self._on_command, command
        )
        self._angles = {"head_0": 0.0, "head_1": 0.0}
        self.create_timer(1.0 / 30.0, self._publish)

    def _on_command(self, message: JointState) -> None:
        self._angles.update(zip(message.name, message.position, strict=True))

    def _publish(self) -> None:
        frame = scene(shift=int(100 * self._angles["head_0"]))
        stamp = self.get_clock().now().to_msg()
        color, depth = self._encodings
        rgb = frame.rgb[:, :, ::-1] if color == "bgr8" else frame.rgb
        self._color.publish(self._image(rgb, color, stamp))
        if depth == "16UC1":
            millimetres = np.rint(frame.depth * 1000.0).astype(np.uint16)
            self._depth.publish(self._image(millimetres, depth, stamp))
        elif depth == "32FC1":
            metres = np.where(frame.depth > 0.0, frame.depth, np.nan).astype(np.float32)
            self._depth.publish(self._image(metres, depth, stamp))
        info = CameraInfo(width=160, height=120, k=frame.intrinsics.ravel().tolist())
        info.header.stamp = stamp
        self._info.publish(info)
        joints = JointState(name=["other", *self._angles], position=[9.0, *self._angles.values()])
        joints.header.stamp = stamp
        self._joints.publish(joints)

    def _image(self, pixels: np.ndarray, encoding: str, stamp: object) -> Image:
        pixels = np.ascontiguousarray(pixels)
        message = Image(width=160, height=120, encoding=encoding, step=pixels.nbytes // 120)
        message.header.stamp = stamp
        message.data = array.array("B", pixels.tobytes())
        return message


def main() -> None:
    with contextlib.suppress(ExternalShutdownException), rclpy.init():
        rclpy.spin(CameraRobot(*sys.argv[1:4]))


if __name__ == "__main__":
    main()
