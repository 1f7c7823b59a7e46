# SPDX-License-Identifier: Apache-2.0
"""Status reports: what a node publishes about itself, and what others read."""

import enum
import logging
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.serialization import deserialize_message

from teleop_system.interfaces.causes import Cause, Severity
from teleop_system.safety.staleness import STATUS
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

logger = logging.getLogger(__name__)

UNREADABLE = (RuntimeError, UnicodeDecodeError, MemoryError)
"""What `deserialize_message` raises for bytes that are not a message."""
ROBOT = "teleop/robot"
"""Name of the robot side's report; only the robot side decides who may move the robot."""
CAMERA_CAUSE = "camera"
"""First word of the cause of a robot without pictures; such a robot still moves."""


class Level(enum.IntEnum):
    """Severity levels of `diagnostic_msgs/DiagnosticStatus`."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The state of one node.

    Attributes:
        name: Such as `teleop/arm_teleop_node`.
        level: Severity.
        message: One sentence for a person.
        values: Details by key.
        hardware: Name of the robot.
    """

    name: str
    level: Level = Level.OK
    message: str = ""
    values: dict[str, str] = field(default_factory=dict)
    hardware: str = ""

    @property
    def causes(self) -> list[str]:
        """Why the robot, or a part of it, does not follow its commands."""
        return [value for key, value in self.values.items() if key.startswith("cause.")]


def cause_values(causes: Iterable[Cause]) -> dict[str, str]:
    """Return causes as values of a report, the most severe first."""
    ordered = sorted(causes, key=lambda cause: -cause.severity)
    return {f"cause.{index}": str(cause) for index, cause in enumerate(ordered)}


def level_of(causes: Iterable[Cause]) -> Level:
    """Return the level of the most severe cause."""
    severest = max((cause.severity for cause in causes), default=Severity.INFO)
    return (Level.OK, Level.OK, Level.WARN, Level.ERROR)[severest]


def to_message(reports: Iterable[StatusReport], stamp: Any) -> DiagnosticArray:
    """Return reports as a message, stamped with a `builtin_interfaces/Time`."""
    message = DiagnosticArray()
    message.header.stamp = stamp
    message.status = [
        DiagnosticStatus(
            level=bytes([report.level]),
            name=report.name,
            message=report.message,
            hardware_id=report.hardware,
            values=[KeyValue(key=key, value=str(value)) for key, value in report.values.items()],
        )
        for report in reports
    ]
    return message


def from_message(message: DiagnosticArray) -> Iterator[StatusReport]:
    """Yield the reports of a message; unknown levels count as errors."""
    for status in message.status:
        number = status.level[0] if isinstance(status.level, bytes) else int(status.level)
        yield StatusReport(
            name=status.name,
            level=Level(number) if number in tuple(Level) else Level.ERROR,
            message=status.message,
            values={pair.key: pair.value for pair in status.values},
            hardware=status.hardware_id,
        )


class StatusListener:
    """The newest report of every selected node.

    Args:
        node: The `TeleopNode` that listens.
        names: Names to keep; a name that ends in `/` is a prefix.
        on_report: Called with every report of a selected node.
    """

    def __init__(self, node: Any, names: Iterable[str] = (ROBOT,), on_report: Any = None) -> None:
        self._node = node
        self._names = tuple(names)
        self._bytes = tuple(name.encode() for name in self._names)
        self._on_report = on_report
        self._received: dict[str, tuple[float, StatusReport]] = {}
        self.subscription = node.create_subscription(
            DiagnosticArray,
            node.topic(TopicNames.STATUS),
            self._on_message,
            get_qos_profile(QoSPreset.STATUS),
            raw=True,
        )

    def report(self, name: str = ROBOT) -> StatusReport | None:
        """Return the newest report of a node; None where there is no recent one."""
        entry = self._received.get(name)
        if entry is None or STATUS.is_stale(self._node.steady() - entry[0]):
            return None
        return entry[1]

    def reports(self) -> Iterator[StatusReport]:
        """Yield the newest report of every node that reported recently."""
        for name in list(self._received):
            report = self.report(name)
            if report is not None:
                yield report

    def age(self, name: str = ROBOT) -> float:
        """Return the time since the last report of a node in [s]."""
        entry = self._received.get(name)
        return math.inf if entry is None else float(self._node.steady() - entry[0])

    @property
    def is_following(self) -> bool:
        """Whether the operator moves the robot, by a recent report of the robot side."""
        report = self.report(ROBOT)
        return report is not None and report.values.get("following") == "true"

    def _on_message(self, data: bytes) -> None:
        # Most reports are of other nodes; a search in the bytes is cheaper than decoding.
        if not any(name in data for name in self._bytes):
            return
        try:
            reports = tuple(from_message(deserialize_message(data, DiagnosticArray)))
        except UNREADABLE as error:
            # A malformed message on the network must not end this node.
            logger.debug("ignored a malformed status message: %s", error)
            return
        for report in reports:
            if self._is_selected(report.name):
                self._received[report.name] = (self._node.steady(), report)
                if self._on_report is not None:
                    self._on_report(report)

    def _is_selected(self, name: str) -> bool:
        return any(
            name.startswith(selected) if selected.endswith("/") else name == selected
            for selected in self._names
        )
