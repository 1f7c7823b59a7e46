# SPDX-License-Identifier: Apache-2.0
"""Publishes the images of a simulated camera, from a separate thread."""

import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from sensor_msgs.msg import CameraInfo, Image

from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import RGBDFrame
from teleop_system.ros2.cdr import LITTLE_ENDIAN, split_stamp
from teleop_system.ros2.status import CAMERA_CAUSE
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

OPTICAL_FRAME = "camera_optical"
CLOSING_TIME = 10.0
"""Longest time for the last image in [s]."""
RETRY = 1.0
"""Time in [s] between two attempts after a failure."""


class SimulatedCameraTopics:
    """Publishes colour, depth and calibration of one simulated camera.

    A rendering failure is logged once and kept in `failure`; rendering is tried again every
    `RETRY` until it succeeds. No caller waits for it.

    Args:
        node: The `TeleopNode` that owns the simulator.
        simulator: The simulator.
        camera: Name of the camera.
        now: Returns the time stamp of an image in [s].

    Attributes:
        count: Number of published images.
        failure: Reason for missing images, as a cause for the status; empty without a failure.

    Raises:
        UnknownNameError: The camera does not exist.
        RenderingUnavailableError: Rendering is not available.
    """

    def __init__(
        self, node: Any, simulator: MuJoCoSimulator, camera: str, now: Callable[[], float]
    ) -> None:
        self.count = 0
        self.failure = ""
        self._node, self._simulator, self._camera, self._now = node, simulator, camera, now
        self._info = _camera_info(simulator.get_camera_rgbd(camera))
        preset = QoSPreset.SENSOR_DATA
        self._color = node.publisher(Image, TopicNames.CAMERA_COLOR_IMAGE, preset)
        self._depth = node.publisher(Image, TopicNames.CAMERA_DEPTH_IMAGE, preset)
        self._infos = node.publisher(CameraInfo, TopicNames.CAMERA_INFO, preset)
        self._requested = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()

    def request(self) -> None:
        """Render and publish the current state, without waiting.

        During a rendering, at most one further request is kept. Without subscribers nothing is
        rendered.
        """
        if any(publisher.get_subscription_count() for publisher in (self._color, self._depth)):
            self._requested.set()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._requested.set()
        self._thread.join(CLOSING_TIME)

    def _run(self) -> None:
        while True:
            is_requested = self._requested.wait(0.0 if self.failure else None)
            self._requested.clear()
            if self._closing.is_set():
                return
            try:
                stamp = self._now()
                frame = self._simulator.get_camera_rgbd(self._camera)
            except TeleopError as error:
                self._report_failure(error)
                self._closing.wait(RETRY)
                continue
            self._report_success()
            if is_requested and not self._closing.is_set():
                self._publish(stamp, frame)

    def _report_failure(self, error: TeleopError) -> None:
        if not self.failure and not self._closing.is_set():
            self._node.get_logger().error(
                f"no images of {self._camera!r}: {error}; trying again every {RETRY:g} s. If this "
                "persists, check OpenGL with `teleop doctor` and restart this node"
            )
        self.failure = f"{CAMERA_CAUSE}: {self._camera}: no images ({error})"

    def _report_success(self) -> None:
        if self.failure:
            self.failure = ""
            self._node.get_logger().info(f"images of {self._camera!r} are available again")

    def _publish(self, stamp: float, frame: RGBDFrame) -> None:
        self._color.publish(encode_image(stamp, frame.rgb, "rgb8"))
        self._depth.publish(encode_image(stamp, frame.depth, "32FC1"))
        seconds, nanoseconds = split_stamp(stamp)
        self._info.header.stamp.sec, self._info.header.stamp.nanosec = seconds, nanoseconds
        self._infos.publish(self._info)
        self.count += 1


def encode_image(stamp: float, pixels: Any, encoding: str) -> bytes:
    """Return the bytes of a `sensor_msgs/Image` in the camera's frame.

    Args:
        stamp: Time stamp in [s].
        pixels: Rows of pixels, shape (H, W) or (H, W, C).
        encoding: As in `sensor_msgs/image_encodings`.
    """
    height, width = pixels.shape[:2]
    frame, name = OPTICAL_FRAME.encode() + b"\x00", encoding.encode() + b"\x00"
    head = struct.pack("<iII", *split_stamp(stamp), len(frame)) + frame
    head += bytes(-len(head) % 4) + struct.pack("<III", height, width, len(name)) + name
    head += b"\x00"  # Little endian.
    head += bytes(-len(head) % 4) + struct.pack("<II", pixels[0].nbytes, pixels.nbytes)
    return b"".join((LITTLE_ENDIAN, head, np.ascontiguousarray(pixels).data.cast("B")))


def _camera_info(frame: RGBDFrame) -> CameraInfo:
    info = CameraInfo(width=frame.width, height=frame.height, distortion_model="plumb_bob")
    info.header.frame_id = OPTICAL_FRAME
    matrix = frame.intrinsics
    info.d = [0.0] * 5
    info.k = matrix.ravel().tolist()
    info.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    info.p = [value for row in matrix.tolist() for value in (*row, 0.0)]
    return info
