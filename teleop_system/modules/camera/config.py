# SPDX-License-Identifier: Apache-2.0
"""Parameters of the camera controller."""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teleop_system.exceptions import ConfigError
from teleop_system.modules.gate import HEAD_GATE, GateConfig
from teleop_system.safety.config import RAMP_TIME
from teleop_system.safety.staleness import LOOP, check_reaction
from teleop_system.utils.validators import require_in_range, require_positive

if TYPE_CHECKING:
    from teleop_system.robots import RobotDescription


@dataclass(frozen=True, slots=True)
class CameraConfig:
    """How the operator's head moves the robot's head."""

    rate: float = 30.0
    """Control frequency in [Hz]."""
    gate: GateConfig = HEAD_GATE
    """Limits of the head's gate."""
    pan_lower: float = -1.57
    """Smallest pan angle (right) in [rad]."""
    pan_upper: float = 1.57
    """Largest pan angle (left) in [rad]."""
    tilt_lower: float = -1.57
    """Smallest tilt angle (up) in [rad]; positive tilt looks down."""
    tilt_upper: float = 1.57
    """Largest tilt angle (down) in [rad]."""
    velocity: float = 3.14
    """Largest speed of either joint in [rad/s]."""
    acceleration: float = 10.0
    """Largest acceleration of either joint in [rad/s^2]."""
    jerk: float = 100.0
    """Largest jerk of either joint in [rad/s^3]."""
    pan_scale: float = 1.0
    """Pan per yaw of the operator's head."""
    tilt_scale: float = 1.0
    """Tilt per nod of the operator's head."""
    min_cutoff: float = 1.5
    """Cutoff of the smoothing filter at rest in [Hz]."""
    beta: float = 8.0
    """Increase of that cutoff with angular speed in [1/rad]."""
    derivative_cutoff: float = 2.0
    """Cutoff of the angular speed estimate in [Hz]."""
    lead: float = 0.8
    """Feed-forward of the operator's angular speed, from 0 to 1. A larger value reduces lag and
    increases overshoot after abrupt stops; 0.8 halves the lag without overshoot."""
    lead_cutoff: float = 8.0
    """Cutoff of the filter of that speed in [Hz]."""
    center_on_engage: bool = True
    """Whether engaging sets the centre, so that the robot looks ahead for any heading."""
    center_tilt: bool = True
    """Whether the centre includes the nod as level, and not only the yaw."""
    ramp_time: float = RAMP_TIME
    """Time in [s] to catch up after engaging, resuming or centring."""
    stall_after: float = LOOP.timeout
    """Step time in [s] above which the loop has stalled and the head holds."""

    def __post_init__(self) -> None:
        for axis in ("pan", "tilt"):
            low, high = f"{axis}_lower", f"{axis}_upper"
            require_in_range(self, low, -3.2, 0.0, unit="rad")
            require_in_range(self, high, 0.0, 3.2, unit="rad")
            require_in_range(self, f"{axis}_scale", 0.1, 2.0)
        require_positive(self, "velocity", "acceleration", "jerk")
        require_positive(
            self, "min_cutoff", "beta", "derivative_cutoff", "lead_cutoff", "stall_after"
        )
        require_in_range(self, "lead", 0.0, 1.0)
        require_in_range(self, "rate", 20.0, 1000.0, unit="Hz")
        require_in_range(self, "ramp_time", RAMP_TIME, 10.0, unit="s")
        check_reaction("gate.stale_after", self.gate.stale_after, self.rate)

    def within(self, robot: "RobotDescription") -> "CameraConfig":
        """Return a copy with every limit reduced to those of the robot's neck.

        Raises:
            ConfigError: The robot has no head with pan and tilt joints.
        """
        head = robot.head
        if head is None or head.pan is None or head.tilt is None:
            raise ConfigError(f"robot {robot.name!r} has no head with pan and tilt joints")
        pan, tilt = robot.limits(head.pan), robot.limits(head.tilt)
        return dataclasses.replace(
            self,
            pan_lower=max(self.pan_lower, pan.lower),
            pan_upper=min(self.pan_upper, pan.upper),
            tilt_lower=max(self.tilt_lower, tilt.lower),
            tilt_upper=min(self.tilt_upper, tilt.upper),
            velocity=min(self.velocity, pan.velocity, tilt.velocity),
            acceleration=min(self.acceleration, pan.acceleration, tilt.acceleration),
            jerk=min(self.jerk, pan.jerk, tilt.jerk),
        )
