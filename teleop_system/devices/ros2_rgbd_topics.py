# SPDX-License-Identifier: Apache-2.0
"""An RGB-D camera over three ROS 2 topics as an `ICameraStream`."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.devices.frame_pairing import FramePairer
from teleop_system.devices.image_messages import decode_camera_matrix, decode_color, decode_depth
from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces import BufferedCamera, RGBDFrame
from teleop_system.safety.staleness import CAMERA
from teleop_system.utils.logger import ThrottledLogger
from teleop_system.utils.ros2_helpers import QoSPreset, get_qos_profile, is_ros_available
from teleop_system.utils.ros2_spinning import open_node
from teleop_system.utils.transforms import (
    camera_to_optical_quaternion,
    euler_to_quat,
    quat_to_matrix,
)

logger = logging.getLogger(__name__)

PLAUSIBLE_AGE = 10.0
"""A stamp older than this in [s] is from another clock."""


@dataclass(frozen=True, slots=True)
class CameraTopicNames:
    """Topics of a camera: `Image`, `Image` and `CameraInfo`."""

    color: str
    depth: str
    info: str


class RGBDTopicCamera(BufferedCamera):
    """Pairs colour and depth images, in its own node and thread unless it is given a node.

    Image topics have no pose, so frames have the orientation of the neck, at the origin.

    Args:
        name: Name of the camera in errors and in the ROS graph.
        topics: Candidates; the first one with a published colour topic is used.
        patience: Longest wait for the first frame in [s].
        window: Largest difference between the two stamps of one exposure in [s].
        use_sim_time: Whether stamps are in simulated time.
        node: A node that another thread spins. Call `open()` and `shutdown()` from that thread,
            and `initialize()`, which waits, from any other.
    """

    def __init__(
        self,
        name: str,
        *topics: CameraTopicNames,
        patience: float = 5.0,
        window: float = 0.017,
        use_sim_time: bool = False,
        node: Any = None,
    ) -> None:
        super().__init__(name)
        self._name, self._topics = name, topics
        self._patience, self._window, self._use_sim_time = patience, window, use_sim_time
        self._log = ThrottledLogger(logger, 5.0)
        self._matrix: NDArray[np.float64] | None = None
        self._arrived = -math.inf
        self._host = node
        self._node: Any = None
        self._close: list[Callable[[], object]] = []

    @property
    def node(self) -> Any:
        """The node while the camera is open; else None."""
        return self._node

    @override
    def initialize(self) -> bool:
        if not is_ros_available():
            logger.error("%s needs ROS 2; type: pip install 'teleop_system[ros]'", self._name)
            return False
        until = time.monotonic() + self._patience
        topics = self.open(self._patience)
        while time.monotonic() < until:
            if self.wait_rgbd(math.nan, 0.1) is not None:
                return True
        logger.error(
            "%s: no frame within %g s on %s, %s and %s",
            self._name,
            self._patience,
            topics.color,
            topics.depth,
            topics.info,
        )
        self.shutdown()
        return False

    def open(self, patience: float = 0.0) -> CameraTopicNames:
        """Subscribe, without waiting for a frame.

        Args:
            patience: Longest wait in [s] until one of several candidates is published.

        Returns:
            The topics in use.
        """
        self.shutdown()
        self._open_node()
        topics = self._find_topics(time.monotonic() + patience)
        self._subscribe(topics)
        self.open_topics()
        return topics

    def open_topics(self) -> None:
        """Open further topics; a hook for subclasses."""

    def subscribe(self, message_type: Any, topic: str, callback: Callable[[Any], None]) -> None:
        """Subscribe to a sensor's topic until `shutdown()`."""
        profile = get_qos_profile(QoSPreset.SENSOR_DATA)
        node = self._node
        made = node.create_subscription(message_type, topic, callback, profile)
        if self._host is not None:  # An own node is destroyed with its subscriptions.
            self._close.append(lambda: node.destroy_subscription(made))

    def advertise(self, message_type: Any, topic: str) -> Any:
        """Return a publisher of commands that exists until `shutdown()`."""
        node = self._node
        made = node.create_publisher(message_type, topic, get_qos_profile(QoSPreset.COMMAND))
        if self._host is not None:
            self._close.append(lambda: node.destroy_publisher(made))
        return made

    @override
    def shutdown(self) -> None:
        while self._close:
            self._close.pop()()
        self._node = None
        self._matrix = None
        self.clear_frame()

    @override
    def is_connected(self) -> bool:
        is_fresh = not CAMERA.is_stale(time.monotonic() - self._arrived)
        return self._node is not None and self.has_frame and is_fresh

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        """Do nothing: this camera has no neck."""

    @override
    def get_orientation(self) -> tuple[float, float]:
        return (0.0, 0.0)

    def _open_node(self) -> None:
        if self._host is not None:
            self._node = self._host
            return
        self._node, close = open_node(self._name, use_sim_time=self._use_sim_time)
        self._close.append(close)

    def _find_topics(self, until: float) -> CameraTopicNames:
        """Return the first candidate that is published, or else the first one."""
        while len(self._topics) > 1 and time.monotonic() < until:
            published = dict(self._node.get_topic_names_and_types())
            for topics in self._topics:
                if topics.color in published:
                    return topics
            time.sleep(0.1)
        return self._topics[0]

    def _subscribe(self, topics: CameraTopicNames) -> None:
        from sensor_msgs.msg import CameraInfo, Image

        self._pairer: FramePairer[NDArray[np.uint8], NDArray[np.float32]]
        self._pairer = FramePairer(self._window)
        self.subscribe(Image, topics.color, self._on_color)
        self.subscribe(Image, topics.depth, self._on_depth)
        self.subscribe(CameraInfo, topics.info, self._on_info)

    def _on_info(self, message: Any) -> None:
        try:
            self._matrix = decode_camera_matrix(message)
        except InvalidValueError as error:
            self._warn("info", error)

    def _on_color(self, message: Any) -> None:
        try:
            image = decode_color(message)
        except InvalidValueError as error:
            self._warn("color", error)
            return
        self._store(self._pairer.add_color(_seconds(message), image, time.monotonic()))

    def _on_depth(self, message: Any) -> None:
        try:
            image = decode_depth(message)
        except InvalidValueError as error:
            self._warn("depth", error)
            return
        self._store(self._pairer.add_depth(_seconds(message), image, time.monotonic()))

    def _store(
        self, pair: tuple[float, NDArray[np.uint8], NDArray[np.float32] | None] | None
    ) -> None:
        if pair is None or self._matrix is None:
            return
        stamp, rgb, depth = pair
        height, width = rgb.shape[:2]
        if depth is None:
            depth = np.zeros((height, width), np.float32)
        if depth.shape != (height, width):
            self._warn("size", f"depth {depth.shape} is not aligned with colour {(height, width)}")
            return
        pose = np.eye(4)
        pan, tilt = self.get_orientation()
        neck = euler_to_quat(0.0, tilt, pan)
        pose[:3, :3] = quat_to_matrix(camera_to_optical_quaternion(neck))
        when, self._arrived = self._monotonic(stamp), time.monotonic()
        self.put_frame(RGBDFrame(rgb, depth, self._matrix, pose, when, width=width, height=height))

    def _monotonic(self, stamp: float) -> float:
        """Convert a stamp to the local monotonic clock; a stamp of another clock becomes now."""
        age = float(self._node.get_clock().now().nanoseconds) * 1e-9 - stamp
        if self._use_sim_time or not 0.0 <= age <= PLAUSIBLE_AGE:
            return time.monotonic()
        return time.monotonic() - age

    def _warn(self, key: str, error: object) -> None:
        self._log.warning(key, f"{self._name}: ignored a message: {error}", now=time.monotonic())


def _seconds(message: Any) -> float:
    stamp = message.header.stamp
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)
