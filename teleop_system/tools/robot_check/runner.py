# SPDX-License-Identifier: Apache-2.0
"""Runs the checks one after the other."""

from collections.abc import Callable, Iterable

from teleop_system.exceptions import TeleopError, UnknownNameError
from teleop_system.robots import RobotDescription
from teleop_system.tools.robot_check import model_checks, motion_checks, urdf_checks
from teleop_system.tools.robot_check.bench import Bench
from teleop_system.tools.robot_check.result import CheckResult, Finding, Outcome

Check = Callable[[Bench], Finding]
Progress = Callable[[str, int, int], None]

_CHECKS: dict[str, Check] = {
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


def check_names() -> tuple[str, ...]:
    """Return the names of all checks in the order they are made."""
    return tuple(_CHECKS)


def check_robot(
    robot: RobotDescription,
    only: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> list[CheckResult]:
    """Check a robot and return one result per check.

    Args:
        robot: The robot.
        only: Names of the checks to make; None for all.
        progress: Called before each check with its name, its number from 0 and their count.

    Raises:
        UnknownNameError: There is no check of a name in `only`.
        ModelError: A model file has vanished or broken since the description was made.
    """
    wanted = tuple(_CHECKS) if only is None else tuple(only)
    for name in wanted:
        if name not in _CHECKS:
            raise UnknownNameError("check", name, _CHECKS)
    bench = Bench.of(robot)
    results = []
    for index, name in enumerate(wanted):
        if progress is not None:
            progress(name, index, len(wanted))
        results.append(_run(name, bench))
    return results


def _run(name: str, bench: Bench) -> CheckResult:
    try:
        finding = _CHECKS[name](bench)
    except TeleopError as error:
        # One check that cannot be made must not hide what the others found.
        return CheckResult(name, Outcome.FAILED, str(error), "put right what the message names")
    return CheckResult(name, finding.outcome, finding.detail, finding.fix)
