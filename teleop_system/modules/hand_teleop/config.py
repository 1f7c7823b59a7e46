# SPDX-License-Identifier: Apache-2.0
"""Parameters of the hand controller and its retargeters."""

import math
from dataclasses import dataclass, field
from typing import Literal

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces.master_device import HAND_JOINT_COUNT
from teleop_system.modules.gate import GateConfig
from teleop_system.safety.config import RAMP_TIME
from teleop_system.safety.staleness import FUTURE_TOLERANCE, SAMPLE, check_reaction
from teleop_system.utils.validators import (
    require_in_range,
    require_non_negative,
    require_positive,
)

Twenty = tuple[float, ...]
"""One number per joint: thumb, index, middle, ring and pinky, four each."""

_LONG_SCALE = (1.0, 1.0, 0.9, 1.3)


@dataclass(frozen=True, slots=True)
class AngleMapConfig:
    """How the operator's 20 angles become the 20 joints of a DG-5F.

    A joint is scale x (angle + offset). Curling, opposing and spreading towards the thumb are
    positive for both hands; the retargeter applies the signs of each side. The source angles are:
    thumb flexion, abduction, PIP, mean of PIP and DIP; for index, middle and ring abduction, MCP,
    PIP, DIP; for the pinky the absolute abduction (the palm's arch), abduction, MCP, PIP.
    """

    scale: Twenty = (-1.0, 1.6, 1.3, 1.3, *_LONG_SCALE * 3, 0.0, 1.0, 1.0, 0.9)
    """Robot angle per human angle. By default a full fist gives the full range, and the palm stays
    flat."""
    offset: Twenty = (math.radians(-58.5), math.radians(20.0), *(0.0,) * 18)
    """Added to the human angle before scaling in [rad]; the DG-5F's thumb has another zero."""
    abduction: Literal["radial", "spread"] = "radial"
    """Sign of the operator's abduction angles: "radial" is positive towards the thumb for every
    finger, "spread" away from the middle finger (the middle finger itself towards the thumb)."""

    def __post_init__(self) -> None:
        for name in ("scale", "offset"):
            values = getattr(self, name)
            if len(values) != HAND_JOINT_COUNT or not all(map(math.isfinite, values)):
                raise ConfigError(f"{name} needs {HAND_JOINT_COUNT} finite numbers, got {values}")


@dataclass(frozen=True, slots=True)
class FingertipConfig:
    """Parameters of the map from the operator's finger tips to joint positions of a DG-5F."""

    hand_scale: float = 1.1
    """Size of the robot's fingers divided by the size of the operator's."""
    origin: tuple[float, float, float] = (0.0105, 0.0, 0.072)
    """The operator's wrist in the right hand's frame in [m]. The palm of the DG-5F is longer than
    a person's with fingers of the same size."""
    tip_extension: float = 0.0071
    """Distance from the tip frame to the point that follows the target in [m]; the default is the
    centre of the round tip."""
    tip_weight: float = 1.0
    """Weight of tip position errors."""
    thumb_weight: float = 0.05
    """Weight of errors of the vectors from the thumb tip to the others, outside of a pinch."""
    pinch_weight: float = 40.0
    """Weight of errors of the distances from the thumb tip to the others, during a pinch."""
    pinch_closed: float = 0.02
    """Distance of human tips in [m] below which a pinch is closed."""
    pinch_open: float = 0.045
    """Distance of human tips in [m] above which there is no pinch; in between it fades in."""
    pinch_gap: float = -0.001
    """Gap between the robot's tips in a closed pinch in [m]; negative to press."""
    clearance: float = 0.002
    """Gap between fingers other than the thumb in [m]."""
    clearance_weight: float = 100.0
    """Weight of missing gap."""
    posture_weight: float = 1e-5
    """Weight of a natural posture relative to tip errors in [m^2/rad^2]; each finger has one
    redundant joint."""
    change_weight: float = 1e-4
    """Weight of joint motion between samples relative to tip errors in [m^2/rad^2]; it damps a
    straight finger, which is close to a singularity."""
    iterations: int = 2
    """Steps of the optimiser per sample."""

    def __post_init__(self) -> None:
        require_positive(self, "hand_scale", "tip_weight", "pinch_weight", "posture_weight")
        require_non_negative(self, "change_weight")
        require_non_negative(self, "tip_extension", "thumb_weight", "clearance_weight")
        require_non_negative(self, "pinch_closed", "clearance")
        require_in_range(self, "pinch_gap", -0.005, 0.005, unit="m")
        require_in_range(self, "iterations", 1, 50)
        if not self.pinch_open > self.pinch_closed:
            raise ConfigError(
                f"pinch_open must be above pinch_closed, got {self.pinch_open} "
                f"and {self.pinch_closed}"
            )


