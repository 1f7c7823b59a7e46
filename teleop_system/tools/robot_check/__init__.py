# SPDX-License-Identifier: Apache-2.0
"""Checks that a robot's files agree, and that the robot works in simulation.

    for result in check_robot(load_robot("rby1")):
        result.outcome, result.detail, result.fix

A check that does not apply, such as one that needs a missing URDF, is skipped with the reason; it
never counts as passed.
"""

from teleop_system.tools.robot_check.result import CheckOutcome, CheckResult
from teleop_system.tools.robot_check.runner import CHECKS, check_robot

__all__ = ["CHECKS", "CheckOutcome", "CheckResult", "check_robot"]
