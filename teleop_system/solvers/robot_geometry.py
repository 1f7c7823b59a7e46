# SPDX-License-Identifier: Apache-2.0
"""Distances of links and positions of end effectors of a robot, for any posture."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots.description import RobotDescription
from teleop_system.solvers.chain_config import ChainConfig
from teleop_system.solvers.kinematics import KinematicModel, link_tree
from teleop_system.solvers.link_distances import LinkDistances
from teleop_system.solvers.options import SolverOptions

Array = NDArray[np.float64]


class RobotGeometry:
    """The geometry of a robot that safety rules need.

    Args:
        robot: The robot with its pairs.
        joints: Joints that can move, in the order of every joint vector; all others stay at the
            initial pose.

    Attributes:
        distances: The distances of all pairs of links that must be kept apart.

    Raises:
        ModelError: The robot's model cannot be loaded.
        UnknownNameError: A link or joint is not in it.
    """

    def __init__(self, robot: RobotDescription, joints: Sequence[str]) -> None:
        options = SolverOptions(
            chains={name: ChainConfig(chain.end_effector) for name, chain in robot.chains.items()},
            joint_names=tuple(joints),
            reference_posture=dict(robot.pose(robot.initial_pose)),
        )
        kinematics = KinematicModel(robot.urdf or robot.mjcf, options)
        columns = np.argsort(kinematics.external_order)
        self.distances = LinkDistances(kinematics, robot.collision_pairs, columns)
        self._tree = link_tree(kinematics.model, columns, kinematics.frames)
        self._chains = tuple(robot.chains)

    def end_effector(self, chain: str, joints: Array) -> Array:
        """Return the position [m] of a chain's end effector in the root link's frame, (3,)."""
        self._tree.update(joints)
        return np.array(self._tree.frames["position"][self._chains.index(chain)])

    def moves(self, chain: str) -> NDArray[np.bool_]:
        """Return whether each joint moves a chain's end effector, shape (N,)."""
        attached = self._tree.attached[self._chains.index(chain)]
        return self._tree.moves(int(attached["joint"]))
