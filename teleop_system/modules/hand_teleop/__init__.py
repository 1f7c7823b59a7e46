# SPDX-License-Identifier: Apache-2.0
"""Hand module: a DG-5F follows finger angles or finger tips, a gripper the operator's grasp.

`HandController` converts samples of one hand to joint positions; `HandPairController` does so for
both hands. A retargeter maps a person's hand to the robot's hand.
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
