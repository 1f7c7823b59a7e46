# SPDX-License-Identifier: Apache-2.0
"""An RGB-D camera over three ROS 2 topics, as an `ICameraStream`."""

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
from teleop_system.devices.image_messages import color_of, depth_of, matrix_of
from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces import BufferedCamera, RGBDFrame
from teleop_system.safety.staleness import CAMERA
from teleop_system.utils.logger import ThrottledLogger
from teleop_system.utils.ros2_helpers import QoSPreset, get_qos_profile, is_ros_available
from teleop_system.utils.ros2_spinning import open_node

logger = logging.getLogger(__name__)

PLAUSIBLE_AGE = 10.0
"""Age in [s] up to which a stamp is of the clock we have; an older one is of another."""
OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""Axes of an optical frame (x right, y down, z forward) that looks along x with z up."""


@dataclass(frozen=True, slots=True)
class CameraTopics:
    """Where a camera publishes: `Image`, `Image` and `CameraInfo`."""

    color: str
    depth: str
    info: str


class RGBDTopicCamera(BufferedCamera):
    """Pairs the images of topics, in a node and a thread of its own unless it is given a node.

    The pose of its frames is that of the neck, at the origin: topics of images carry none, and
    of the way a head turns that is the part that matters to a viewer.

    Args:
        name: What the camera is called in errors and in the graph.
        topics: Candidates; the first whose colour is published is taken.
        patience: Longest wait for the first frame in [s].
        window: Greatest difference of two stamps that are one exposure's in [s].
        use_sim_time: Whether stamps are of simulated time.
        node: A node that somebody else spins; then `open()` and `shutdown()` are for the thread
            that does, and `initialize()`, which waits, for any other.
    """

    def __init__(
        self,
        name: str,
        *topics: CameraTopics,
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
        """The node, while the camera is open, for those who publish beside it; else None."""
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

    def open(self, patience: float = 0.0) -> CameraTopics:
        """Begin to listen, without waiting for a frame.

        Args:
            patience: Longest wait in [s] for one of several candidates to be published.

        Returns:
            The topics that are listened to.
        """
        self.shutdown()
        self._open_node()
        topics = self._find_topics(time.monotonic() + patience)
        self._subscribe(topics)
        self.open_topics()
        return topics

    def open_topics(self) -> None:
        """Open further topics; for subclasses."""

    def listen(self, message_type: Any, topic: str, callback: Callable[[Any], None]) -> None:
        """Subscribe to a sensor's topic until `shutdown()`."""
        profile = get_qos_profile(QoSPreset.SENSOR_DATA)
        node = self._node
        made = node.create_subscription(message_type, topic, callback, profile)
        if self._host is not None:  # A node of our own takes its subscriptions along.
            self._close.append(lambda: node.destroy_subscription(made))

    def speak(self, message_type: Any, topic: str) -> Any:
        """Return a publisher of commands, which lasts until `shutdown()`."""
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
        """Do nothing: a camera that stands still looks where it looks."""

    @override
    def get_orientation(self) -> tuple[float, float]:
        return (0.0, 0.0)

    def _open_node(self) -> None:
        if self._host is not None:
            self._node = self._host
            return
        self._node, close = open_node(self._name, use_sim_time=self._use_sim_time)
        self._close.append(close)

    def _find_topics(self, until: float) -> CameraTopics:
        """Return the first topics that are published; the first of all where none is."""
        while len(self._topics) > 1 and time.monotonic() < until:
            published = dict(self._node.get_topic_names_and_types())
            for topics in self._topics:
                if topics.color in published:
                    return topics
            time.sleep(0.1)
        return self._topics[0]

    def _subscribe(self, topics: CameraTopics) -> None:
        from sensor_msgs.msg import CameraInfo, Image

        self._pairer: FramePairer[NDArray[np.uint8], NDArray[np.float32]]
        self._pairer = FramePairer(self._window)
        self.listen(Image, topics.color, self._on_color)
        self.listen(Image, topics.depth, self._on_depth)
        self.listen(CameraInfo, topics.info, self._on_info)

    def _on_info(self, message: Any) -> None:
        try:
            self._matrix = matrix_of(message)
        except InvalidValueError as error:
            self._complain("info", error)

    def _on_color(self, message: Any) -> None:
        try:
            image = color_of(message)
        except InvalidValueError as error:
            self._complain("color", error)
            return
        self._take(self._pairer.add_color(_seconds(message), image, time.monotonic()))

    def _on_depth(self, message: Any) -> None:
        try:
            image = depth_of(message)
        except InvalidValueError as error:
            self._complain("depth", error)
            return
        self._take(self._pairer.add_depth(_seconds(message), image, time.monotonic()))

    def _take(
        self, pair: tuple[float, NDArray[np.uint8], NDArray[np.float32] | None] | None
    ) -> None:
        if pair is None or self._matrix is None:
            return
        stamp, rgb, depth = pair
        height, width = rgb.shape[:2]
        if depth is None:
            depth = np.zeros((height, width), np.float32)
        if depth.shape != (height, width):
            self._complain(
                "size", f"depth {depth.shape} is not aligned with colour {(height, width)}"
            )
            return
        pose = np.eye(4)
        pose[:3, :3] = _neck_rotation(*self.get_orientation()) @ OPTICAL
        when, self._arrived = self._monotonic(stamp), time.monotonic()
        self.put_frame(RGBDFrame(rgb, depth, self._matrix, pose, when, width=width, height=height))

    def _monotonic(self, stamp: float) -> float:
        """Return a stamp on this machine's monotonic clock; now where it is of another clock."""
        age = float(self._node.get_clock().now().nanoseconds) * 1e-9 - stamp
        if self._use_sim_time or not 0.0 <= age <= PLAUSIBLE_AGE:
            return time.monotonic()
        return time.monotonic() - age

    def _complain(self, key: str, error: object) -> None:
        self._log.warning(key, f"{self._name}: {error}; left out", now=time.monotonic())


def _neck_rotation(pan: float, tilt: float) -> NDArray[np.float64]:
    """Return the rotation of a head turned left by `pan` and then down by `tilt` [rad]."""
    c, s = math.cos(pan), math.sin(pan)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    c, s = math.cos(tilt), math.sin(tilt)
    nod = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    both: NDArray[np.float64] = turn @ nod
    return both


def _seconds(message: Any) -> float:
    stamp = message.header.stamp
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)
