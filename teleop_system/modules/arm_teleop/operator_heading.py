# SPDX-License-Identifier: Apache-2.0
"""What is ahead for the operator."""

from collections.abc import Mapping

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.spatial import heading_of, normalized
from teleop_system.modules.pose_gate import PoseGate, Sample
from teleop_system.safety.cause_log import CauseLog

ASKED: dict[str, tuple[TrackerRole, ...]] = {
    "auto": (TrackerRole.WAIST, TrackerRole.HEAD),
    "waist": (TrackerRole.WAIST,),
    "head": (TrackerRole.HEAD,),
    "room": (),
}
"""Trackers that are asked in turn, by how the configuration wants it."""


class OperatorHeading:
    """Finds the direction in the room that the operator faces.

    Args:
        config: Which trackers tell, and what their samples have to meet.
    """

    def __init__(self, config: ArmTeleopConfig) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Take the x axis of the room to be ahead."""
        self._last = 0.0

    def find(
        self, trackers: Mapping[TrackerRole, Pose6D | None], now: float, log: CauseLog
    ) -> float:
        """Return the direction in [rad] that is ahead; the last one where no tracker tells."""
        for role in ASKED[self._config.heading]:
            pose = trackers.get(role)
            if pose is None or not pose.valid:
                continue
            gate = PoseGate(role.value, self._config.gate, Severity.INFO)
            if gate.check(pose, now, log) is Sample.FRESH:
                x, y, z, w = pose.orientation.tolist()
                self._last = heading_of(normalized((x, y, z, w)))
                return self._last
        if self._config.heading != "room":
            log.add(Rule.LOST, "heading", 0.0, 0.0, Severity.INFO)
        return self._last
