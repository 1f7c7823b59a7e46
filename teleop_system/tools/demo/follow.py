# SPDX-License-Identifier: Apache-2.0
"""One control loop: operator's motion in, joint targets out, and the error that is left."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import IIKSolver, Pose6D, TrackerRole
from teleop_system.robots import RobotDescription
from teleop_system.simulators.frame_poses import FramePoses
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.utils.transforms import quat_distance, quat_inverse, quat_multiply

Array = NDArray[np.float64]

ROLES = {
    ("arm", "right"): TrackerRole.RIGHT_HAND,
    ("arm", "left"): TrackerRole.LEFT_HAND,
    ("arm", None): TrackerRole.RIGHT_HAND,
    ("torso", None): TrackerRole.WAIST,
}
"""The tracker that a chain follows, by the chain's kind and side."""


@dataclass(frozen=True, slots=True)
class FollowReport:
    """How well one tick followed.

    Attributes:
        time: Simulated time in [s].
        position_errors: Distance of each chain of the simulated robot from its target in [m].
        orientation_errors: Angle of each chain from its target in [rad].
        solved: Whether the solver says that every target was reached.
    """

    time: float
    position_errors: dict[str, float]
    orientation_errors: dict[str, float]
    solved: bool


class Follower:
    """Maps a tracker to an end effector: motion counts from where both were at the start."""

    def __init__(self, tracker: SimulatedTracker, start: Pose6D) -> None:
        self._tracker = tracker
        self._start = start
        anchor = tracker.pose_at(0.0)
        self._anchor = anchor.position
        self._from_anchor = quat_multiply(quat_inverse(anchor.orientation), start.orientation)

    def target_at(self, time: float) -> Pose6D:
        """Return where the end effector should be in the robot's base frame."""
        pose = self._tracker.pose_at(time)
        return Pose6D(
            self._start.position + pose.position - self._anchor,
            quat_multiply(pose.orientation, self._from_anchor),
            time,
        )


class FollowLoop:
    """Drives the arms and the torso of a simulated robot after a simulated operator.

    Attributes:
        chains: Names of the chains that follow.
        period: Time of one tick in [s].
    """

    def __init__(
        self,
        robot: RobotDescription,
        simulator: MuJoCoSimulator,
        solver: IIKSolver,
        *,
        trackers: dict[TrackerRole, SimulatedTracker],
        rate: float,
    ) -> None:
        roles = {
            chain.name: role
            for chain in robot.chains.values()
            if (role := ROLES.get((chain.kind, chain.side))) in trackers
        }
        if not roles:
            raise ConfigError(f"robot {robot.name!r} has no arm or torso that could follow")
        self.chains = list(roles)
        self.period = 1.0 / rate
        self._simulator = simulator
        self._solver = solver
        self._joints = solver.get_joint_names()
        self._command = simulator.get_state().joint_positions[
            simulator.joint_indices(self._joints)
        ]
        solver.set_posture_target(self._command)
        self._frames = {name: robot.chains[name].end_effector for name in self.chains}
        self._poses = FramePoses(simulator, _base_body(simulator), list(self._frames.values()))
        self._poses.update()
        self._followers = {
            name: Follower(trackers[roles[name]], self._poses[frame])
            for name, frame in self._frames.items()
        }

    def tick(self) -> FollowReport:
        """Command one step and advance the simulation by one period."""
        time = self._simulator.get_time() + self.period
        targets = {name: each.target_at(time) for name, each in self._followers.items()}
        result = self._solver.solve_multi(targets, self._command, self.period)
        self._command = result.joint_positions
        self._simulator.set_joint_targets(self._joints, self._command)
        self._simulator.step(self.period)
        return self._report(time, targets, result.success)

    def _report(self, time: float, targets: dict[str, Pose6D], solved: bool) -> FollowReport:
        self._poses.update()
        positions, orientations = {}, {}
        for name, target in targets.items():
            pose = self._poses[self._frames[name]]
            positions[name] = float(np.linalg.norm(pose.position - target.position))
            orientations[name] = float(quat_distance(pose.orientation, target.orientation))
        return FollowReport(time, positions, orientations, solved)


def _base_body(simulator: MuJoCoSimulator) -> str:
    """Return the root body of the first driven joint: the base that targets are relative to."""
    model = simulator.model
    joint = model.joint(simulator.get_joint_names()[0]).id
    root = int(model.body_rootid[model.jnt_bodyid[joint]])
    return str(model.body(root).name)
