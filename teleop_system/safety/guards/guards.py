# SPDX-License-Identifier: Apache-2.0
"""The rules that depend on where links are: workspace first, then self-collision."""

from teleop_system.exceptions import MissingExtraError, UnknownNameError
from teleop_system.robots.description import RobotDescription
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.guards.guard import IGuard
from teleop_system.safety.motion.joint_motion import MotionLimits
from teleop_system.safety.parts import RobotParts


def guards_for(
    robot: RobotDescription, parts: RobotParts, limits: MotionLimits, config: SafetyConfig
) -> tuple[IGuard, ...]:
    """Return the guards that a robot needs, in order; without any, no kinematics is loaded.

    Args:
        robot: The robot.
        parts: Its parts.
        limits: Limits of the joints.
        config: Distances and boxes.

    Raises:
        MissingExtraError: The robot needs guards, and Pinocchio is not installed.
        UnknownNameError: A workspace is configured for a chain that the robot does not have.
    """
    for chain in config.workspace:
        if chain not in robot.chains:
            raise UnknownNameError("chain (in safety.workspace)", chain, robot.chains)
    if not (robot.collision_pairs or config.workspace):
        return ()
    try:
        from teleop_system.safety.guards.collision import CollisionGuard
        from teleop_system.safety.guards.workspace import WorkspaceGuard
        from teleop_system.solvers.robot_geometry import RobotGeometry
    except ImportError as error:
        raise MissingExtraError("pin", "ik") from error
    geometry = RobotGeometry(robot, parts.joints)
    guards: list[IGuard] = []
    if config.workspace:
        guards.append(WorkspaceGuard(geometry, parts, config.workspace))
    # Last, so that the motion it has checked is the one that is commanded.
    if geometry.distances.count:
        guards.append(CollisionGuard(geometry.distances, parts, limits, config.collision))
    return tuple(guards)
