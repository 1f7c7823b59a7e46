# SPDX-License-Identifier: Apache-2.0
"""Safety of the command path: limits, guards and causes, and how old an input may become.

A loop resets a `SafetyManager` to the measured joint positions and calls its `update` once a
cycle with the newest commands; what comes out, and nothing else, goes to the actuators.
"""

from teleop_system.safety.config import (
    BaseSafetyConfig,
    CollisionSafetyConfig,
    SafetyConfig,
)
from teleop_system.safety.manager import SafetyManager
from teleop_system.safety.parts import Part, RobotParts
from teleop_system.safety.values import PartCommand, SafetyOutput
from teleop_system.utils.workspace_box import WorkspaceBox

__all__ = [
    "BaseSafetyConfig",
    "CollisionSafetyConfig",
    "Part",
    "PartCommand",
    "RobotParts",
    "SafetyConfig",
    "SafetyManager",
    "SafetyOutput",
    "WorkspaceBox",
]
