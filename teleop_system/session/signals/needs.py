# SPDX-License-Identifier: Apache-2.0
"""The signals that each controller needs, for a given robot."""

from collections.abc import Collection, Iterator

from teleop_system.interfaces import TrackerRole
from teleop_system.modules import MODULES
from teleop_system.robots import Chain, RobotDescription
from teleop_system.session.signals.plan import Need


def chain_role(chain: Chain) -> TrackerRole | None:
    """Return the tracker that a chain of the robot follows, or None.

    A single arm without a side follows the right hand.
    """
    if chain.kind == "torso":
        return TrackerRole.WAIST
    if chain.kind != "arm":
        return None
    return TrackerRole.LEFT_HAND if chain.side == "left" else TrackerRole.RIGHT_HAND


def signal_needs(
    robot: RobotDescription, modules: Collection[str], *, finger_tips: bool = False
) -> tuple[Need, ...]:
    """Return the signals that the chosen controllers need for the parts of the robot.

    Args:
        robot: The robot.
        modules: Some of `MODULES`.
        finger_tips: Whether hands are retargeted by fingertip positions.
    """
    needs = {
        "arm": _arm_needs(robot),
        "hand": _hand_needs(robot, finger_tips),
        "locomotion": _locomotion_needs(robot),
        "camera": _camera_needs(robot),
    }
    return tuple(need for module in MODULES if module in modules for need in needs[module])


def _arm_needs(robot: RobotDescription) -> Iterator[Need]:
    for chain in robot.chains.values():
        role = chain_role(chain)
        if role is not None:
            # Without a waist tracker the torso keeps its posture and helps the hands.
            required = role is not TrackerRole.WAIST
            yield Need("arm", role.value, required, f"moves {chain.name}")


def _hand_needs(robot: RobotDescription, finger_tips: bool) -> Iterator[Need]:
    kind = "tips" if finger_tips else "fingers"
    for hand in robot.hands.values():
        if hand.side is not None:
            yield Need("hand", f"{hand.side}_{kind}", True, f"moves the {hand.side} {hand.kind}")


def _locomotion_needs(robot: RobotDescription) -> Iterator[Need]:
    if robot.base is not None and robot.base.kind == "differential":
        for foot in (TrackerRole.LEFT_FOOT, TrackerRole.RIGHT_FOOT):
            yield Need("locomotion", foot.value, True, "drives the base")
        yield Need("locomotion", TrackerRole.WAIST.value, False, "separates leaning from walking")


def _camera_needs(robot: RobotDescription) -> Iterator[Need]:
    if robot.head is not None and robot.head.joints:
        yield Need("camera", TrackerRole.HEAD.value, True, "turns the head")
