# SPDX-License-Identifier: Apache-2.0
"""The motion that comes nearest to targets which are known in advance.

Nobody who learns of a target only when it is due can do better: this motion swings back before it
has to, and cuts a corner that it cannot go round in time. It goes by the limits of the robot's
description on positions, speeds, accelerations and jerks.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots.description import RobotDescription
from teleop_system.solvers.factory import ChainWeights, solver_options
from teleop_system.solvers.kinematics import KinematicModel, KinematicState
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.planning.limited_motion import MotionLimits, limited_motion
from teleop_system.solvers.planning.slow_motion import Course
from teleop_system.utils.transforms import (
    quat_from_matrix,
    quat_inverse,
    quat_log,
    quat_multiply,
)

Array = NDArray[np.float64]

ROUNDS = 3
"""How often targets are linearised about the motion found last."""
STAY = 3e-3
"""Price in [1/rad^2] of leaving the postures, and of leaving the motion of the last round."""
BEGIN = 1e3
"""Price in [1/rad^2] of beginning elsewhere, or in motion."""
RESTING = 3
"""Moments at the beginning in which the robot rests."""


class MotionPlanner:
    """Plans motions of a robot's arms and torso.

    Args:
        robot: The robot.
        weights: What its end effectors count, by name or by kind of chain.

    Attributes:
        joints: The joints, in the order of every joint vector.
        limits: Those of the robot's description.
    """

    def __init__(
        self, robot: RobotDescription, weights: Mapping[str, ChainWeights] | None = None
    ) -> None:
        options = SolverOptions.from_keywords(solver_options(robot, weights or {}))
        self._kinematics = KinematicModel(str(robot.urdf or robot.mjcf), options)
        self._state = KinematicState(self._kinematics)
        self._chains = options.chains
        self._masks = self._kinematics.chain_masks()[:, self._kinematics.external_order]
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
            postures: What the robot should do, limits on time left aside, in [rad], shape (T, N).
            step: Time from one moment to the next in [s].
            limits: What to keep within; None for those of the description.
        """
        if len(postures) <= RESTING:
            return postures.copy()
        limits = limits or self.limits
        targets = self.places(postures)
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

    def places(self, motion: Array) -> dict[str, Course]:
        """Return where the end effectors are in the base frame, by chain."""
        count = len(motion)
        found = {name: (np.empty((count, 3)), np.empty((count, 3, 3))) for name in self._chains}
        for moment, joints in enumerate(motion):
            self._state.update(self._kinematics.to_internal(joints))
            for (place, turn), seen in zip(found.values(), self._state.placements, strict=True):
                place[moment], turn[moment] = seen
        return {
            name: Course(place, quat_from_matrix(turn)) for name, (place, turn) in found.items()
        }

    def _linearised(self, motion: Array, targets: Mapping[str, Course]) -> tuple[Array, Array]:
        """Return matrices and vectors of the weighted distances to targets about a motion."""
        count, size = motion.shape
        prices, pulls = np.zeros((count, size, size)), np.zeros((count, size))
        jacobians = np.empty((count, 6, size))
        order = self._kinematics.external_order
        places = self.places(motion)
        for moment, joints in enumerate(motion):
            self._state.update(self._kinematics.to_internal(joints))
            jacobians[moment] = self._state.jacobian[:, order]
        for (name, config), mask in zip(self._chains.items(), self._masks, strict=True):
            place, target = places[name], targets[name]
            turns = quat_multiply(target.orientations, quat_inverse(place.orientations))
            away = np.concatenate([target.positions - place.positions, quat_log(turns)], axis=1)
            angular = jacobians[:, 3:] * mask
            # Velocity at p is that at the origin plus the cross product of ω and p.
            linear = jacobians[:, :3] * mask + np.cross(
                angular, place.positions[:, :, None], axis=1
            )
            weights = np.repeat([config.position_weight, config.orientation_weight], 3)
            rows = np.concatenate([linear, angular], axis=1) * weights[:, None]
            wanted = weights * away + np.einsum("tij,tj->ti", rows, motion)
            prices += np.einsum("tki,tkj->tij", rows, rows)
            pulls += np.einsum("tki,tk->ti", rows, wanted)
        return prices, pulls
