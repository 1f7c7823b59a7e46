# SPDX-License-Identifier: Apache-2.0
"""Calibration of an operator against a robot before teleoperation starts."""

from teleop_system.calibration.a_pose import ArmCalibration, calibrate_a_pose

__all__ = ["ArmCalibration", "calibrate_a_pose"]
