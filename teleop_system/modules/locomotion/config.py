# SPDX-License-Identifier: Apache-2.0
"""Parameters of the gait detector and of the locomotion controller."""

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teleop_system.exceptions import ConfigError
from teleop_system.modules.gate import GateConfig
from teleop_system.safety.config import RAMP_TIME
from teleop_system.safety.staleness import LOOP, STANDSTILL_TIME, check_reaction
from teleop_system.utils.validators import (
    require_choice,
    require_in_range,
    require_non_negative,
    require_positive,
)

if TYPE_CHECKING:
    from teleop_system.robots import Base

HEADINGS = ("feet", "stance")
FEET_ALONE = ("agree", "mean")
DRIVES = ("differential", "holonomic")


@dataclass(frozen=True, slots=True)
class GaitConfig:
    """What counts as stepping, walking, turning and standing."""

    lift_height: float = 0.04
    """Height in [m] above the floor at which a foot counts as lifted."""
    plant_height: float = 0.02
    """Height in [m] below which a lifted foot counts as planted again."""
    shortest_step: float = 0.2
    """Time in [s] between the lifts of two feet below which it is a hop, not a step."""
    longest_step: float = 1.0
    """Time in [s] between the lifts of two feet above which stepping has ended."""
    steps_to_start: int = 2
    """Number of alternating lifts that start stepping in place."""
    step_radius: float = 0.15
    """Largest distance in [m] between lift and landing of a step in place."""
    step_turn: float = 0.25
    """Largest rotation of a foot in a step in place in [rad]."""
    stride: float = 0.25
    """Distance in [m] that one step in place represents."""
    walk_start: float = 0.12
    """Displacement in [m] from the anchor at which walking starts."""
    walk_stop: float = 0.06
    """Speed in [m/s] below which walking ends."""
    turn_start: float = 0.15
    """Rotation in [rad] from the anchor at which turning starts."""
    turn_stop: float = 0.1
    """Turning rate in [rad/s] below which turning ends."""
    window: float = 0.5
    """Time in [s] over which walking and turning speeds are measured, about one step."""
    rest_radius: float = 0.02
    """Displacement in [m] of a resting foot by noise and sway."""
    rest_turn: float = 0.06
    """Rotation in [rad] of a resting foot by noise and sway."""
    rest_after: float = 0.35
    """Time in [s] without foot motion after which the operator stands."""
    drift_time: float = 3.0
    """Time constant in [s] with which the anchor follows feet that step in place."""
    alone: str = "agree"
    """Displacement of a body without a waist tracker: "agree" (both feet must move, so a kick is
    not walking) or "mean" (half-way between the feet, for recordings)."""
    heading: str = "feet"
    """Source of the heading: "feet" (the x axes of the trackers) or "stance" (perpendicular to
    the line between the feet, for trackers mounted in any orientation)."""

    def __post_init__(self) -> None:
        names = [f.name for f in dataclasses.fields(self) if f.name not in ("heading", "alone")]
        require_positive(self, *names)
        require_choice(self, "heading", HEADINGS)
        require_choice(self, "alone", FEET_ALONE)
        require_in_range(self, "window", 0.1, 2.0, unit="s")
        for low, high in (("plant_height", "lift_height"), ("shortest_step", "longest_step")):
            if not getattr(self, low) < getattr(self, high):
                raise ConfigError(f"{low} must be below {high}, got {getattr(self, low)}")


