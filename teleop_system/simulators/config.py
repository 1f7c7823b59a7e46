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
LARGEST_PICTURE = 8192


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """How the world is simulated and drawn."""

    name: str = "mujoco"
    """Registered name of the simulator."""
    timestep: float = 0.002
    """Physics step in [s]."""
    real_time: bool = True
    """Wait for the wall clock; false runs as fast as the machine can."""
    seed: int = 0
    """Seed of everything random in the simulator."""
    render: bool = True
    """Whether pictures may be asked for."""
    width: int = 640
    """Columns of a picture in [px]."""
    height: int = 480
    """Rows of a picture in [px]."""

    def __post_init__(self) -> None:
        require_in_range(self, "timestep", 1e-5, 0.02, unit="s")
        require_non_negative(self, "seed")
        require_in_range(self, "width", 1, LARGEST_PICTURE, unit="px")
        require_in_range(self, "height", 1, LARGEST_PICTURE, unit="px")


@dataclass(frozen=True, slots=True)
class MuJoCoConfig:
    """What to simulate, from which state, and how to draw it."""

    mjcf_path: str
    """MJCF file of the robot."""
    timestep: float | None = None
    """Physics step in [s]; None takes the model's."""
    scene: str | None = AUTO_SCENE
    """Surroundings: a name from `models/scenes`, an MJCF file, "auto" (a floor where a robot that
    can fall has none) or None."""
    keyframe: str | None = None
    """Initial state by name; None takes "ready" or "home" where the model has one."""
    initial_pose: dict[str, float] = field(default_factory=dict)
    """Initial joint positions in [rad] or [m] by name, on top of the keyframe."""
    initial_noise: float = 0.0
    """Largest random deviation of the initial joint positions in [rad] or [m]."""
    seed: int = 0
    """Seed of that deviation."""
    velocity_limits: dict[str, float] = field(default_factory=dict)
    """Largest speed in velocity mode in [rad/s] or [m/s] by joint; MJCF cannot state it."""
    base: Base | None = None
    """The wheels; None finds a pair of driven wheels in the model."""
    render: bool = True
    """Whether pictures may be asked for; OpenGL is opened with the first one."""
    width: int = 640
    """Columns of every picture in [px]."""
    height: int = 480
    """Rows of every picture in [px]."""
    camera: str | None = None
    """Camera of `render()`; None takes "overview" where the model has it, or a free camera."""
    shadows: bool = False
    """Draw shadows; without a graphics card they cost more than all the rest."""
    antialiasing: int = 0
    """Samples per pixel; 0 draws fastest."""

    def __post_init__(self) -> None:
        if not self.mjcf_path:
            raise ConfigError("mjcf_path must name a file, got ''")
        if self.timestep is not None:
            require_positive(self, "timestep")
        require_non_negative(self, "initial_noise", "seed")
        for name in ("width", "height"):
            require_in_range(self, name, 1, LARGEST_PICTURE, unit="px")
        if self.antialiasing not in SAMPLE_COUNTS:
            raise ConfigError(
                f"antialiasing must be one of {SAMPLE_COUNTS}, got {self.antialiasing}"
            )
        for joint, speed in self.velocity_limits.items():
            if not speed > 0.0:
                raise ConfigError(f"velocity_limits of {joint!r} must be positive, got {speed}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "MuJoCoConfig":
        """Return the configuration a dictionary describes.

        Raises:
            ConfigError: A key is unknown or missing, or a value cannot be used.
        """
        plain = dict(values)
        if "mjcf_path" in plain:
            plain["mjcf_path"] = str(plain["mjcf_path"])
        if isinstance(plain.get("base"), Base):
            plain["base"] = dataclasses.asdict(plain["base"])
        return SchemaReader(lambda key: "simulator configuration").read(cls, plain)
