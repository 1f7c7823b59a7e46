# SPDX-License-Identifier: Apache-2.0
"""The direction that the operator faces."""

from collections.abc import Mapping

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.gate import PoseGate, Verdict
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import heading_of, normalized

SOURCES: dict[str, tuple[TrackerRole, ...]] = {
    "auto": (TrackerRole.WAIST, TrackerRole.HEAD),
    "waist": (TrackerRole.WAIST,),
    "head": (TrackerRole.HEAD,),
    "room": (),
}
"""Trackers that give the direction, the best one first, by value of `heading`."""


class OperatorHeading:
    """Finds the direction in the room that the operator faces.

    Args:
        config: Which trackers give the direction, and limits of their samples.
    """

    def __init__(self, config: ArmTeleopConfig) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Face the x axis of the room."""
        self._last = 0.0

    def find(
        self, trackers: Mapping[TrackerRole, Pose6D | None], now: float, log: CauseLog
    ) -> float:
        """Return the direction in [rad], or the last one if no tracker gives it."""
        for role in SOURCES[self._config.heading]:
            pose = trackers.get(role)
            if pose is None or not pose.valid:
                continue
            gate = PoseGate(role.value, self._config.gate, Severity.INFO)
            if gate.check(pose, now, log) is Verdict.NEW:
                x, y, z, w = pose.orientation.tolist()
                self._last = heading_of(normalized((x, y, z, w)))
                return self._last
        if self._config.heading != "room":
            log.add(Rule.LOST, "heading", 0.0, 0.0, Severity.INFO)
        return self._last
