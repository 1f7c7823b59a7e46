# SPDX-License-Identifier: Apache-2.0
"""What a node says about itself on the status topic, and what others read there."""

import enum
import logging
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import deserialize_message

from teleop_system.interfaces.causes import Cause, Severity
from teleop_system.safety.staleness import STATUS
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames, get_qos_profile

logger = logging.getLogger(__name__)

UNREADABLE = (rclpy_implementation.RMWError, UnicodeDecodeError, MemoryError)
"""What bytes raise that are no message."""
ROBOT = "teleop/robot"
"""Name under which the robot's side reports; it alone knows who may move the robot."""
CAMERA_CAUSE = "camera"
"""How the cause of a robot begins that has no pictures, and moves all the same."""


class Level(enum.IntEnum):
    """How well a node is, in the numbers of `diagnostic_msgs/DiagnosticStatus`."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True, slots=True)
class StatusReport:
    """What one node says about itself.

    Attributes:
        name: Such as `teleop/arm_teleop_node`.
        level: How well it is.
        message: One sentence for a person.
        values: The details, by key.
        hardware: Which robot it is about.
    """

    name: str
    level: Level = Level.OK
    message: str = ""
    values: dict[str, str] = field(default_factory=dict)
    hardware: str = ""

    @property
    def causes(self) -> list[str]:
        """Why the robot, or a part of it, does not do what was asked."""
        return [value for key, value in self.values.items() if key.startswith("cause.")]


def cause_values(causes: Iterable[Cause]) -> dict[str, str]:
    """Return causes as values of a report, the gravest first."""
    ordered = sorted(causes, key=lambda cause: -cause.severity)
    return {f"cause.{index}": str(cause) for index, cause in enumerate(ordered)}


def level_of(causes: Iterable[Cause]) -> Level:
    """Return how well somebody is for whom these causes act."""
    gravest = max((cause.severity for cause in causes), default=Severity.INFO)
    return (Level.OK, Level.OK, Level.WARN, Level.ERROR)[gravest]


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
    """Yield the reports of a message; levels that nobody knows count as errors."""
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
    """The newest report of every node whose name was asked for.

    Args:
        node: The `TeleopNode` that listens.
        names: Names to keep; a name that ends in `/` keeps all that begin with it.
        on_report: Called with every report that is kept.
    """

    def __init__(self, node: Any, names: Iterable[str] = (ROBOT,), on_report: Any = None) -> None:
        self._node = node
        self._names = tuple(names)
        self._bytes = tuple(name.encode() for name in self._names)
        self._on_report = on_report
        self._heard: dict[str, tuple[float, StatusReport]] = {}
        self.subscription = node.create_subscription(
            DiagnosticArray,
            node.topic(TopicNames.STATUS),
            self._on_message,
            get_qos_profile(QoSPreset.STATUS),
            raw=True,
        )

    def report(self, name: str = ROBOT) -> StatusReport | None:
        """Return the newest report under a name; None where there is no recent one."""
        heard = self._heard.get(name)
        if heard is None or STATUS.is_stale(self._node.steady() - heard[0]):
            return None
        return heard[1]

    def reports(self) -> Iterator[StatusReport]:
        """Yield the newest report of every node that was heard recently."""
        for name in list(self._heard):
            report = self.report(name)
            if report is not None:
                yield report

    def age(self, name: str = ROBOT) -> float:
        """Return for how long nothing was heard under a name in [s]."""
        heard = self._heard.get(name)
        return math.inf if heard is None else float(self._node.steady() - heard[0])

    @property
    def is_following(self) -> bool:
        """Whether the robot's side says, and has said lately, that the operator moves it."""
        report = self.report(ROBOT)
        return report is not None and report.values.get("following") == "true"

    def _on_message(self, data: bytes) -> None:
        # Most reports are somebody else's, and reading one costs more than looking for a name.
        if not any(name in data for name in self._bytes):
            return
        try:
            reports = tuple(from_message(deserialize_message(data, DiagnosticArray)))
        except UNREADABLE as error:
            # Anybody may send anything; it must not end those who listen.
            logger.debug("a status that is none was left out: %s", error)
            return
        for report in reports:
            if self._wants(report.name):
                self._heard[report.name] = (self._node.steady(), report)
                if self._on_report is not None:
                    self._on_report(report)

    def _wants(self, name: str) -> bool:
        return any(
            name.startswith(wanted) if wanted.endswith("/") else name == wanted
            for wanted in self._names
        )
