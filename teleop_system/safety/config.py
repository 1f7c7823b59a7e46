# SPDX-License-Identifier: Apache-2.0
"""Parameters of the safety manager; `config/safety/default.yaml` has the same values."""

from dataclasses import dataclass, field

from teleop_system.exceptions import ConfigError
from teleop_system.safety.staleness import (
    BASE_COMMAND,
    COMMAND,
    FUTURE_TOLERANCE,
    LOOP,
    OWNER,
    check_reaction,
)
from teleop_system.utils.validators import (
    require_in_range,
    require_non_negative,
    require_positive,
)
from teleop_system.utils.workspace_box import WorkspaceBox

RAMP_TIME = 0.8
"""Time from engaging or resuming to full speed in [s]: the default, and the least allowed."""


@dataclass(frozen=True, slots=True)
class CollisionSafetyConfig:
    """How close links of the robot may come to each other."""

    slow: float = 0.05
    """Distance in [m] below which the allowed speed of approach falls to zero."""
    stop: float = 0.01
    """Smallest distance in [m]."""
    margin: float = 0.001
    """Distance in [m] added to `stop`, as braking paths are checked at points, not between."""
    speed: float = 0.6
    """Greatest speed of approach in [m/s] at the distance `slow`; it falls to 0 at `stop`."""
    spacing: float = 0.03
    """Largest distance in [m] that links may move between two checked points of a braking path."""

    def __post_init__(self) -> None:
        require_positive(self, "slow", "stop", "margin", "speed", "spacing")
        if not self.slow > self.stop + self.margin:
            raise ConfigError(
                f"slow must exceed stop + margin = {self.stop + self.margin} m, got {self.slow}"
            )


@dataclass(frozen=True, slots=True)
class BaseSafetyConfig:
    """How fast the mobile base may move, in addition to the robot's own limits."""

    max_linear: float = 0.5
    """Largest speed in [m/s]."""
    max_angular: float = 1.0
    """Largest angular speed in [rad/s]."""
    linear_jerk: float = 1.5
    """Largest jerk in [m/s^3] while speeding up."""
    angular_jerk: float = 5.6
    """Largest angular jerk in [rad/s^3] while speeding up."""
    braking: float = 2.0
    """Largest deceleration in [m/s^2]. The vendor's limit would need 1.6 s to a standstill, and a
    base that rolls on blindly is the greater danger."""
    angular_braking: float = 4.0
    """Largest angular deceleration in [rad/s^2]."""
    braking_jerk: float = 40.0
    """Largest jerk in [m/s^3] while braking."""
    angular_braking_jerk: float = 80.0
    """Largest angular jerk in [rad/s^3] while braking."""

    def __post_init__(self) -> None:
        require_positive(self, *self.__slots__)
        for jerk, other in (
            ("linear_jerk", "braking_jerk"),
            ("angular_jerk", "angular_braking_jerk"),
        ):
            if getattr(self, jerk) > getattr(self, other):
                raise ConfigError(f"{jerk} must not exceed {other}, got {getattr(self, jerk)}")


@dataclass(frozen=True, slots=True)
class SafetyConfig:
    """What the safety manager allows."""

    rate: float = 100.0
    """Rate in [Hz] of the control loop; no cycle moves further than one period allows."""
    stale_after: float = COMMAND.timeout
    """Age in [s] of the last fresh sample past which a part brakes and holds."""
    dead_after: float = OWNER.timeout
    """Age in [s] of the last command past which its part has no owner any more."""
    ahead: float = FUTURE_TOLERANCE
    """How far in [s] a stamp may lie in the future."""
    ramp_time: float = RAMP_TIME
    """Time in [s] in which the speed limits grow to full size after engaging or resuming."""
    jump: float = 0.1
    """Difference in [rad] or [m] between command and robot on engaging that yields a cause."""
    lag: float = 0.05
    """Difference in [rad] or [m] between command and output that yields a cause."""
    command_smoothing: float = 0.02
    """Time constant in [s] with which the command's own speed is estimated."""
    tolerated_overruns: int = 5
    """Overruns in a row that do not yet cause a hold."""
    stall_after: float = LOOP.timeout
    """Time in [s] between two cycles after which the robot counts as at rest."""
    collision: CollisionSafetyConfig = field(default_factory=CollisionSafetyConfig)
    """How close links may come to each other."""
    base: BaseSafetyConfig = field(default_factory=BaseSafetyConfig)
    """How fast the base may move."""
    workspace: dict[str, WorkspaceBox] = field(default_factory=dict)
    """Boxes by the name of the chain whose end effector must stay inside."""

    def __post_init__(self) -> None:
        require_in_range(self, "rate", 20.0, 1000.0, unit="Hz")
        require_positive(self, "stale_after", "dead_after", "jump", "lag", "stall_after")
        require_non_negative(self, "ahead", "command_smoothing", "tolerated_overruns")
        require_in_range(self, "ramp_time", RAMP_TIME, 60.0, unit="s")
        check_reaction("stale_after", self.stale_after, self.rate)
        if not self.stale_after < self.dead_after <= BASE_COMMAND.timeout:
            raise ConfigError(
                f"dead_after must be above stale_after and at most {BASE_COMMAND.timeout} s, "
                f"got {self.dead_after}"
            )

    @property
    def period(self) -> float:
        """Nominal time in [s] between two cycles."""
        return 1.0 / self.rate
