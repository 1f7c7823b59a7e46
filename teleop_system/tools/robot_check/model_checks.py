# SPDX-License-Identifier: Apache-2.0
"""Checks of the model files: joint order, limits, motors, named poses."""

import math

from teleop_system.robots.joint_tree import JointTree
from teleop_system.tools.robot_check.bench import Bench
from teleop_system.tools.robot_check.result import CheckResult, failed, listed, passed, skipped

LIMIT_TOLERANCE = 1e-6
"""Largest difference in [rad] or [m] between two values of one limit."""
EFFORT_TOLERANCE = 0.01
"""Largest relative difference between two values of one effort."""


def check_joint_order(bench: Bench) -> CheckResult:
    """The joints of every chain follow each other from the body outwards."""
    robot = bench.robot
    if not robot.chains:
        return skipped("the robot has no chains")
    for chain in robot.chains.values():
        tree = JointTree(bench.contents, chain.joints)
        start = tree.roots()
        if len(start) != 1 or tree.run(start[0]) != chain.joints:
            order = tree.run(start[0])
            return failed(
                f"chain {chain.name} does not follow the kinematic tree",
                f"list its joints in series: {listed(list(order), len(order))}",
            )
    count = sum(len(chain.joints) for chain in robot.chains.values())
    return passed(f"{count} joints in {len(robot.chains)} chains follow the tree")


def check_limits(bench: Bench) -> CheckResult:
    """MJCF, URDF and `robot.yaml` have the same limits, and every joint has limits."""
    faults: list[str] = []
    for name, limits in bench.robot.joints.items():
        joint = bench.contents.joint(name)
        assert joint is not None
        if limits.lower < joint.lower - LIMIT_TOLERANCE:
            faults.append(f"{name} lower: robot.yaml {limits.lower:g}, MJCF {joint.lower:g}")
        if limits.upper > joint.upper + LIMIT_TOLERANCE:
            faults.append(f"{name} upper: robot.yaml {limits.upper:g}, MJCF {joint.upper:g}")
        other = bench.urdf.joints[name] if bench.urdf else None
        if other is None:
            continue
        for side, in_mjcf, in_urdf in (
            ("lower", joint.lower, other.lower),
            ("upper", joint.upper, other.upper),
        ):
            if in_mjcf != in_urdf and not abs(in_mjcf - in_urdf) <= LIMIT_TOLERANCE:
                faults.append(f"{name} {side}: URDF {in_urdf:g}, MJCF {in_mjcf:g}")
        if (
            joint.effort
            and other.effort
            and not math.isclose(joint.effort, other.effort, rel_tol=EFFORT_TOLERANCE)
        ):
            faults.append(f"{name} effort: URDF {other.effort:g}, MJCF {joint.effort:g}")
    if faults:
        return failed(listed(faults), "use the same numbers in all files")
    assumed = [name for name, limits in bench.robot.joints.items() if limits.assumed]
    sources = "MJCF, URDF and robot.yaml agree" if bench.urdf else "MJCF and robot.yaml agree"
    remark = f"; {len(assumed)} joints have assumed rates" if assumed else ""
    return passed(f"{sources} on {len(bench.robot.joints)} joints{remark}")


def check_motors(bench: Bench) -> CheckResult:
    """Every joint that can be commanded has a motor."""
    names = bench.robot.controlled_joints
    if not names:
        return failed("no joint of this robot can be commanded", "add actuators to the MJCF")
    missing = [name for name in names if name not in bench.contents.driven]
    if missing:
        return failed(
            f"no motor for {listed(missing)}", "add an <actuator> for each of them to the MJCF"
        )
    spare = [name for name in bench.contents.driven if name not in names]
    remark = f"; in no part: {listed(spare)}" if spare else ""
    return passed(f"{len(names)} commanded joints have a motor{remark}")


def check_poses(bench: Bench) -> CheckResult:
    """Every named pose is within the limits."""
    faults = [
        f"{pose}: {joint} at {position:g}, limits {limits.lower:g} to {limits.upper:g}"
        for pose, positions in bench.robot.poses.items()
        for joint, position in positions.items()
        if not (limits := bench.robot.joints[joint]).lower - LIMIT_TOLERANCE
        <= position
        <= limits.upper + LIMIT_TOLERANCE
    ]
    if faults:
        return failed(listed(faults, 2), "correct the pose in robot.yaml or the keyframe")
    return passed(f"{listed(list(bench.robot.poses), 8)}: within limits")
