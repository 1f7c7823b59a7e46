# SPDX-License-Identifier: Apache-2.0
"""Gloves over ROS 2 topics."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState as JointStateMessage
from typing_extensions import override

from teleop_system.exceptions import InvalidHandStateError
from teleop_system.interfaces import HandJointState, IHandInput
from teleop_system.interfaces.master_device import HAND_JOINT_COUNT
from teleop_system.ros2.cdr import JointStateCodec
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

FINGER_JOINTS = tuple(
    f"{finger}_{joint}"
    for finger in ("thumb", "index", "middle", "ring", "pinky")
    for joint in ("mcp_flexion", "mcp_abduction", "pip_flexion", "dip_flexion")
)
"""Names of the operator's finger joints, in the order of `HandJointState.joint_angles`."""


class GloveTopic(SampleTopic[HandJointState], IHandInput):
    """A `JointState` topic with a person's finger angles as an `IHandInput`.

    Angles without names must be in the order of `FINGER_JOINTS`; with those names any order works.

    Args:
        node: The `TeleopNode` that subscribes.
        side: "left" or "right".
        signal: Name of the signal, such as "left_fingers".
        complete: Adds data that the topic does not carry, such as finger tips.
        on_sample: Called with the signal when a state arrives.
    """

    def __init__(
        self,
        node: Any,
        side: str,
        signal: str,
        *,
        complete: Callable[[HandJointState], HandJointState] | None = None,
        on_sample: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(
            node,
            JointStateMessage,
            TopicNames.hand_joints(side),
            self._read,
            subject=signal,
            on_sample=on_sample,
        )
        self._side = side
        self._complete = complete
        self._codec = JointStateCodec()
        self._names: tuple[str, ...] = ()
        self._columns: list[int] | None = None

    @override
    def initialize(self) -> bool:
        self.open()
        return True

    @override
    def get_joint_state(self) -> HandJointState:
        if self.latest is not None:
            return self.latest
        zeros = np.zeros(HAND_JOINT_COUNT)
        return HandJointState(zeros, None, self._node.now(), self._side, valid=False)

    @override
    def is_connected(self) -> bool:
        return self.is_open

    @override
    def get_side(self) -> str:
        return self._side

    @override
    def shutdown(self) -> None:
        self.close()

    def _read(self, data: bytes) -> HandJointState:
        message = self._codec.decode(data)
        if message.names is not self._names:
            self._columns = _columns(message.names)
            self._names = message.names
        angles = np.array(message.positions)
        if self._columns is not None and angles.shape == (HAND_JOINT_COUNT,):
            angles = angles[self._columns]
        state = HandJointState(angles, None, message.stamp, self._side)
        return state if self._complete is None else self._complete(state)


class GlovePublisher:
    """Publishes an `IHandInput` as a `JointState` topic.

    Args:
        node: The `TeleopNode` that publishes; it sends nothing while inactive.
        glove: The glove.
    """

    def __init__(self, node: Any, glove: IHandInput) -> None:
        self._glove = glove
        self._codec = JointStateCodec(FINGER_JOINTS)
        topic = TopicNames.hand_joints(glove.get_side())
        self._publisher = node.publisher(JointStateMessage, topic, QoSPreset.SENSOR_DATA)

    def publish(self) -> bool:
        """Publish the newest state; return whether it was valid."""
        state = self._glove.get_joint_state()
        if state.valid:
            self._publisher.publish(
                self._codec.encode(state.timestamp, state.joint_angles.tolist())
            )
        return state.valid


def _columns(names: tuple[str, ...]) -> list[int] | None:
    """Return the index of each of `FINGER_JOINTS` in the names; None if the order is the same."""
    if not names or names == FINGER_JOINTS:
        return None
    unknown = [name for name in names if name not in FINGER_JOINTS]
    missing = [name for name in FINGER_JOINTS if name not in names]
    if unknown or missing or len(names) != HAND_JOINT_COUNT:
        raise InvalidHandStateError(
            f"{len(names)} named angles, unknown: {', '.join(unknown[:3]) or 'none'}, missing: "
            f"{', '.join(missing[:3]) or 'none'}; send no names, or those of FINGER_JOINTS"
        )
    return [names.index(name) for name in FINGER_JOINTS]
