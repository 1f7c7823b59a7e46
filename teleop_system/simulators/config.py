# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulators."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from teleop_system.exceptions import ConfigError
from teleop_system.robots.description import Base
from teleop_system.utils.schema import SchemaReader
from teleop_system.utils.validators import (
    require_in_range,
    require_non_negative,
    require_positive,
)

AUTO_SCENE = "auto"
SAMPLE_COUNTS = (0, 2, 4, 8)
MAX_IMAGE_SIZE = 8192


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """Settings of the physics and the rendering."""

    name: str = "mujoco"
    """Registered name of the simulator."""
    timestep: float = 0.002
    """Physics step in [s]."""
    real_time: bool = True
    """Keep pace with the wall clock; false runs as fast as possible."""
    seed: int = 0
    """Seed of all random numbers in the simulator."""
    render: bool = True
    """Whether images can be rendered."""
    width: int = 640
    """Columns of an image in [px]."""
    height: int = 480
    """Rows of an image in [px]."""

    def __post_init__(self) -> None:
        require_in_range(self, "timestep", 1e-5, 0.02, unit="s")
        require_non_negative(self, "seed")
        require_in_range(self, "width", 1, MAX_IMAGE_SIZE, unit="px")
        require_in_range(self, "height", 1, MAX_IMAGE_SIZE, unit="px")


@dataclass(frozen=True, slots=True)
class MuJoCoConfig:
    """Model, initial state and rendering of a simulation."""

    mjcf_path: str
    """MJCF file of the robot."""
    timestep: float | None = None
    """Physics step in [s]; None takes that of the model."""
    scene: str | None = AUTO_SCENE
    """Surroundings: a name from `models/scenes`, an MJCF file, "auto" (a floor, if a robot with a
    free base has none) or None."""
    keyframe: str | None = None
    """Name of the initial keyframe; None takes "ready" or "home" if the model has one."""
    initial_pose: dict[str, float] = field(default_factory=dict)
    """Initial joint positions in [rad] or [m] by name; they override the keyframe."""
    initial_noise: float = 0.0
    """Largest random deviation of the initial joint positions in [rad] or [m]."""
    seed: int = 0
    """Seed of that deviation."""
    velocity_limits: dict[str, float] = field(default_factory=dict)
    """Largest speed in velocity mode in [rad/s] or [m/s] by joint; MJCF has no such limit."""
    base: Base | None = None
    """The wheels; None detects a pair of driven wheels in the model."""
    render: bool = True
    """Whether images can be rendered; the first one opens OpenGL."""
    width: int = 640
    """Columns of an image in [px]."""
    height: int = 480
    """Rows of an image in [px]."""
    camera: str | None = None
    """Camera of `render()`; None takes "overview" if the model has it, else a free camera."""
    shadows: bool = False
    """Render shadows; without a graphics card they cost more than all else."""
    antialiasing: int = 0
    """Samples per pixel; 0 is fastest."""

    def __post_init__(self) -> None:
        if not self.mjcf_path:
            raise ConfigError("mjcf_path must name a file, got ''")
        if self.timestep is not None:
            require_positive(self, "timestep")
        require_non_negative(self, "initial_noise", "seed")
        for name in ("width", "height"):
            require_in_range(self, name, 1, MAX_IMAGE_SIZE, unit="px")
        if self.antialiasing not in SAMPLE_COUNTS:
            raise ConfigError(
                f"antialiasing must be one of {SAMPLE_COUNTS}, got {self.antialiasing}"
            )
        for joint, speed in self.velocity_limits.items():
            if not speed > 0.0:
                raise ConfigError(f"velocity_limits of {joint!r} must be positive, got {speed}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "MuJoCoConfig":
        """Return the configuration in a dictionary.

        Raises:
            ConfigError: A key is unknown or missing, or a value is invalid.
        """
        plain = dict(values)
        if "mjcf_path" in plain:
            plain["mjcf_path"] = str(plain["mjcf_path"])
        if isinstance(plain.get("base"), Base):
            plain["base"] = dataclasses.asdict(plain["base"])
        return SchemaReader(lambda key: "simulator configuration").read(cls, plain)
