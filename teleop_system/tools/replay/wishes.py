# SPDX-License-Identifier: Apache-2.0
"""Where the operator wanted the robot's hands, tick by tick, before anything limited them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.arm_teleop.chain_kinematics import ChainKinematics
from teleop_system.modules.arm_teleop.config import ArmTeleopConfig
from teleop_system.modules.arm_teleop.limb_mapping import LimbMapping
from teleop_system.modules.arm_teleop.spatial import Placement, heading_of
from teleop_system.robots import RobotDescription
from teleop_system.runtime.session.recorder import SessionRecorder
from teleop_system.runtime.signals.needs import chain_role

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Poses of an end effector in the base frame, tick by tick.

    Attributes:
        positions: In [m], shape (T, 3); NaN where there is none.
        orientations: xyzw, shape (T, 4).
    """

    positions: Array
    orientations: Array

    def pose(self, tick: int) -> Placement:
        """Return one pose as plain numbers."""
        x, y, z = self.positions[tick].tolist()
        a, b, c, d = self.orientations[tick].tolist()
        return (x, y, z), (a, b, c, d)


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """What one chain was asked for, and what it did.

    Attributes:
        wished: What the operator's tracker stands for.
        reached: Where the end effector was measured.
    """

    wished: Course
    reached: Course


def followings(
    recorder: SessionRecorder, robot: RobotDescription, config: ArmTeleopConfig
) -> dict[str, Following]:
    """Return wish and result of every chain, for the ticks in which the robot followed."""
    trace, inputs = recorder.trace.columns(), recorder.inputs.table.columns()
    ticks = np.flatnonzero(trace["following"] > 0.5)
    chains = {name: robot.chains[name] for name in recorder.chains}
    kinematics = ChainKinematics(robot, chains, recorder.joints)
    found = {}
    for name, chain in chains.items():
        role = chain_role(chain)
        if role is None or role.value not in inputs or not ticks.size:
            continue
        samples = inputs[role.value][ticks, 2:]
        waist = inputs["waist"][ticks[0], 2:] if "waist" in inputs else samples[0]
        begin = kinematics.place(name, trace["commands"][ticks[0]].tolist())
        limb = config.limb(name, chain.kind)
        mapping = LimbMapping(
            _placement(samples[0]),
            begin,
            heading_of(_placement(waist)[1]),
            scale=limb.scale,
            rotation_scale=limb.rotation_scale,
        )
        wished = _course([mapping.apply(_placement(sample)) for sample in samples])
        measured = trace["measured"][ticks]
        reached = _course([kinematics.place(name, row.tolist()) for row in measured])
        found[name] = Following(wished, reached)
    return found


def _placement(sample: Array) -> Placement:
    x, y, z, a, b, c, d = sample.tolist()
    return (x, y, z), (a, b, c, d)


def _course(poses: list[Placement]) -> Course:
    return Course(np.array([pose[0] for pose in poses]), np.array([pose[1] for pose in poses]))
