# SPDX-License-Identifier: Apache-2.0
"""Which topic commands which part of a robot."""

from collections.abc import Iterable

from teleop_system.robots import RobotDescription
from teleop_system.safety.parts import HEAD
from teleop_system.utils.ros2_helpers import TopicNames

COMMAND, TRAJECTORY = "joint_cmd", "joint_trajectory"


def command_topics(robot: RobotDescription, parts: Iterable[str]) -> dict[str, str]:
    """Return the command topic of every part, without prefix.

    Parts without a fixed name, such as a third arm, get `/slave/PART/joint_cmd`.
    """
    named: dict[str, str] = {HEAD: TopicNames.CAMERA_PAN_TILT_CMD}
    for chain in robot.chains.values():
        if chain.kind == "arm" and chain.side in ("left", "right"):
            named.setdefault(chain.name, TopicNames.arm_command(chain.side))
        elif chain.kind == "torso":
            named[chain.name] = TopicNames.TORSO_CMD
    for hand in robot.hands.values():
        if hand.side in ("left", "right"):
            named[f"{hand.name}_hand"] = TopicNames.hand_command(hand.side)
    found: dict[str, str] = {}
    for part in parts:
        topic = named.get(part, f"/slave/{part}/{COMMAND}")
        # Two arms of one side, or two torsos, cannot share a topic.
        found[part] = f"/slave/{part}/{COMMAND}" if topic in found.values() else topic
    return found


def trajectory_topics(robot: RobotDescription, parts: Iterable[str]) -> dict[str, str]:
    """Return the trajectory topic of every arm and torso, without prefix."""
    limbs = {chain.name for chain in robot.chains.values() if chain.kind in ("arm", "torso")}
    return {
        part: topic.removesuffix(COMMAND) + TRAJECTORY
        for part, topic in command_topics(robot, parts).items()
        if part in limbs
    }
