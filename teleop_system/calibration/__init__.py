# SPDX-License-Identifier: Apache-2.0
"""What fits an operator to a robot before they start."""

from teleop_system.calibration.a_pose import ArmCalibration, calibrate_a_pose

__all__ = ["ArmCalibration", "calibrate_a_pose"]
