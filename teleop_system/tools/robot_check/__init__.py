# SPDX-License-Identifier: Apache-2.0
"""Checks that a robot's files agree with each other and that it behaves in simulation.

    for result in check_robot(load_robot("rby1")):
        result.outcome, result.detail, result.fix

A check that does not apply, such as one that needs a URDF where there is none, is skipped and
says why; it never counts as passed.
"""

from teleop_system.tools.robot_check.result import CheckResult, Outcome
from teleop_system.tools.robot_check.runner import check_names, check_robot

__all__ = ["CheckResult", "Outcome", "check_names", "check_robot"]
