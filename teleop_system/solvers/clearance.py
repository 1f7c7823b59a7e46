# SPDX-License-Identifier: Apache-2.0
"""How far links of a robot are from each other, and where its hands are, at any posture.

`SelfCollision` keeps the IK's steps apart; this class only measures, for whoever has to judge a
posture that did not come from the IK.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_system.robots.description import RobotDescription
from teleop_system.solvers.chain_config import ChainConfig
from teleop_system.solvers.kinematics import KinematicModel
from teleop_system.solvers.link_shapes import LinkShapes
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.shape_pairs import ShapePairs

Array = NDArray[np.float64]


class Clearance:
    """The distances of all pairs of links that a robot must keep apart.

    Args:
        robot: The robot with its pairs.
        joints: Joints that can move, in the order of every joint vector; all others stay where
            the initial pose has them.

    Attributes:
        count: Number of pairs of shapes P.
        links: Names of the two links of every pair of shapes.
        reach: Largest change of each distance [m] per change of each joint [rad], shape (P, N).

    Raises:
        ModelError: The robot's model cannot be loaded.
        UnknownNameError: A link or joint is not in it.
    """

    def __init__(self, robot: RobotDescription, joints: Sequence[str]) -> None:
        self._kinematics = kinematics = _kinematics(robot, joints)
        shapes = ShapePairs(kinematics, robot.collision_pairs)
        self._model = kinematics.model
        self._geometry = shapes.geometry
        self._data = self._model.createData()
        columns = np.argsort(kinematics.external_order)
        self._shapes = LinkShapes(kinematics, self._geometry, columns)
        objects, frames = self._geometry.geometryObjects, self._model.frames
        self.links: tuple[tuple[str, str], ...] = tuple(
            (
                frames[objects[pair.first].parentFrame].name,
                frames[objects[pair.second].parentFrame].name,
            )
            for pair in self._geometry.collisionPairs
        )
        self.count = len(self.links)
        self.reach: Array = np.ascontiguousarray(shapes.reach[:, kinematics.external_order])
        self._frame_of: Mapping[str, int] = dict(zip(robot.chains, kinematics.frames, strict=True))

    @property
    def tables(self) -> tuple[Any, ...]:
        """What `link_kernels.find_contacts` knows of the links; see `LinkShapes.tables`."""
        return self._shapes.tables

    def all(self, joints: Array) -> Array:
        """Return the distances [m] of all pairs at a posture [rad], shape (P,)."""
        return self.some(np.arange(self.count), joints)

    def some(self, pairs: NDArray[np.int64], joints: Array) -> Array:
        """Return the distances [m] of some pairs, shape (K,), at a posture [rad]."""
        # Kernels take vectors that are in one piece.
        return np.ascontiguousarray(self._shapes.contacts(pairs, joints)[:, 0])

    def one(self, pair: int, joints: Array) -> float:
        """Return the distance [m] of one pair at a posture [rad]."""
        return float(self.some(np.array([pair]), joints)[0])

    def end_effector(self, chain: str, joints: Array) -> Array:
        """Return the position [m] of a chain's end effector in the root link's frame, (3,)."""
        pin.forwardKinematics(self._model, self._data, self._configuration(joints))
        frame = self._frame_of[chain]
        placement = pin.updateFramePlacement(self._model, self._data, frame)
        return np.array(placement.translation)

    def moves(self, chain: str) -> NDArray[np.bool_]:
        """Return whether each joint moves a chain's end effector, shape (N,)."""
        joint = self._model.frames[self._frame_of[chain]].parentJoint
        moved: NDArray[np.bool_] = self._kinematics.support(joint) > 0.0
        return moved[self._kinematics.external_order]

    def _configuration(self, joints: Array) -> Array:
        return self._kinematics.configuration(self._kinematics.to_internal(joints))


def _kinematics(robot: RobotDescription, joints: Sequence[str]) -> KinematicModel:
    options = SolverOptions(
        chains={name: ChainConfig(chain.end_effector) for name, chain in robot.chains.items()},
        joint_names=tuple(joints),
        reference_posture=dict(robot.pose(robot.initial_pose)),
        collision_pairs=robot.collision_pairs,
    )
    return KinematicModel(robot.urdf or robot.mjcf, options)
