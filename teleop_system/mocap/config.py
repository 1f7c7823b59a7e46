# SPDX-License-Identifier: Apache-2.0
"""Settings for playing a recorded motion."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.utils.validators import (
    require_choice,
    require_in_range,
    require_non_negative,
    require_positive,
)

NORMALIZATIONS = ("relative", "absolute")
ANCHORS = ("body", "first_frame")

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PlanningTask:
    """Robot, poses and solver that a motion is planned with."""

    robot: str
    """Name of a robot, or the path of a folder with a model."""
    initial: dict[str, float] = field(default_factory=dict)
    """Joint positions when a session begins in [rad] or [m]; 0 for joints without an entry."""
    posture: dict[str, float] = field(default_factory=dict)
    """Preferred joint positions in [rad] or [m]."""
    solver: str = "qp"
    """Registered name of the session's solver."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of that solver."""
    weights: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Weight of position [1/m] and orientation [1/rad], by name or kind of chain."""


@dataclass(frozen=True, slots=True)
class RobotProportions:
    """Proportions of the robot that a motion is scaled to, in the axes of the robot's base."""

    reach: float
    """Length of a stretched arm in [m]."""
    shoulders: dict[str, Vector] = field(default_factory=dict)
    """Shoulder positions relative to the end of the torso in [m], by side."""
    hands: dict[str, Vector] = field(default_factory=dict)
    """Hand positions relative to the shoulders when a session begins in [m], by side."""
    rotations: dict[str, Quaternion] = field(default_factory=dict)
    """Rotation from the hand of a hanging arm to the initial hand, xyzw, by side."""
    planning: PlanningTask | None = None
    """Task for the motion planner; null plays the motion without a plan."""

    def __post_init__(self) -> None:
        require_positive(self, "reach")
        for name in ("shoulders", "hands"):
            missing = [side for side in HAND_SIDES if side not in getattr(self, name)]
            if missing:
                raise ConfigError(f"{name} must name both sides, lacks {', '.join(missing)}")


@dataclass(frozen=True, slots=True)
class WaistLimits:
    """Limits for the part of a person's hip motion that a robot's torso follows.

    A torso carries half of the robot's weight, and human hips sway, tilt and twist more than the
    robot can without tipping. Each limit is approached smoothly.
    """

    tilt: float = 0.15
    """Largest tilt in [rad]."""
    twist: float = 0.15
    """Largest rotation about the vertical, relative to the walking direction, in [rad]."""
    shift: float = 0.05
    """Largest horizontal displacement in [m]."""
    drop: float = 0.2
    """Largest vertical displacement in [m]."""
    smoothing: float = 0.2
    """Width of the smoothing window in [s]."""

    def __post_init__(self) -> None:
        require_positive(self, "tilt", "twist", "shift", "drop")
        require_non_negative(self, "smoothing")


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """Planning of a whole recording, so that the robot's joints can follow it.

    People are faster than robots. A robot that sees a swing only while it happens lags and
    overshoots; with a plan it swings less far, but in time.
    """

    enabled: bool = True
    """Whether to plan; false sends the motion as recorded."""
    velocity: float = 0.8
    """Share of the joint velocity limits to plan with; the rest is a reserve for the live IK."""
    acceleration: float = 0.5
    """Share of the joint acceleration limits to plan with."""
    jerk: float = 0.4
    """Share of the joint jerk limits to plan with."""
    ahead: float = 0.05
    """Time in [s] by which samples are sent early to compensate the robot's delay."""
    longest: float = 300.0
    """Longest recording in [s] to plan; a longer one is played without a plan."""

    def __post_init__(self) -> None:
        for name in ("velocity", "acceleration", "jerk"):
            require_in_range(self, name, 0.05, 1.0)
        require_in_range(self, "ahead", 0.0, 0.5, unit="s")
        require_positive(self, "longest")


@dataclass(frozen=True, slots=True)
class MocapConfig:
    """The motion to play, and how to play it."""

    file: Path | None = None
    """The BVH file, or the name of a built-in motion."""
    skeleton: str | None = None
    """Skeleton family, as in `config/mocap`; null detects it from the joint names."""
    unit: float | None = None
    """Length unit of the file in [m]; null takes that of the family."""
    up: Literal["y", "z"] | None = None
    """Axis of the file that points up; null takes that of the family."""
    normalization: Literal["relative", "absolute"] = "relative"
    """Relative: the base follows the walk, hands are relative to the body.
    Absolute: every tracker keeps its pose in the room."""
    anchor: Literal["body", "first_frame"] = "body"
    """Reference of a hand's position: the shoulder, or the hand's first frame."""
    scale: float | None = None
    """Distance of the robot's hand per distance of the person's; null uses the arm lengths."""
    approach: float = 2.0
    """Time in [s] to move from the robot's initial hand poses to the first frame."""
    run_up: float = 0.8
    """Time in [s] over which playback speed rises at the start and falls before the end."""
    smoothing: float = 0.25
    """Width in [s] of the window that smooths steps out of the walked path."""
    noise: float = 0.015
    """Width in [s] of the window that smooths every tracker; 10 Hz is halved."""
    waist: WaistLimits = field(default_factory=WaistLimits)
    """Limits for the hip motion that the torso follows."""
    plan: PlanConfig = field(default_factory=PlanConfig)
    """Planning, so that the robot's joints can follow the motion."""
    speed: float = 1.0
    """Playback speed; 1 is real time."""
    loop: bool = False
    """Whether to repeat the motion; the walk continues from where it ended."""
    blend: float = 0.8
    """Time in [s] over which the end of a loop blends into its beginning."""
    fit: RobotProportions | None = None
    """Proportions of the robot to scale to; null plays the motion unscaled."""

    def __post_init__(self) -> None:
        require_choice(self, "normalization", NORMALIZATIONS)
        require_choice(self, "anchor", ANCHORS)
        require_in_range(self, "speed", 0.01, 10.0)
        require_non_negative(self, "approach", "smoothing", "noise", "blend", "run_up")
        if self.scale is not None:
            require_in_range(self, "scale", 0.01, 10.0)
        if self.unit is not None:
            require_positive(self, "unit")
