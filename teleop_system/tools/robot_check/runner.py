# SPDX-License-Identifier: Apache-2.0
"""Runs the checks one after the other."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from teleop_system.exceptions import TeleopError, UnknownNameError
from teleop_system.robots import RobotDescription
from teleop_system.tools.robot_check import model_checks, motion_checks, urdf_checks
from teleop_system.tools.robot_check.bench import Bench
from teleop_system.tools.robot_check.result import CheckOutcome, CheckResult

Check = Callable[[Bench], CheckResult]
Progress = Callable[[str, int, int], None]

CHECKS: dict[str, Check] = {
    "joint order": model_checks.check_joint_order,
    "joint signs": urdf_checks.check_signs,
    "limits": model_checks.check_limits,
    "motors": model_checks.check_motors,
    "named poses": model_checks.check_poses,
    "URDF and MJCF": urdf_checks.check_kinematics,
    "mass": urdf_checks.check_mass,
    "self-collision": motion_checks.check_self_collision,
    "reach": motion_checks.check_reach,
    "gravity": motion_checks.check_gravity,
}
"""All checks by name, in their order."""


def check_robot(
    robot: RobotDescription,
    only: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> list[CheckResult]:
    """Check a robot and return one result per check.

    Args:
        robot: The robot.
        only: Names of the checks to run; None for all.
        progress: Called before each check with its name, its index and the count.

    Raises:
        UnknownNameError: A name in `only` is not a check.
        ModelError: A model file is missing or broken.
    """
    selected = tuple(CHECKS) if only is None else tuple(only)
    for name in selected:
        if name not in CHECKS:
            raise UnknownNameError("check", name, CHECKS)
    bench = Bench.of(robot)
    results = []
    for index, name in enumerate(selected):
        if progress is not None:
            progress(name, index, len(selected))
        results.append(_run(name, bench))
    return results


def _run(name: str, bench: Bench) -> CheckResult:
    try:
        return replace(CHECKS[name](bench), name=name)
    except TeleopError as error:
        # One check that raises must not hide the results of the others.
        return CheckResult(name, CheckOutcome.FAILED, str(error), "correct what the message names")