@dataclass(frozen=True, slots=True)
class LocomotionConfig:
    """How the operator's gait drives the base."""

    rate: float = 50.0
    """Control frequency in [Hz]."""
    gait: GaitConfig = field(default_factory=GaitConfig)
    """Thresholds of the gait detector."""
    gate: GateConfig = field(default_factory=GateConfig)
    """Limits of the gates of all trackers."""
    with_waist: bool = True
    """Whether the waist tracker counts; false if its poses are relative to the body."""
    check_sides: bool = True
    """Whether crossed resting feet count as exchanged trackers; false for recordings, where a
    dancer may cross their feet."""
    drive: str = "differential"
    """Either "differential" (two driven wheels) or "holonomic" (also moves sideways)."""
    linear_scale: float = 1.0
    """Speed of the base per speed of the operator."""
    angular_scale: float = 1.0
    """Turning rate of the base per turning rate of the operator."""
    dead_zone: float = 0.03
    """Requested speed in [m/s] below which the base does not move."""
    angular_dead_zone: float = 0.06
    """Requested rate in [rad/s] below which the base does not turn."""
    max_linear: float = 0.5
    """Largest speed in [m/s]."""
    max_angular: float = 1.0
    """Largest turning rate in [rad/s]."""
    linear_acceleration: float = 0.314
    """Largest acceleration in [m/s^2]: wheels of 0.1 m at the vendor's 3.141592 rad/s^2."""
    angular_acceleration: float = 1.185
    """Largest angular acceleration in [rad/s^2]: the same wheels 0.53 m apart. Both limits share
    the wheels: the fractions of both limits in use add up to at most one."""
    linear_jerk: float = 1.5
    """Largest jerk in [m/s^3]."""
    angular_jerk: float = 5.6
    """Largest angular jerk in [rad/s^3]; with linear_jerk within the wheels' 31.4 rad/s^3."""
    braking_acceleration: float = 2.0
    """Deceleration in [m/s^2] of a safety stop. The vendor's limit would need 1.6 s from full
    speed, and a base that rolls blindly is the greater danger. It is safe while the centre of mass
    is less than 0.1 m ahead of the base's origin: the limit is g (0.228 - x) / h, with the axle
    0.228 m ahead and h = 0.6 m. Outstretched arms put x at 0.01 m. A test brakes the model from
    full speed: a third of the load stays on the casters."""
    angular_braking: float = 4.0
    """Angular deceleration in [rad/s^2] of a safety stop."""
    braking_jerk: float = 40.0
    """Jerk in [m/s^3] of a safety stop."""
    angular_braking_jerk: float = 80.0
    """Angular jerk in [rad/s^3] of a safety stop."""
    ramp_time: float = RAMP_TIME
    """Time in [s] over which the speed grows to its full value after engaging or recovering."""
    stall_after: float = LOOP.timeout
    """Step time in [s] above which the loop has stalled and the base stops."""

    def __post_init__(self) -> None:
        require_choice(self, "drive", DRIVES)
        nested = ("gait", "gate", "drive", "with_waist", "check_sides")
        optional = ("dead_zone", "angular_dead_zone")
        names = [f.name for f in dataclasses.fields(self) if f.name not in (*nested, *optional)]
        require_positive(self, *names)
        require_non_negative(self, *optional)
        require_in_range(self, "rate", 20.0, 1000.0, unit="Hz")
        self._require_prompt_stop()

    def _require_prompt_stop(self) -> None:
        check_reaction("gate.stale_after", self.gate.stale_after, self.rate)
        for braking, stop in (
            ("braking_acceleration", self.stopping_time),
            ("angular_braking", self.turning_stop_time),
        ):
            # One tick to notice, and up to three for the samples of a continuous motion.
            longest = STANDSTILL_TIME - self.gate.stale_after - 4.0 / self.rate
            if stop > longest:
                raise ConfigError(
                    f"{braking} {getattr(self, braking)} takes {stop:.2f} s to stop, where "
                    f"{longest:.2f} s are allowed; raise it, or lower the largest speed"
                )

    @property
    def stopping_time(self) -> float:
        """Duration in [s] of a safety stop from full speed."""
        return self.max_linear / self.braking_acceleration + (
            (self.braking_acceleration + self.linear_acceleration) / self.braking_jerk
        )

    @property
    def turning_stop_time(self) -> float:
        """Duration in [s] of a safety stop from the full turning rate."""
        return self.max_angular / self.angular_braking + (
            (self.angular_braking + self.angular_acceleration) / self.angular_braking_jerk
        )

    def within(self, base: "Base") -> "LocomotionConfig":
        """Return a copy with every limit lowered to those of the base.

        Raises:
            ConfigError: The base is not a differential drive.
        """
        if base.kind != "differential":
            raise ConfigError(f"a base of kind {base.kind!r} cannot be driven; needs differential")
        return dataclasses.replace(
            self,
            drive="differential",
            max_linear=min(self.max_linear, base.max_linear),
            max_angular=min(self.max_angular, base.max_angular),
            linear_acceleration=min(self.linear_acceleration, base.max_linear_acceleration),
            angular_acceleration=min(self.angular_acceleration, base.max_angular_acceleration),
        )
