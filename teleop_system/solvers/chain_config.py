# SPDX-License-Identifier: Apache-2.0
"""The frame, weights and speeds of one chain, the same for every solver."""

import math
from dataclasses import dataclass, fields

from teleop_system.exceptions import ConfigError


@dataclass(frozen=True, slots=True)
class ChainConfig:
    """The frame of a chain that follows a target, its weights, and its speeds of catching up.

    A chain far from its target catches up along a profile that stops in time: at most at the
    speeds below, and slowing down with at most the accelerations below. Motion of the target
    itself is followed without lag, as fast as the joints allow.
    """

    ee_frame: str
    """Link, body, site or joint of the model that is moved to the target."""
    position_weight: float = 1.0
    """Cost of a position error in [1/m]; 0 leaves the position free."""
    orientation_weight: float = 0.5
    """Cost of an orientation error in [1/rad]; 0 leaves the orientation free."""
    linear_speed: float = 1.5
    """Largest speed at which a position error is closed in [m/s]."""
    angular_speed: float = 5.0
    """Largest speed at which an orientation error is closed in [rad/s]."""
    linear_acceleration: float = 2.0
    """Deceleration planned for the end of a catch-up in [m/s^2]."""
    angular_acceleration: float = 6.0
    """Deceleration planned for the end of a catch-up in [rad/s^2]."""

    def __post_init__(self) -> None:
        if not isinstance(self.ee_frame, str) or not self.ee_frame:
            raise ConfigError(f"ee_frame must be the name of a frame, got {self.ee_frame!r}")
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if not isinstance(value, int | float) or not 0.0 <= value < math.inf:
                raise ConfigError(
                    f"{field.name} must be a finite number >= 0, got {value!r} "
                    f"for the chain of {self.ee_frame!r}"
                )
            if value == 0.0 and "weight" not in field.name:
                raise ConfigError(f"{field.name} must be positive, got {value}")
        if self.position_weight == 0.0 == self.orientation_weight:
            raise ConfigError(f"the chain of {self.ee_frame!r} has no weight at all")
