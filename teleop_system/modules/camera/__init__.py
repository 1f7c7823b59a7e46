# SPDX-License-Identifier: Apache-2.0
"""The robot's head looks where the operator looks, and shows what it sees."""

from teleop_system.modules.camera.camera_controller import CameraController, PanTiltOutput
from teleop_system.modules.camera.config import CameraConfig

__all__ = ["CameraConfig", "CameraController", "PanTiltOutput"]
