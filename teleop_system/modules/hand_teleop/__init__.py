# SPDX-License-Identifier: Apache-2.0
"""Hands that follow the operator's: a DG-5F joint by joint or tip by tip, a gripper by its grasp.

`HandController` takes one hand's samples and gives joint positions; `HandPairController` does the
same for both, solving them together. What maps a person's hand to a robot's is a retargeter.
"""

from teleop_system.modules.hand_teleop.config import (
    AngleMapConfig,
    FingertipConfig,
    GraspConfig,
    HandTeleopConfig,
)
from teleop_system.modules.hand_teleop.hand_controller import (
    HandController,
    HandOutput,
    HandPairController,
)
from teleop_system.modules.hand_teleop.retargeting import (
    AngleRetargeter,
    FingertipRetargeter,
    IRetargeter,
)

__all__ = [
    "AngleMapConfig",
    "AngleRetargeter",
    "FingertipConfig",
    "FingertipRetargeter",
    "GraspConfig",
    "HandController",
    "HandOutput",
    "HandPairController",
    "HandTeleopConfig",
    "IRetargeter",
]
