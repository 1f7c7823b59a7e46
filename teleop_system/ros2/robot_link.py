# SPDX-License-Identifier: Apache-2.0
"""The robot as the operator side sees it: engagement state and last joint commands."""

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.ros2.joint_topics import JointFeed
from teleop_system.ros2.status import StatusListener
from teleop_system.safety.staleness import ROBOT_LINK
from teleop_system.utils.ros2_helpers import TopicNames


class TargetUse(enum.Enum):
    """When a controller needs the joint positions that the robot was last commanded to."""

    ALWAYS = "always"
    ON_ENGAGE = "on engage"
    NEVER = "never"


class RobotLink:
    """The robot, as a node of the operator side sees it.

    Args:
        node: The `TeleopNode` that listens.
        joints: All joints of the robot, in the order of `positions`.
        targets: When their positions are needed; each message costs time.
    """

    def __init__(self, node: Any, joints: Sequence[str], targets: TargetUse) -> None:
        self._node = node
        self._targets = targets
        self._status = StatusListener(node)
        self._feed = JointFeed(node, TopicNames.JOINT_TARGETS, joints)
        self._joints = tuple(joints)
        self._positions = np.zeros(len(joints))
        self.subscribe_targets()

    @property
    def is_engaged(self) -> bool:
        """Whether a recent report has the state engaged."""
        report = self._status.report()
        return report is not None and report.values.get("state") == EngagementState.ENGAGED.value

    @property
    def is_following(self) -> bool:
        """Whether the robot follows commands now."""
        if self._targets is TargetUse.ALWAYS and ROBOT_LINK.is_stale(self._feed.age):
            return False
        return self._status.is_following

    @property
    def positions(self) -> NDArray[np.float64] | None:
        """Last commanded positions of all joints in [rad] or [m]; None if not known yet."""
        state = self._feed.latest
        if state is not None:
            self._positions = state.positions
        elif self._targets is not TargetUse.NEVER and self._feed.is_open:
            return None
        return self._positions

    @property
    def by_name(self) -> dict[str, float]:
        """The last commanded positions by joint."""
        return dict(zip(self._joints, self._positions.tolist(), strict=True))

    @property
    def state(self) -> str:
        """Engagement state in the robot's report; "silent" without a recent one."""
        report = self._status.report()
        return "silent" if report is None else report.values.get("state", "unknown")

    @property
    def reason(self) -> str:
        """Why the robot does not follow."""
        report = self._status.report()
        if report is None:
            return "no status from the robot"
        if self._status.is_following and not self.is_following:
            return f"no messages on {self._feed.topic}"
        note = report.values.get("note")
        if not note and self.state == EngagementState.READY.value:
            return "ready: press engage to start"
        return f"{self.state}: {note or report.values.get('reason', '')}"

    def subscribe_targets(self) -> None:
        """Subscribe to the commanded positions, if the controller uses them."""
        if self._targets is not TargetUse.NEVER:
            self._feed.open()

    def release_targets(self) -> None:
        """Unsubscribe if the positions are needed on engage only; the last ones are kept."""
        if self._targets is TargetUse.ON_ENGAGE:
            self._feed.close()

    def close(self) -> None:
        """Unsubscribe from all topics."""
        self._feed.close()
        self._node.destroy_subscription(self._status.subscription)
