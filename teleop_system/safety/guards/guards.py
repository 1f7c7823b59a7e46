# SPDX-License-Identifier: Apache-2.0
"""The rules that depend on where links are: workspace first, then self-collision."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import MissingExtraError, UnknownNameError
from teleop_system.robots.description import RobotDescription
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.motion.limits import MotionLimits
from teleop_system.safety.motion.state import MotionState
from teleop_system.safety.motion.step import Step
from teleop_system.safety.parts import RobotParts


class Guards:
    """The guards that a robot needs; without any, no kinematics is loaded.

    Args:
        robot: The robot.
        parts: Its parts.
        limits: Limits of the joints.
        config: Distances and boxes.
    """

    def __init__(
        self,
        robot: RobotDescription,
        parts: RobotParts,
        limits: MotionLimits,
        config: SafetyConfig,
    ) -> None:
        for chain in config.workspace:
            if chain not in robot.chains:
                raise UnknownNameError("chain (in safety.workspace)", chain, robot.chains)
        self._workspace = self._collision = None
        if not (robot.collision_pairs or config.workspace):
            return
        try:
            from teleop_system.safety.guards.collision import CollisionGuard
            from teleop_system.safety.guards.workspace import WorkspaceGuard
            from teleop_system.solvers.robot_geometry import RobotGeometry
        except ImportError as error:
            raise MissingExtraError("pin", "ik") from error
        geometry = RobotGeometry(robot, parts.joints)
        if config.workspace:
            self._workspace = WorkspaceGuard(geometry, parts, config.workspace)
        if geometry.distances.count:
            self._collision = CollisionGuard(geometry.distances, parts, limits, config.collision)

    def reset(self, positions: NDArray[np.float64]) -> None:
        """Start anew from rest at joint positions [rad]."""
        if self._collision is not None:
            self._collision.reset(positions)

    def limit(self, step: Step, wanted: MotionState, log: CauseLog) -> MotionState:
        """Return the wanted motion, slowed where it would leave a box or bring links too close."""
        if self._workspace is not None:
            wanted = self._workspace.limit(step, wanted, log)
        # Last, so that the motion it has checked is the one that is commanded.
        if self._collision is not None:
            wanted = self._collision.limit(step, wanted, log)
        return wanted
