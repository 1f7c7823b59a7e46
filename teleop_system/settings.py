# SPDX-License-Identifier: Apache-2.0
"""The settings of a session: the schema of the tree in `config/`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from teleop_system.devices.config import HardwareSettings
from teleop_system.exceptions import ConfigError, suggestion
from teleop_system.mocap.config import MocapConfig
from teleop_system.modules import MODULES
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.hand_teleop.config import HandTeleopConfig
from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.safety.config import SafetyConfig
from teleop_system.simulators.config import SimulationSettings
from teleop_system.solvers.options import ChainWeights, SolverParameters
from teleop_system.utils.config_loader import compose_config
from teleop_system.utils.paths import config_dir
from teleop_system.utils.validators import (
    require_in_range,
    require_non_negative,
    require_positive,
)


@dataclass(frozen=True, slots=True)
class RobotSettings:
    """The robot, its surroundings and its initial pose."""

    name: str = "rby1"
    """Name of a robot from `teleop robots`, or the path of a model folder."""
    initial_pose: str | None = None
    """Named pose at the start; null takes the initial pose of the model."""
    scene: str | None = "auto"
    """Surroundings from `models/scenes`, an MJCF file, "auto" (a floor if needed) or null."""


@dataclass(frozen=True, slots=True)
class SolverSettings(SolverParameters):
    """The solver and its parameters, with defaults for calm joints under teleoperation."""

    name: str = "qp"
    """Registered name of the solver."""
    chains: dict[str, ChainWeights] = field(default_factory=dict)
    """Weights by name of a chain, or else by its kind: arm, torso, finger."""
    posture_weight: float = 0.07
    posture_speed: float = 1.0
    limit_weight: float = 0.15
    damping: float = 5e-3
    inertia: float = 2e-2
    acceleration_share: float = 0.7
    collision_slow: float = 0.06
    collision_stop: float = 0.015
    collision_speed: float = 0.4


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """The simulated operator."""

    motion: Literal["human", "sinusoid"] = "human"
    """Smooth reaching movements, or one sine wave per hand."""
    seed: int = 0
    """Seed of the movements."""
    duration: float | None = 30.0
    """Duration of the session in [s]; null runs until it is stopped."""
    amplitude: float | None = None
    """Largest displacement of a hand in [m]; null takes the default of the motion."""
    frequency: float | None = None
    """Reaches or sine periods per second in [Hz]; null takes the default of the motion."""

    def __post_init__(self) -> None:
        require_non_negative(self, "seed")
        if self.duration is not None:
            require_positive(self, "duration")
        if self.amplitude is not None:
            require_in_range(self, "amplitude", 0.0, 1.0, unit="m")
        if self.frequency is not None:
            require_in_range(self, "frequency", 0.01, 5.0, unit="Hz")


@dataclass(frozen=True, slots=True)
class SessionConfig(RobotSideConfig):
    """What runs and what is recorded."""

    mode: Literal["simulation", "hardware"] = "simulation"
    """Drive a simulated or a real robot."""
    modules: tuple[str, ...] = MODULES
    """Controllers to run; those without matching parts of the robot are skipped."""
    time: Literal["auto", "simulated", "wall"] = "auto"
    """Clock of the session: simulated time, wall time, or "auto": simulated time if all devices
    support it."""
    auto_engage: bool = True
    """Engage as soon as the robot is ready, for operators without an engage button."""
    runs: Path = Path("runs")
    """Folder that contains one folder per run."""
    record: bool = True
    """Whether to record inputs, commands and states of every tick and write a report."""
    record_minutes: float = 30.0
    """Recorded time in [min]; of longer runs the beginning is dropped."""

    def __post_init__(self) -> None:
        RobotSideConfig.__post_init__(self)
        if not self.modules:
            raise ConfigError(f"modules must name some of {', '.join(MODULES)}, got none")
        for module in self.modules:
            if module not in MODULES:
                raise ConfigError(f"modules cannot be {module!r}{suggestion(module, MODULES)}")
        require_in_range(self, "record_minutes", 0.1, 1440.0, unit="min")


@dataclass(frozen=True, slots=True)
class TeleopSettings:
    """All settings of `config/`."""

    seed: int = 0
    """Seed of all random numbers, unless a section has its own."""
    robot: RobotSettings = field(default_factory=RobotSettings)
    simulation: SimulationSettings = field(default_factory=SimulationSettings)
    arm: ArmTeleopConfig = field(default_factory=ArmTeleopConfig)
    hand: HandTeleopConfig = field(default_factory=HandTeleopConfig)
    locomotion: LocomotionConfig = field(default_factory=LocomotionConfig)
    camera: CameraConfig = field(default_factory=CameraConfig)
    solver: SolverSettings = field(default_factory=SolverSettings)
    safety: SafetyConfig = field(default_factory=SafetyConfig)
    hardware: HardwareSettings = field(default_factory=HardwareSettings)
    operator: OperatorSettings = field(default_factory=OperatorSettings)
    mocap: MocapConfig = field(default_factory=MocapConfig)
    session: SessionConfig = field(default_factory=SessionConfig)
    streaming: StreamingConfig = field(default_factory=StreamingConfig)

    def __post_init__(self) -> None:
        require_non_negative(self, "seed")
        for section in ("arm", "safety"):
            rate = getattr(self, section).rate
            if rate * self.simulation.timestep > 1.0 + 1e-9:
                raise ConfigError(
                    f"simulation.timestep = {self.simulation.timestep} s is longer than the "
                    f"period of {section}.rate = {rate} Hz"
                )


def load_settings(
    overrides: Sequence[str] = (), folder: Path | str | None = None
) -> TeleopSettings:
    """Return the settings of `config/` with `group=option` and `key=value` overrides applied.

    Args:
        overrides: As on a command line; later ones override earlier ones.
        folder: Configuration tree; None takes `config_dir()`.

    Raises:
        ConfigError: The tree or an override is invalid; the message names the key.
    """
    return compose_config(TeleopSettings, folder or config_dir(), overrides=overrides)
