# SPDX-License-Identifier: Apache-2.0
"""The motion that comes nearest to targets which are known in advance.

No controller that learns of a target only when it is due can do better: this motion prepares for
what comes next, and cuts a corner that it cannot follow in time. It keeps the limits of the
robot's description on positions, speeds, accelerations and jerks.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots.description import RobotDescription
from teleop_system.solvers.factory import solver_options
from teleop_system.solvers.kinematics import KinematicModel
from teleop_system.solvers.options import ChainWeights, SolverOptions
from teleop_system.solvers.planning.limited_motion import MotionLimits, limited_motion
from teleop_system.solvers.planning.postures import PoseSequence
from teleop_system.utils.transforms import (
    quat_inverse,
    quat_log,
    quat_multiply,
)

Array = NDArray[np.float64]

ROUNDS = 3
"""Number of times that targets are linearised about the last motion."""
STAY = 3e-3
"""Price in [1/rad^2] of leaving the postures, and of leaving the motion of the last round."""
BEGIN = 1e3
"""Price in [1/rad^2] of a start at another posture, or in motion."""
RESTING = 3
"""Samples at the beginning in which the robot rests."""


class MotionPlanner:
    """Plans motions of a robot's arms and torso.

    Args:
        robot: The robot.
        weights: Weights of its end effectors, by name or by kind of chain.

    Attributes:
        joints: The joints, in the order of every joint vector.
        limits: The limits of the robot's description.
    """

    def __init__(
        self, robot: RobotDescription, weights: Mapping[str, ChainWeights] | None = None
    ) -> None:
        options = SolverOptions.from_keywords(solver_options(robot, weights or {}))
        self._kinematics = KinematicModel(str(robot.urdf or robot.mjcf), options)
        self._tree = self._kinematics.tree()
        self._chains = options.chains
        self._masks = self._tree.frame_masks()[:, self._kinematics.external_order]
        self.joints = tuple(self._kinematics.joint_names)
        found = [robot.limits(joint) for joint in self.joints]
        self.limits = MotionLimits(
            *(
                np.array([getattr(limit, name) for limit in found])
                for name in ("lower", "upper", "velocity", "acceleration", "jerk")
            )
        )

    def plan(self, postures: Array, step: float, limits: MotionLimits | None = None) -> Array:
        """Return the joint motion whose end effectors are nearest to those of postures.

        Args:
            postures: Desired postures, without limits on speed, in [rad], shape (T, N).
            step: Time between two samples in [s].
            limits: Limits to keep; None for those of the description.
        """
        if len(postures) <= RESTING:
            return postures.copy()
        limits = limits or self.limits
        targets = self.end_effectors(postures)
        size = postures.shape[1]
        motion = postures
        for _ in range(ROUNDS):
            prices, pulls = self._linearised(motion, targets)
            prices += 2.0 * STAY * np.eye(size)
            pulls += STAY * (postures + motion)
            prices[:RESTING] += BEGIN * np.eye(size)
            pulls[:RESTING] += BEGIN * postures[0]
            motion = limited_motion(prices, pulls, postures[0], limits, step)
        return motion

    def end_effectors(self, motion: Array) -> dict[str, PoseSequence]:
        """Return the poses of the end effectors in the base frame, by chain."""
        frames = self._tree.along(motion[:, np.argsort(self._kinematics.external_order)])
        return {
            name: PoseSequence(frames["position"][:, n], frames["orientation"][:, n])
            for n, name in enumerate(self._chains)
        }

    def _linearised(
        self, motion: Array, targets: Mapping[str, PoseSequence]
    ) -> tuple[Array, Array]:
        """Return matrices and vectors of the weighted distances to targets about a motion."""
        count, size = motion.shape
        prices, pulls = np.zeros((count, size, size)), np.zeros((count, size))
        jacobians = np.empty((count, 6, size))
        order = self._kinematics.external_order
        poses = self.end_effectors(motion)
        for sample, joints in enumerate(motion):
            self._tree.update(self._kinematics.to_internal(joints))
            jacobians[sample] = self._tree.jacobian[:, order]
        for (name, config), mask in zip(self._chains.items(), self._masks, strict=True):
            pose, target = poses[name], targets[name]
            rotations = quat_multiply(target.orientations, quat_inverse(pose.orientations))
            error = np.concatenate(
                [target.positions - pose.positions, quat_log(rotations)], axis=1
            )
            angular = jacobians[:, 3:] * mask
            # Velocity at p is that at the origin plus the cross product of ω and p.
            linear = jacobians[:, :3] * mask + np.cross(
                angular, pose.positions[:, :, None], axis=1
            )
            weights = np.repeat([config.position_weight, config.orientation_weight], 3)
            rows = np.concatenate([linear, angular], axis=1) * weights[:, None]
            goal = weights * error + np.einsum("tij,tj->ti", rows, motion)
            prices += np.einsum("tki,tkj->tij", rows, rows)
            pulls += np.einsum("tki,tk->ti", rows, goal)
        return prices, pulls
