# SPDX-License-Identifier: Apache-2.0
"""The newest sample of a topic, decoded from the bytes of the message, and poses as trackers.

No message makes the callback raise. After a malformed one the last good sample stays, and it is
reported as a cause and, at intervals, as a warning.
"""

import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from typing_extensions import override

from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import IMasterTracker, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Cause, Severity
from teleop_system.modules.gate import malformed_rule
from teleop_system.utils.ros2_helpers import QoSPreset, get_qos_profile

T = TypeVar("T")

WARNING_INTERVAL = 5.0
"""Time between two warnings about one topic in [s]."""


class SampleTopic(Generic[T]):
    """A topic of which only the newest sample counts.

    Args:
        node: The `TeleopNode` that subscribes.
        message_type: Type of the topic.
        topic: Its name without prefix.
        decode: Makes a sample from the bytes of a message; raises a TeleopError if it cannot.
        subject: Its name in causes.
        on_sample: Called with the subject whenever a good sample has arrived.
        preset: Quality of service of the topic.

    Attributes:
        latest: The newest good sample, or None.
        cause: Why the newest message was rejected, or None.
        received: Good samples so far.
        rejected: Bad messages so far.
    """

    def __init__(
        self,
        node: Any,
        message_type: Any,
        topic: str,
        decode: Callable[[bytes], T],
        *,
        subject: str,
        on_sample: Callable[[str], None] | None = None,
        preset: QoSPreset = QoSPreset.SENSOR_DATA,
    ) -> None:
        self._node = node
        self._type = message_type
        self.topic = node.topic(topic)
        self.subject = subject
        self._decode = decode
        self._on_sample = on_sample
        self._preset = preset
        self._subscription: Any = None
        self._warned = -math.inf
        self.received = self.rejected = 0
        self.forget()

    @property
    def is_open(self) -> bool:
        """Whether the topic is subscribed to."""
        return self._subscription is not None

    def open(self) -> None:
        """Subscribe to the topic."""
        if self._subscription is None:
            self._subscription = self._node.create_subscription(
                self._type, self.topic, self.take, get_qos_profile(self._preset), raw=True
            )

    def close(self) -> None:
        """End the subscription and forget the sample; safe to call twice."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
        self.forget()

    def forget(self) -> None:
        """Forget the newest sample."""
        self.latest: T | None = None
        self.cause: Cause | None = None

    def take(self, data: bytes) -> None:
        """Decode the bytes of a message that has arrived."""
        try:
            self.latest = self._decode(data)
        except TeleopError as error:
            self._reject(error)
            return
        self.cause = None
        self.received += 1
        if self._on_sample is not None:
            self._on_sample(self.subject)

    def _reject(self, error: TeleopError) -> None:
        self.rejected += 1
        if self.cause is None:
            since = self._node.now()
            rule = malformed_rule(error)
            self.cause = Cause(rule, self.subject, math.nan, 0.0, since, Severity.HOLD)
        now = self._node.steady()
        if now - self._warned >= WARNING_INTERVAL:
            self._warned = now
            count = f" ({self.rejected} so far)" if self.rejected > 1 else ""
            self._node.get_logger().warning(f"{self.topic}: {error}; ignored{count}")


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
