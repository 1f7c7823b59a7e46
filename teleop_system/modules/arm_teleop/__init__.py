# SPDX-License-Identifier: Apache-2.0
"""The robot's arms and torso move as the operator's hands and waist do."""

from teleop_system.modules.arm_teleop.arm_controller import ArmController
from teleop_system.modules.arm_teleop.arm_output import ArmOutput
from teleop_system.modules.arm_teleop.config import (
    ArmTeleopConfig,
    LimbConfig,
    SmoothingConfig,
)
from teleop_system.modules.arm_teleop.limbs.limb import LimbState
from teleop_system.utils.workspace_box import WorkspaceBox

__all__ = [
    "ArmController",
    "ArmOutput",
    "ArmTeleopConfig",
    "LimbConfig",
    "LimbState",
    "SmoothingConfig",
    "WorkspaceBox",
]
