# SPDX-License-Identifier: Apache-2.0
"""Parameters of the robot side."""

from dataclasses import dataclass, field

from teleop_system.robot_side.engagement_table import EngagementConfig
from teleop_system.safety.staleness import OPERATOR_INPUT, ROBOT_STATE
from teleop_system.utils.validators import require_positive


@dataclass(frozen=True, slots=True)
class RobotSideConfig:
    """How the robot prepares for an operator, and when its state is a fault."""

    home_pose: str | None = None
    """Named pose of homing, before an operator may engage; null is the initial pose."""
    home_tolerance: float = 0.05
    """Distance of a joint from the home pose that counts as reached in [rad] or [m]."""
    self_test: bool = True
    """Whether the hands move a little before an operator may engage."""
    state_age: float = ROBOT_STATE.timeout
    """Greatest age of a fresh robot state in [s]."""
    input_age: float = OPERATOR_INPUT.timeout
    """Greatest age of a fresh sample of the operator in [s]."""
    follow_error: float = 0.5
    """Difference between command and position of a joint that is a fault in [rad] or [m]."""
    follow_time: float = 0.5
    """How long the difference has to last in [s]."""
    engagement: EngagementConfig = field(default_factory=EngagementConfig)
    """Time-outs and retries of the engagement."""

    def __post_init__(self) -> None:
        require_positive(self, "home_tolerance", "state_age", "input_age")
        require_positive(self, "follow_error", "follow_time")
