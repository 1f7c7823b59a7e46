# SPDX-License-Identifier: Apache-2.0
"""What a recorded motion has to know of a robot, taken from the robot's description."""

import dataclasses
from typing import Any

import numpy as np

from teleop_system.devices.config import DriverSettings
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.mocap.config import BodyFit, RobotFit
from teleop_system.modules.arm_teleop.body import POSTURE
from teleop_system.modules.arm_teleop.chain_kinematics import ChainKinematics
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.settings import TeleopSettings
from teleop_system.utils.plain_values import plain
from teleop_system.utils.transforms import quat_inverse, quat_multiply, quat_rotate

HANGING_POSE = "zero"
SCALES = ("scale", "rotation_scale")
HANGING_ERROR = 0.1
"""How far from straight below its shoulder in [m] a hanging arm's hand may be."""


def robot_fit(robot: RobotDescription, pose: str | None = None) -> RobotFit | None:
    """Return how long a robot's arms are and where its hands begin; None without two arms.

    Args:
        robot: The robot.
        pose: Named pose in which sessions begin; None for its own initial one.
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
    begin = [robot.pose(pose or robot.initial_pose).get(joint, 0.0) for joint in joints]
    shoulders: dict[str, Any] = {}
    hands: dict[str, Any] = {}
    turns: dict[str, Any] = {}
    for side, arm in arms.items():
        reach = reaches[side]
        assert reach is not None
        offset, shoulder = _shoulder(kinematics, reach, begin)
        place, turn = kinematics.place(arm, begin)
        shoulders[str(side)] = tuple(offset.tolist())
        hands[str(side)] = tuple((np.array(place) - shoulder).tolist())
        hanging = _hanging_turn(robot, kinematics, arm, reach, joints)
        if hanging is not None:
            turns[str(side)] = tuple(quat_multiply(np.array(turn), quat_inverse(hanging)).tolist())
    reach = reaches["right"]
    assert reach is not None
    return RobotFit(float(reach.radius), shoulders, hands, turns)


def fitted(settings: TeleopSettings) -> TeleopSettings:
    """Return settings whose recorded motions are fitted to the session's robot."""
    robot = load_robot(settings.robot.name)
    home = settings.session.home_pose or settings.robot.initial_pose
    fit = robot_fit(robot, home)
    if fit is not None:
        fit = dataclasses.replace(fit, body=_body_fit(robot, settings, home))
    drivers: dict[str, DriverSettings] = {}
    for name, driver in settings.hardware.drivers.items():
        if driver.name == "bvh" and driver.options.get("fit") is None and fit is not None:
            options = driver.options | {"fit": plain(fit)}
            driver = dataclasses.replace(driver, options=options)
        drivers[name] = driver
    hardware = dataclasses.replace(settings.hardware, drivers=drivers)
    return dataclasses.replace(settings, hardware=hardware)


def _body_fit(
    robot: RobotDescription, settings: TeleopSettings, home: str | None
) -> BodyFit | None:
    """Return what a plan has to know of a session; None where it moves hands another way.

    A plan reckons with hands that go as far as those of the person, from where they begin.
    """
    arm, solver = settings.arm, settings.solver
    scales = {getattr(limb, name) for limb in arm.limbs.values() for name in SCALES}
    if arm.mapping != "relative" or scales - {1.0}:
        return None
    posture = arm.posture or (POSTURE if POSTURE in robot.poses else robot.initial_pose)
    return BodyFit(
        robot=settings.robot.name,
        begin=dict(robot.pose(home or robot.initial_pose)),
        posture=dict(robot.pose(posture)),
        solver=solver.name,
        options=dict(solver.options()),
        weights={
            name: (weight.position_weight, weight.orientation_weight)
            for name, weight in solver.chains.items()
        },
    )


def _shoulder(kinematics: ChainKinematics, reach: Any, joints: list[float]) -> tuple[Any, Any]:
    """Return where an arm begins: from the end of what carries it, and in the base frame."""
    centre = np.array(reach.centre)
    if reach.carrier is None:
        return np.zeros(3), centre
    place, turn = kinematics.place(reach.carrier, joints)
    offset = quat_rotate(np.array(turn), centre)
    return offset, np.array(place) + offset


def _hanging_turn(
    robot: RobotDescription,
    kinematics: ChainKinematics,
    arm: str,
    reach: Any,
    joints: tuple[str, ...],
) -> Any:
    """Return how a hand is turned where its arm hangs; None where no pose shows it."""
    if HANGING_POSE not in robot.poses:
        return None
    values = [robot.pose(HANGING_POSE).get(joint, 0.0) for joint in joints]
    _, shoulder = _shoulder(kinematics, reach, values)
    place, turn = kinematics.place(arm, values)
    away = np.array(place) - shoulder
    if away[2] > 0.0 or float(np.hypot(away[0], away[1])) > HANGING_ERROR:
        return None
    return np.array(turn)
