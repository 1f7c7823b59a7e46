# SPDX-License-Identifier: Apache-2.0
"""Proportions of a robot, to which recorded motions are scaled."""

import dataclasses
from typing import Any

import numpy as np

from teleop_system.devices.config import DriverSettings
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.mocap.config import PlanningTask, RobotProportions
from teleop_system.modules.arm_teleop.joint_motion import POSTURE
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.settings import TeleopSettings
from teleop_system.solvers.chain_kinematics import ChainKinematics
from teleop_system.utils.plain_values import plain
from teleop_system.utils.transforms import quat_inverse, quat_multiply, quat_rotate

HANGING_POSE = "zero"
SCALES = ("scale", "rotation_scale")
HANGING_ERROR = 0.1
"""Largest horizontal distance in [m] from shoulder to hand of a hanging arm."""


def robot_proportions(robot: RobotDescription, pose: str | None = None) -> RobotProportions | None:
    """Return a robot's arm length and initial hand poses; None without two arms.

    Args:
        robot: The robot.
        pose: Named pose in which sessions begin; None for the robot's initial pose.
    """
    arms = {
        chain.side: name
        for name, chain in robot.chains.items()
        if chain.kind == "arm" and chain.side in HAND_SIDES
    }
    if set(arms) != set(HAND_SIDES):
        return None
    chains = {
        name: chain for name, chain in robot.chains.items() if chain.kind in ("arm", "torso")
    }
    joints = tuple(dict.fromkeys(joint for chain in chains.values() for joint in chain.joints))
    kinematics = ChainKinematics(robot, chains, joints)
    reaches = {side: kinematics.reach(str(arm)) for side, arm in arms.items()}
    if any(reach is None for reach in reaches.values()):
        return None
    initial = [robot.pose(pose or robot.initial_pose).get(joint, 0.0) for joint in joints]
    shoulders: dict[str, Any] = {}
    hands: dict[str, Any] = {}
    rotations: dict[str, Any] = {}
    for side, arm in arms.items():
        reach = reaches[side]
        assert reach is not None
        offset, shoulder = _shoulder(kinematics, reach, initial)
        position, orientation = kinematics.pose(arm, initial)
        shoulders[str(side)] = tuple(offset.tolist())
        hands[str(side)] = tuple((np.array(position) - shoulder).tolist())
        hanging = _hanging_orientation(robot, kinematics, arm, reach, joints)
        if hanging is not None:
            rotation = quat_multiply(np.array(orientation), quat_inverse(hanging))
            rotations[str(side)] = tuple(rotation.tolist())
    reach = reaches["right"]
    assert reach is not None
    return RobotProportions(float(reach.radius), shoulders, hands, rotations)


def scaled_to_robot(settings: TeleopSettings) -> TeleopSettings:
    """Return settings whose recorded motions are scaled to the session's robot."""
    robot = load_robot(settings.robot.name)
    home = settings.session.home_pose or settings.robot.initial_pose
    proportions = robot_proportions(robot, home)
    if proportions is not None:
        task = _planning_task(robot, settings, home)
        proportions = dataclasses.replace(proportions, planning=task)
    drivers: dict[str, DriverSettings] = {}
    for name, driver in settings.hardware.drivers.items():
        if driver.name == "bvh" and driver.options.get("fit") is None and proportions is not None:
            options = driver.options | {"fit": plain(proportions)}
            driver = dataclasses.replace(driver, options=options)
        drivers[name] = driver
    hardware = dataclasses.replace(settings.hardware, drivers=drivers)
    return dataclasses.replace(settings, hardware=hardware)


def _planning_task(
    robot: RobotDescription, settings: TeleopSettings, home: str | None
) -> PlanningTask | None:
    """Return the session's solver and poses for planning; None if its mapping is not 1:1.

    A plan assumes relative mapping: hands of the robot move as far as those of the person.
    """
    arm, solver = settings.arm, settings.solver
    scales = {getattr(limb, name) for limb in arm.limbs.values() for name in SCALES}
    if arm.mapping != "relative" or scales - {1.0}:
        return None
    posture = arm.posture or (POSTURE if POSTURE in robot.poses else robot.initial_pose)
    return PlanningTask(
        robot=settings.robot.name,
        initial=dict(robot.pose(home or robot.initial_pose)),
        posture=dict(robot.pose(posture)),
        solver=solver.name,
        options=dict(solver.options()),
        weights={
            name: (weight.position_weight, weight.orientation_weight)
            for name, weight in solver.chains.items()
        },
    )


def _shoulder(kinematics: ChainKinematics, reach: Any, joints: list[float]) -> tuple[Any, Any]:
    """Return a shoulder's offset from the end of the chain that carries it, and its position.

    Both are in the axes of the base frame.
    """
    centre = np.array(reach.centre)
    if reach.carrier is None:
        return np.zeros(3), centre
    position, orientation = kinematics.pose(reach.carrier, joints)
    offset = quat_rotate(np.array(orientation), centre)
    return offset, np.array(position) + offset


def _hanging_orientation(
    robot: RobotDescription,
    kinematics: ChainKinematics,
    arm: str,
    reach: Any,
    joints: tuple[str, ...],
) -> Any:
    """Return the orientation of the hand of a hanging arm; None without such a pose."""
    if HANGING_POSE not in robot.poses:
        return None
    values = [robot.pose(HANGING_POSE).get(joint, 0.0) for joint in joints]
    _, shoulder = _shoulder(kinematics, reach, values)
    position, orientation = kinematics.pose(arm, values)
    offset = np.array(position) - shoulder
    if offset[2] > 0.0 or float(np.hypot(offset[0], offset[1])) > HANGING_ERROR:
        return None
    return np.array(orientation)