@dataclass(frozen=True, slots=True)
class GraspConfig:
    """How the closure of the operator's hand, 0 (open) to 1 (closed), is measured."""

    source: Literal["auto", "curl", "pinch"] = "auto"
    """Mean flexion of index, middle and ring ("curl"), or distance of thumb and index tips
    ("pinch"); "auto" uses tips if the device measures them."""
    open_curl: float = 0.2
    """Mean flexion of MCP and PIP of an open hand in [rad]."""
    closed_curl: float = 1.3
    """Mean flexion of a closed hand in [rad]."""
    open_distance: float = 0.09
    """Distance of thumb and index tips of an open hand in [m]."""
    closed_distance: float = 0.025
    """Distance of thumb and index tips of a closed hand in [m]."""
    max_speed: float = 0.25
    """Largest speed of a gripper's joints in [m/s]."""
    max_acceleration: float = 5.0
    """Largest acceleration of a gripper's joints in [m/s^2]."""

    def __post_init__(self) -> None:
        require_positive(self, "max_speed", "max_acceleration")
        if self.open_curl == self.closed_curl:
            raise ConfigError(f"closed_curl must differ from open_curl, got {self.closed_curl}")
        if self.open_distance == self.closed_distance:
            raise ConfigError(
                f"closed_distance must differ from open_distance, got {self.closed_distance}"
            )


@dataclass(frozen=True, slots=True)
class HandTeleopConfig:
    """Parameters of the hand controller."""

    rate: float = 100.0
    """Control frequency in [Hz]."""
    mode: Literal["auto", "dg5f", "gripper"] = "auto"
    """Kind of hand; "auto" uses the robot description."""
    retargeter: str = "angles"
    """Registered name of the retargeter for a DG-5F: "angles" or "fingertips"."""
    stale_after: float = SAMPLE.timeout
    """Age of the newest sample in [s] above which the hand holds; plus one tick at most 0.1."""
    future_tolerance: float = FUTURE_TOLERANCE
    """Largest time in [s] by which a stamp may be ahead of the clock."""
    ramp_time: float = RAMP_TIME
    """Duration of the blend from hold to following after engaging or a hold in [s]."""
    engage_step: float = 0.002
    """Largest first step after engaging in [rad]."""
    engage_step_linear: float = 0.001
    """Largest first step of a gripper after engaging in [m]."""
    max_speed: float = math.pi
    """Largest joint speed in [rad/s]."""
    max_acceleration: float = 50.0
    """Largest joint acceleration in [rad/s^2]."""
    max_step_time: float = 0.05
    """Longest time step in [s] that motion uses; longer cycles are cut to it."""
    smoothing_cutoff: float = 3.0
    """Cutoff of the smoothing filter at rest in [Hz]."""
    smoothing_beta: float = 2.0
    """Increase of the cutoff with speed in [1/rad]; it reduces lag in motion."""
    min_gap: float = 0.0005
    """Smallest gap between two fingers in [m]."""
    min_thumb_gap: float = -0.002
    """Smallest gap between the thumb and a finger in [m]; negative so that a pinch can press."""
    angles: AngleMapConfig = field(default_factory=AngleMapConfig)
    """Map of the "angles" retargeter."""
    fingertips: FingertipConfig = field(default_factory=FingertipConfig)
    """Parameters of the "fingertips" retargeter."""
    grasp: GraspConfig = field(default_factory=GraspConfig)
    """Parameters of a gripper."""

    def __post_init__(self) -> None:
        require_in_range(self, "rate", 20.0, 1000.0, unit="Hz")
        require_positive(self, "stale_after")
        check_reaction("stale_after", self.stale_after, self.rate)
        require_non_negative(self, "future_tolerance")
        if not self.ramp_time >= RAMP_TIME:
            raise ConfigError(f"ramp_time must be at least {RAMP_TIME} s, got {self.ramp_time}")
        require_in_range(self, "engage_step", 1e-6, 0.002, unit="rad")
        require_in_range(self, "engage_step_linear", 1e-6, 0.001, unit="m")
        require_in_range(self, "max_speed", 1e-3, math.pi, unit="rad/s")
        require_positive(self, "max_acceleration", "max_step_time", "smoothing_cutoff")
        require_non_negative(self, "smoothing_beta")
        require_in_range(self, "min_gap", -0.005, 0.003, unit="m")
        require_in_range(self, "min_thumb_gap", -0.005, 0.003, unit="m")

    @property
    def gate(self) -> GateConfig:
        """Limits of the gate for samples of the operator's hand."""
        return GateConfig(stale_after=self.stale_after, ahead=self.future_tolerance)
