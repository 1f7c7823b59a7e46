# SPDX-License-Identifier: Apache-2.0
"""Safety of the command path: the gates it begins with and the one writer it ends with.

A loop resets a `SafetyManager` to the measured joint positions and calls its `update` once a
cycle with the newest commands; what comes out, and nothing else, goes to the actuators.
"""

from teleop_system.safety.config import (
    BaseSafetyConfig,
    CollisionSafetyConfig,
    SafetyConfig,
)
from teleop_system.safety.input_gate import AngleGate, PoseGate, TrackerGates
from teleop_system.safety.manager import SafetyManager
from teleop_system.safety.parts import Part, RobotParts
from teleop_system.safety.sample_gate import InputGateConfig
from teleop_system.safety.values import PartCommand, SafetyOutput
from teleop_system.utils.workspace_box import WorkspaceBox

__all__ = [
    "AngleGate",
    "BaseSafetyConfig",
    "CollisionSafetyConfig",
    "InputGateConfig",
    "Part",
    "PartCommand",
    "PoseGate",
    "RobotParts",
    "SafetyConfig",
    "SafetyManager",
    "SafetyOutput",
    "TrackerGates",
    "WorkspaceBox",
]
