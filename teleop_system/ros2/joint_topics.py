# SPDX-License-Identifier: Apache-2.0
"""Joints over topics: where they are, and where they should go, always by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sensor_msgs.msg import JointState as JointStateMessage

from teleop_system.exceptions import DeviceNotConnectedError, InvalidJointStateError
from teleop_system.interfaces import JointState
from teleop_system.ros2.cdr import JointStateCodec
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.safety.staleness import JOINT_STATES
from teleop_system.utils.ros2_helpers import QoSPreset

Array = NDArray[np.float64]


class JointFeed(SampleTopic[JointState]):
    """A topic that tells the positions of many joints, of which some are wanted.

    Args:
        node: The `TeleopNode` that listens.
        topic: Name of the topic without prefix.
        joints: The joints that are wanted, in the order in which they are given back; a message
            that lacks one of them is refused.
    """

    def __init__(self, node: Any, topic: str, joints: Sequence[str]) -> None:
        super().__init__(
            node, JointStateMessage, topic, self._read, subject=topic.rpartition("/")[2]
        )
        self.joints = list(joints)
        self._codec = JointStateCodec()
        self._names: tuple[str, ...] = ()
        self._columns = np.zeros(0, dtype=np.intp)
        self.heard_at = -np.inf
        """Time of the node's steady clock at which a state was last heard in [s]."""

    @property
    def age(self) -> float:
        """For how long nothing was heard in [s]."""
        return float(self._node.steady() - self.heard_at)

    def _read(self, data: bytes) -> JointState:
        message = self._codec.decode(data)
        if message.names is not self._names:
            self._find(message.names)
        if len(message.positions) != len(message.names):
            raise InvalidJointStateError(
                f"{len(message.names)} names need as many positions, got {len(message.positions)}"
            )
        positions = np.array(message.positions)[self._columns]
        state = JointState(positions, names=self.joints, timestamp=message.stamp)
        self.heard_at = self._node.steady()
        return state

    def _find(self, names: tuple[str, ...]) -> None:
        missing = [joint for joint in self.joints if joint not in names]
        if missing:
            raise InvalidJointStateError(f"joints are missing: {', '.join(missing)}")
        self._columns = np.array([names.index(joint) for joint in self.joints], dtype=np.intp)
        self._names = names


class JointWriter:
    """A topic that joints are commanded on.

    Args:
        node: The `TeleopNode` that commands; while it is not active, nothing is sent.
        topic: Name of the topic without prefix.
        joints: The joints, in the order of the commands.
    """

    def __init__(self, node: Any, topic: str, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        self._codec = JointStateCodec(self.joints)
        self._publisher = node.publisher(JointStateMessage, topic, QoSPreset.COMMAND)

    def send(self, positions: ArrayLike, stamp: float) -> None:
        """Command positions [rad] or [m], shape (N,), that follow from a sample of `stamp` [s].

        Raises:
            InvalidValueError: The vector has another length.
        """
        self._publisher.publish(self._codec.encode(stamp, np.asarray(positions).tolist()))


class JointsOverTopics:
    """What arms and hands over topics have in common.

    Args:
        node: The `TeleopNode` that commands.
        topic: Name of the command topic without prefix.
        joints: The joints, in the order of commands and states.
        states: Where the joints are, shared by all parts of the robot.
    """

    def __init__(self, node: Any, topic: str, joints: Sequence[str], states: JointFeed) -> None:
        self._node = node
        self._topic = topic
        self._joints = list(joints)
        self._states = states
        self._columns = [states.joints.index(joint) for joint in joints]
        self._writer: JointWriter | None = None
        self._is_open = False

    def initialize(self) -> bool:
        """Connect; False, with the reason logged, where no robot tells its state."""
        if self._states.latest is None or JOINT_STATES.is_stale(self._states.age):
            self._node.get_logger().error(f"no robot tells its state on {self._states.topic}")
            return False
        if self._writer is None:
            self._writer = JointWriter(self._node, self._topic, self._joints)
        self._is_open = True
        return True

    def send_joint_command(self, joint_positions: Array) -> None:
        """Command joint positions, stamped with the present time."""
        if self._writer is None or not self._is_open:
            raise DeviceNotConnectedError(self._topic)
        command = np.asarray(joint_positions, dtype=np.float64)
        if command.shape != (len(self._joints),) or not np.isfinite(command).all():
            raise InvalidJointStateError(
                f"{self._topic} needs {len(self._joints)} finite positions, got {command}"
            )
        self._writer.send(command, self._node.now())

    def get_joint_state(self) -> JointState:
        """Return the newest measured state."""
        state = self._states.latest
        if state is None:
            raise DeviceNotConnectedError(self._topic)
        positions = state.positions[self._columns]
        return JointState(positions, names=self._joints, timestamp=state.timestamp)

    def get_joint_count(self) -> int:
        """Return the number of joints."""
        return len(self._joints)

    def is_connected(self) -> bool:
        """Tell whether `initialize()` succeeded and the robot still tells its state."""
        return self._is_open and not JOINT_STATES.is_stale(self._states.age)

    def shutdown(self) -> None:
        """Send no more commands."""
        self._is_open = False
