# SPDX-License-Identifier: Apache-2.0
"""The workspace of an end effector."""

import math
from dataclasses import dataclass

from teleop_system.exceptions import ConfigError


@dataclass(frozen=True, slots=True)
class WorkspaceBox:
    """A box in the frame of the robot's root link; end effectors stay inside."""

    lower: tuple[float, float, float] = (-1.0, -1.5, 0.0)
    """Smallest x, y and z in [m]."""
    upper: tuple[float, float, float] = (1.5, 1.5, 2.2)
    """Largest x, y and z in [m]."""

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            corner = getattr(self, name)
            if len(corner) != 3 or not all(math.isfinite(value) for value in corner):
                raise ConfigError(f"{name} must be three finite numbers, got {corner}")
        if not all(low < high for low, high in zip(self.lower, self.upper, strict=True)):
            raise ConfigError(f"lower must be below upper, got {self.lower} and {self.upper}")
