# SPDX-License-Identifier: Apache-2.0
"""The newest sample of a topic, read straight from the bytes; what cannot be read is told.

Nothing that arrives on a topic can raise out of a callback: a message that is no sample leaves the
last good one in place, to age, and yields a cause and now and then a warning.
"""

import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from teleop_system.exceptions import InvalidValueError, TeleopError
from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.utils.ros2_helpers import QoSPreset, get_qos_profile

T = TypeVar("T")

WARNING_INTERVAL = 5.0
"""Time between two warnings about one topic in [s]."""


class SampleTopic(Generic[T]):
    """One topic, of which only the newest sample counts.

    Args:
        node: The `TeleopNode` that listens.
        message_type: Type of the topic.
        topic: Its name without prefix.
        decode: Makes a sample of the bytes of a message; raises a TeleopError where it cannot.
        subject: What causes call it.
        on_sample: Called with the subject whenever a good sample has arrived.
        preset: How the topic is delivered.

    Attributes:
        latest: The newest good sample, or None.
        cause: Why the newest message was no good, or None where it was.
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
        """Whether the topic is listened to."""
        return self._subscription is not None

    def open(self) -> None:
        """Begin to listen."""
        if self._subscription is None:
            self._subscription = self._node.create_subscription(
                self._type, self.topic, self.take, get_qos_profile(self._preset), raw=True
            )

    def close(self) -> None:
        """Stop listening, and forget; safe to call twice."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
        self.forget()

    def forget(self) -> None:
        """Act as if nothing had arrived yet."""
        self.latest: T | None = None
        self.cause: Cause | None = None

    def take(self, data: bytes) -> None:
        """Take the bytes of a message, as they arrive."""
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
            # The values refuse what is no number at all; anything else has the wrong form.
            not_finite = isinstance(error, InvalidValueError) and "finite" in str(error)
            rule = Rule.NON_FINITE if not_finite else Rule.WRONG_SHAPE
            now = self._node.now()
            self.cause = Cause(rule, self.subject, math.nan, 0.0, now, Severity.HOLD)
        now = self._node.steady()
        if now - self._warned >= WARNING_INTERVAL:
            self._warned = now
            count = f" ({self.rejected} so far)" if self.rejected > 1 else ""
            self._node.get_logger().warning(f"{self.topic}: {error}; left out{count}")
