# SPDX-License-Identifier: Apache-2.0
"""Parameters of a session."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from teleop_system.exceptions import ConfigError, suggestion
from teleop_system.runtime.engagement_table import EngagementConfig
from teleop_system.runtime.signals.needs import MODULES
from teleop_system.utils.validators import require_in_range, require_positive


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What runs, where, and what is kept of it."""

    mode: Literal["simulation", "hardware"] = "simulation"
    """Drive a simulated robot, or the real one."""
    modules: tuple[str, ...] = MODULES
    """Controllers to run; those that the robot has no parts for are left out."""
    time: Literal["auto", "simulated", "wall"] = "auto"
    """Whose time counts: the simulation's, the wall's, or the simulation's where all devices can
    keep to it."""
    auto_engage: bool = True
    """Take control as soon as the robot is ready, for operators who cannot ask for it."""
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
    runs: Path = Path("runs")
    """Folder in which every run gets its own."""
    record: bool = True
    """Whether to keep inputs, commands and states of every tick, and to write a report."""
    record_minutes: float = 30.0
    """Time of which every tick is kept; of longer runs the beginning is dropped."""
    engagement: EngagementConfig = field(default_factory=EngagementConfig)
    """Waits and retries on the way to an operator in control."""

    def __post_init__(self) -> None:
        if not self.modules:
            raise ConfigError(f"modules must name some of {', '.join(MODULES)}, got none")
        for module in self.modules:
            if module not in MODULES:
                raise ConfigError(f"modules cannot be {module!r}{suggestion(module, MODULES)}")
        require_positive(self, "home_tolerance", "state_age", "input_age")
        require_positive(self, "follow_error", "follow_time")
        require_in_range(self, "record_minutes", 0.1, 1440.0, unit="min")
