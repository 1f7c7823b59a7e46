# SPDX-License-Identifier: Apache-2.0
"""A topic of poses, used as an `IMasterTracker`."""

from collections.abc import Callable
from typing import Any

from typing_extensions import override

from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.ros2.sample_topic import SampleTopic


class PoseTopic(SampleTopic[Pose6D], IMasterTracker):
    """The newest pose on a topic.

    Args:
        node: The `TeleopNode` that subscribes.
        role: What is tracked.
        message_type: Type of the topic.
        topic: Its name without prefix.
        decode: Makes a pose from the bytes of a message; raises a TeleopError if it cannot.
        on_sample: Called with the name of the role whenever a pose has arrived.
    """

    def __init__(
        self,
        node: Any,
        role: TrackerRole,
        message_type: Any,
        topic: str,
        decode: Callable[[bytes], Pose6D],
        *,
        on_sample: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(
            node, message_type, topic, decode, subject=role.value, on_sample=on_sample
        )
        self._role = role

    @override
    def initialize(self) -> bool:
        self.open()
        return True

    @override
    def get_pose(self) -> Pose6D:
        return self.latest if self.latest is not None else Pose6D.lost(self._node.now())

    @override
    def is_connected(self) -> bool:
        return self.is_open

    @override
    def get_role(self) -> TrackerRole:
        return self._role

    @override
    def shutdown(self) -> None:
        self.close()
