# SPDX-License-Identifier: Apache-2.0
"""How a recorded motion is played."""

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
class BodyFit:
    """What a motion has to know of the robot's joints to be one that they can follow."""

    robot: str
    """A robot by its name, or the path of a folder with a model."""
    begin: dict[str, float] = field(default_factory=dict)
    """Where joints are as a session begins, in [rad] or [m]; those not named are at 0."""
    posture: dict[str, float] = field(default_factory=dict)
    """Where joints prefer to be."""
    solver: str = "qp"
    """Registered name of the session's solver."""
    options: dict[str, Any] = field(default_factory=dict)
    """What that solver is told."""
    weights: dict[str, tuple[float, float]] = field(default_factory=dict)
    """What a chain's position [1/m] and orientation [1/rad] count, by name or kind of chain."""


@dataclass(frozen=True, slots=True)
class RobotFit:
    """What a motion has to know of the robot to suit it; all in the axes of the robot's base."""

    reach: float
    """Length of a stretched arm in [m]."""
    shoulders: dict[str, Vector] = field(default_factory=dict)
    """Where arms begin, from the end of the torso, in [m], by side."""
    hands: dict[str, Vector] = field(default_factory=dict)
    """Where hands are as a session begins, from their shoulders, in [m], by side."""
    turns: dict[str, Quaternion] = field(default_factory=dict)
    """How hands are turned then against those of hanging arms, xyzw, by side."""
    body: BodyFit | None = None
    """Its joints; null where the motion is to be played whether they can follow or not."""

    def __post_init__(self) -> None:
        require_positive(self, "reach")
        for name in ("shoulders", "hands"):
            missing = [side for side in HAND_SIDES if side not in getattr(self, name)]
            if missing:
                raise ConfigError(f"{name} must name both sides, lacks {', '.join(missing)}")


@dataclass(frozen=True, slots=True)
class WaistLimits:
    """How far and how fast a robot's torso goes along with a person's hips.

    A torso carries half of the robot's weight, and nothing keeps it from tipping but its base;
    hips sway, tilt and twist far more than it should. Beyond each limit, ever less is taken over.
    """

    tilt: float = 0.15
    """Largest tilt in [rad]."""
    twist: float = 0.15
    """Largest turn against the direction in which the body goes in [rad]."""
    shift: float = 0.05
    """Largest way on the floor in [m]."""
    drop: float = 0.2
    """Largest way up or down in [m]."""
    smoothing: float = 0.2
    """Width in [s] over which it is smoothed."""

    def __post_init__(self) -> None:
        require_positive(self, "tilt", "twist", "shift", "drop")
        require_non_negative(self, "smoothing")


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """How a recording, known from beginning to end, is made a motion that joints can follow.

    People are faster than robots. A robot that learns of a swing only while it happens comes late
    and overshoots; one that knows it in advance swings less far, but in time.
    """

    enabled: bool = True
    """Whether to plan at all; false sends what was recorded."""
    velocity: float = 0.8
    """Share of the joints' speeds to plan with; the rest is for an IK that has ways of its own."""
    acceleration: float = 0.5
    """Share of their accelerations."""
    jerk: float = 0.4
    """Share of their jerks."""
    ahead: float = 0.05
    """Time in [s] by which samples run ahead of the person, for the robot takes it to follow."""
    longest: float = 300.0
    """Length in [s] above which a recording is played without a plan."""

    def __post_init__(self) -> None:
        for name in ("velocity", "acceleration", "jerk"):
            require_in_range(self, name, 0.05, 1.0)
        require_in_range(self, "ahead", 0.0, 0.5, unit="s")
        require_positive(self, "longest")


@dataclass(frozen=True, slots=True)
class MocapConfig:
    """Which motion, and how it is played."""

    file: Path | None = None
    """The BVH file, or the name of one of our own motions."""
    skeleton: str | None = None
    """Family of its skeleton, as in `config/mocap`; null tells it from the joints."""
    unit: float | None = None
    """Length of its unit in [m]; null as the family has it."""
    up: Literal["y", "z"] | None = None
    """Axis of the file that points up; null as the family has it."""
    normalization: Literal["relative", "absolute"] = "relative"
    """Relative: the body goes where the base goes, and hands are placed against the body.
    Absolute: every tracker is where it was in the room."""
    anchor: Literal["body", "first_frame"] = "body"
    """What a hand's place means: its distance from the shoulder, or its way since the start."""
    scale: float | None = None
    """Way of a hand per way of the person's; null by the lengths of the arms."""
    approach: float = 2.0
    """Time in [s] to come from where a robot's hands begin to the first pose."""
    run_up: float = 0.8
    """Time in [s] in which playing gathers speed, and loses it again before the end."""
    smoothing: float = 0.25
    """Width in [s] over which steps are taken out of the way that the body goes."""
    noise: float = 0.015
    """Width in [s] over which noise is taken out of every tracker; half of 10 Hz passes."""
    waist: WaistLimits = field(default_factory=WaistLimits)
    """How much of what a person's hips do is taken over."""
    plan: PlanConfig = field(default_factory=PlanConfig)
    """How it is made a motion that the robot's joints can follow."""
    speed: float = 1.0
    """Time of the recording per time of the session."""
    loop: bool = False
    """Whether to begin again at the end; the walk goes on from where it is."""
    blend: float = 0.8
    """Time in [s] in which the end of a loop goes over into its beginning."""
    fit: RobotFit | None = None
    """The robot that it is fitted to; null plays it as it is."""

    def __post_init__(self) -> None:
        require_choice(self, "normalization", NORMALIZATIONS)
        require_choice(self, "anchor", ANCHORS)
        require_in_range(self, "speed", 0.01, 10.0)
        require_non_negative(self, "approach", "smoothing", "noise", "blend", "run_up")
        if self.scale is not None:
            require_in_range(self, "scale", 0.01, 10.0)
        if self.unit is not None:
            require_positive(self, "unit")
