# SPDX-License-Identifier: Apache-2.0
"""Calibration of an operator against a robot before teleoperation starts.

The operator stands in the A-pose while the trackers are read. The result anchors each tracker to
the tool of its limb and gives scale and heading; absolute mapping needs it. Its residual shows how
well the measurements agree and can veto the calibration.
"""

from teleop_system.calibration.a_pose import ArmCalibration, calibrate_a_pose

__all__ = ["ArmCalibration", "calibrate_a_pose"]
