# SPDX-License-Identifier: Apache-2.0
"""Locomotion module: gait detection, and base velocity from the operator's gait."""

from teleop_system.modules.locomotion.config import GaitConfig, LocomotionConfig
from teleop_system.modules.locomotion.gait_detector import GaitDetector, GaitEstimate, GaitState
from teleop_system.modules.locomotion.locomotion_controller import (
    LocomotionController,
    LocomotionOutput,
)

__all__ = [
    "GaitConfig",
    "GaitDetector",
    "GaitEstimate",
    "GaitState",
    "LocomotionConfig",
    "LocomotionController",
    "LocomotionOutput",
]
