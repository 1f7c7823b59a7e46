# SPDX-License-Identifier: Apache-2.0
"""Parameters of the robot side."""

from dataclasses import dataclass, field

from teleop_system.robot_side.engagement_table import EngagementConfig
from teleop_system.utils.validators import require_positive


@dataclass(frozen=True, slots=True)
class RobotSideConfig:
    """How the robot prepares for an operator, and when its state counts as wrong."""

    home_pose: str | None = None
    """Named pose to go to before an operator may take control; null is where the robot starts."""
    home_tolerance: float = 0.05
    """Distance of every joint from the home pose that counts as being there in [rad] or [m]."""
    self_test: bool = True
    """Whether the hands are moved a little before an operator may take control."""
    state_age: float = 0.1
    """Age of the robot's state past which it is not fresh in [s]."""
    input_age: float = 0.1
    """Age of an operator's sample past which it is not fresh in [s]."""
    follow_error: float = 0.5
    """Difference between command and robot of an arm joint that is a fault in [rad] or [m]."""
    follow_time: float = 0.5
    """How long it has to last in [s]."""
    engagement: EngagementConfig = field(default_factory=EngagementConfig)
    """Waits and retries on the way to an operator in control."""

    def __post_init__(self) -> None:
        require_positive(self, "home_tolerance", "state_age", "input_age")
        require_positive(self, "follow_error", "follow_time")
