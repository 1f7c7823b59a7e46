# SPDX-License-Identifier: Apache-2.0
"""What a node on the operator's side knows of the robot: who moves it, and where it was sent."""

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


class Targets(enum.Enum):
    """When a controller has to know where the robot's joints were last sent."""

    ALWAYS = "always"
    ON_ENGAGE = "on engage"
    NEVER = "never"


class RobotLink:
    """The robot, as seen from a node on the operator's side.

    Args:
        node: The `TeleopNode` that asks.
        joints: All joints of the robot, in the order of `positions`.
        targets: When their positions are needed; listening all the time has its price.
    """

    def __init__(self, node: Any, joints: Sequence[str], targets: Targets) -> None:
        self._node = node
        self._targets = targets
        self._status = StatusListener(node)
        self._feed = JointFeed(node, TopicNames.JOINT_TARGETS, joints)
        self._joints = tuple(joints)
        self._last = np.zeros(len(joints))
        self.listen()

    @property
    def is_engaged(self) -> bool:
        """Whether the robot says, and has said lately, that it is the operator's."""
        report = self._status.report()
        return report is not None and report.values.get("state") == EngagementState.ENGAGED.value

    @property
    def is_following(self) -> bool:
        """Whether the operator's motion counts now."""
        if self._targets is Targets.ALWAYS and ROBOT_LINK.is_stale(self._feed.age):
            return False
        return self._status.is_following

    @property
    def positions(self) -> NDArray[np.float64] | None:
        """Positions last commanded to all joints in [rad] or [m]; None where not known yet."""
        state = self._feed.latest
        if state is not None:
            self._last = state.positions
        elif self._targets is not Targets.NEVER and self._feed.is_open:
            return None
        return self._last

    @property
    def by_name(self) -> dict[str, float]:
        """The same by joint."""
        return dict(zip(self._joints, self._last.tolist(), strict=True))

    @property
    def state(self) -> str:
        """What the robot says about itself, in a word."""
        report = self._status.report()
        return "silent" if report is None else report.values.get("state", "unknown")

    @property
    def reason(self) -> str:
        """Why the robot does not follow, for a person."""
        report = self._status.report()
        if report is None:
            return "no robot is heard"
        if self._status.is_following and not self.is_following:
            return f"nothing is heard on {self._feed.topic}"
        return report.values.get("note") or report.values.get("reason") or self.state

    def listen(self) -> None:
        """Listen to where the robot is sent, where that is needed at all."""
        if self._targets is not Targets.NEVER:
            self._feed.open()

    def ignore(self) -> None:
        """Listen no longer where one look was enough; the last positions stay."""
        if self._targets is Targets.ON_ENGAGE:
            self._feed.close()

    def close(self) -> None:
        """Stop listening altogether."""
        self._feed.close()
        self._node.destroy_subscription(self._status.subscription)
