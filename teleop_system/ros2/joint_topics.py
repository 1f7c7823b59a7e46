# SPDX-License-Identifier: Apache-2.0
"""Joint states and joint commands on topics, always by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sensor_msgs.msg import JointState as JointStateMessage

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces import JointState
from teleop_system.ros2.cdr import JointStateCodec
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.utils.ros2_helpers import QoSPreset


class JointFeed(SampleTopic[JointState]):
    """A topic with joint positions, of which some joints are selected.

    Args:
        node: The `TeleopNode` that listens.
        topic: Name of the topic without prefix.
        joints: The selected joints, in the order of the result; a message that lacks one of
            them is rejected.
    """

    def __init__(self, node: Any, topic: str, joints: Sequence[str]) -> None:
        super().__init__(
            node, JointStateMessage, topic, self._read, subject=topic.rpartition("/")[2]
        )
        self.joints = list(joints)
        self._codec = JointStateCodec()
        self._names: tuple[str, ...] = ()
        self._columns = np.zeros(0, dtype=np.intp)
        self.received_at = -np.inf
        """Time of the node's steady clock when the last state arrived in [s]."""

    @property
    def age(self) -> float:
        """Time since the last state in [s]; infinite before the first one."""
        return float(self._node.steady() - self.received_at)

    def _read(self, data: bytes) -> JointState:
        message = self._codec.decode(data)
        if message.names is not self._names:
            self._find_columns(message.names)
        if len(message.positions) != len(message.names):
            raise InvalidJointStateError(
                f"{len(message.names)} names need as many positions, got {len(message.positions)}"
            )
        positions = np.array(message.positions)[self._columns]
        state = JointState(positions, names=self.joints, timestamp=message.stamp)
        self.received_at = self._node.steady()
        return state

    def _find_columns(self, names: tuple[str, ...]) -> None:
        missing = [joint for joint in self.joints if joint not in names]
        if missing:
            raise InvalidJointStateError(f"joints are missing: {', '.join(missing)}")
        self._columns = np.array([names.index(joint) for joint in self.joints], dtype=np.intp)
        self._names = names


class JointWriter:
    """A joint command topic.

    Args:
        node: The `TeleopNode` that publishes; it sends only while it is active.
        topic: Name of the topic without prefix.
        joints: The joints, in the order of the commands.
    """

    def __init__(self, node: Any, topic: str, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        self._codec = JointStateCodec(self.joints)
        self._publisher = node.publisher(JointStateMessage, topic, QoSPreset.COMMAND)

    def send(self, positions: ArrayLike, stamp: float) -> None:
        """Command positions [rad] or [m], shape (N,), computed from a sample of `stamp` [s].

        Raises:
            InvalidValueError: The vector has another length.
        """
        self._publisher.publish(self._codec.encode(stamp, np.asarray(positions).tolist()))
