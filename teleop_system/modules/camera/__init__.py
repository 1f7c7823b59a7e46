# SPDX-License-Identifier: Apache-2.0
"""Camera module: the robot's head follows the operator's, and its images are streamed."""

from teleop_system.modules.camera.camera_controller import CameraController, PanTiltOutput
from teleop_system.modules.camera.config import CameraConfig

__all__ = ["CameraConfig", "CameraController", "PanTiltOutput"]
