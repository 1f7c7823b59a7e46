# SPDX-License-Identifier: Apache-2.0
"""Targets of the robot's chains from the recorded trackers, before any limit, and the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.limbs.limb_mapping import LimbMapping, unit_pose
from teleop_system.robots import RobotDescription
from teleop_system.session.signals.needs import chain_role
from teleop_system.solvers.chain_kinematics import ChainKinematics
from teleop_system.solvers.planning.postures import PoseSequence
from teleop_system.utils.poses import PoseTuple, heading_of

Array = NDArray[np.float64]

KINDS = ("arm", "torso")


@dataclass(frozen=True, slots=True, eq=False)
class ChainTracking:
    """Target and measured motion of one chain.

    Attributes:
        target: Target of the end effector, mapped from the person's tracker.
        measured: Measured pose of the end effector.
    """

    target: PoseSequence
    measured: PoseSequence


def chain_tracking(
    motion: MappedMotion,
    times: Sequence[float] | Array,
    measured: Array,
    *,
    robot: RobotDescription,
    joints: Sequence[str],
    begin: Mapping[str, float],
    config: ArmTeleopConfig,
) -> dict[str, ChainTracking]:
    """Return target and measured motion of every chain that follows a tracker.

    Args:
        motion: The replayed motion; targets come from its recording, not from its robot plan.
        times: Time in the motion at every tick in [s], shape (T,).
        measured: Joint positions at every tick in [rad] or [m], shape (T, N).
        robot: The robot.
        joints: Joint names in the order of `measured`.
        begin: Joint positions at the start of following in [rad] or [m].
        config: Scales of the tracker mapping.
    """
    chains = {name: chain for name, chain in robot.chains.items() if chain.kind in KINDS}
    kinematics = ChainKinematics(robot, chains, joints)
    start = [begin.get(joint, 0.0) for joint in joints]
    recorded = motion.recorded()
    poses = kinematics.along(measured)
    found = {}
    for name, chain in chains.items():
        role = chain_role(chain)
        if role is None:
            continue
        samples = [unit_pose(recorded.pose(role, time)) for time in times]
        waist = unit_pose(recorded.pose(TrackerRole.WAIST, float(times[0])))
        limb = config.limb(name, chain.kind)
        mapping = LimbMapping(
            samples[0],
            kinematics.pose(name, start),
            heading_of(waist[1]),
            scale=limb.scale,
            rotation_scale=limb.rotation_scale,
        )
        target = _course([mapping.apply(sample) for sample in samples])
        course = poses[name]
        result = PoseSequence(course["position"], course["orientation"])
        found[name] = ChainTracking(target, result)
    return found


def _course(poses: list[PoseTuple]) -> PoseSequence:
    return PoseSequence(
        np.array([pose[0] for pose in poses]), np.array([pose[1] for pose in poses])
    )
