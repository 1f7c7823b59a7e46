# SPDX-License-Identifier: Apache-2.0
"""Pictures of a simulated camera on topics, drawn and sent in a thread of their own."""

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
"""How long the last picture may take in [s]."""
RETRY = 1.0
"""Time in [s] after which a camera that failed is tried again."""


class CameraTopics:
    """Colour, depth and calibration of one camera.

    Where drawing fails, that is told once, stays in `trouble`, and is tried again once a second
    until it succeeds, whoever looks; nobody waits for it meanwhile.

    Args:
        node: The `TeleopNode` that owns the simulator.
        simulator: The simulator.
        camera: Name of the camera.
        now: Tells the time of pictures in [s].

    Attributes:
        count: Pictures published so far.
        trouble: Why there are no pictures, as a cause for the status; empty where there are.

    Raises:
        UnknownNameError: There is no such camera.
        RenderingUnavailableError: Nothing can be drawn here.
    """

    def __init__(
        self, node: Any, simulator: MuJoCoSimulator, camera: str, now: Callable[[], float]
    ) -> None:
        self.count = 0
        self.trouble = ""
        self._node, self._simulator, self._camera, self._now = node, simulator, camera, now
        self._info = _camera_info(simulator.get_camera_rgbd(camera))
        preset = QoSPreset.SENSOR_DATA
        self._color = node.publisher(Image, TopicNames.CAMERA_COLOR_IMAGE, preset)
        self._depth = node.publisher(Image, TopicNames.CAMERA_DEPTH_IMAGE, preset)
        self._infos = node.publisher(CameraInfo, TopicNames.CAMERA_INFO, preset)
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()

    def request(self) -> None:
        """Have a picture of the present drawn and published, without waiting for it.

        One that comes while another is being drawn waits; more than one do not. Nothing is
        drawn that nobody looks at.
        """
        if any(outlet.get_subscription_count() for outlet in (self._color, self._depth)):
            self._wanted.set()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._wanted.set()
        self._thread.join(CLOSING_TIME)

    def _run(self) -> None:
        while True:
            is_wanted = self._wanted.wait(0.0 if self.trouble else None)
            self._wanted.clear()
            if self._closing.is_set():
                return
            try:
                stamp = self._now()
                frame = self._simulator.get_camera_rgbd(self._camera)
            except TeleopError as error:
                self._note_failure(error)
                self._closing.wait(RETRY)
                continue
            self._note_success()
            if is_wanted and not self._closing.is_set():
                self._publish(stamp, frame)

    def _note_failure(self, error: TeleopError) -> None:
        if not self.trouble and not self._closing.is_set():
            self._node.get_logger().error(
                f"no pictures of {self._camera!r}: {error}; tried again every {RETRY:g} s, while "
                "all else goes on. If it stays so, see what `teleop doctor` says of OpenGL, and "
                "restart this node"
            )
        self.trouble = f"{CAMERA_CAUSE}: {self._camera}: no pictures ({error})"

    def _note_success(self) -> None:
        if self.trouble:
            self.trouble = ""
            self._node.get_logger().info(f"pictures of {self._camera!r} are back")

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
