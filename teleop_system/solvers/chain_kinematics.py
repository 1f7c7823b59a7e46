# SPDX-License-Identifier: Apache-2.0
"""Poses and reach of a robot's end effectors, without a library of kinematics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.robots.description import Chain, RobotDescription
from teleop_system.robots.urdf import read_urdf
from teleop_system.solvers.model_trees import mjcf_tree, urdf_tree
from teleop_system.utils.poses import PoseTuple, compose, inverse
from teleop_system.utils.quaternion_kernels import Vector

Array = NDArray[np.float64]
Records = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Reach:
    """The sphere that an end effector cannot leave.

    Attributes:
        centre: Its centre in [m], in the frame of the chain `carrier`, or of the base if None.
        radius: Length of the stretched chain in [m].
        carrier: Chain that carries this one, or None.
    """

    centre: Vector
    radius: float
    carrier: str | None = None


class ChainKinematics:
    """Forward kinematics of the chains of a robot.

    Args:
        robot: The robot.
        chains: The chains, by name.
        joints: Joints in the order of every joint vector; all others stay at the initial pose.

    Raises:
        ModelError: The model file cannot be read.
        UnknownNameError: It has no such end effector.
    """

    def __init__(
        self, robot: RobotDescription, chains: Mapping[str, Chain], joints: Sequence[str]
    ) -> None:
        self._robot, self._chains = robot, dict(chains)
        self._joints = set(joints)
        self._index = {name: index for index, name in enumerate(self._chains)}
        tools = [chain.end_effector for chain in chains.values()]
        initial = robot.poses.get(robot.initial_pose, {}) if robot.poses else {}
        if robot.urdf:
            model = read_urdf(robot.urdf)
            self._tree, self._names = urdf_tree(model, tools, joints, initial)
        else:
            self._tree, self._names = mjcf_tree(robot.mjcf, tools, joints, initial)
        self._initial = [float(initial.get(name, 0.0)) for name in joints]

    def pose(self, chain: str, positions: ArrayLike) -> PoseTuple:
        """Return the pose of a chain's end effector at joint positions [rad] or [m]."""
        return self._tree.poses(positions)[self._index[chain]]

    def poses(self, positions: ArrayLike) -> dict[str, PoseTuple]:
        """Return the poses of all end effectors at joint positions [rad] or [m]."""
        return dict(zip(self._chains, self._tree.poses(positions), strict=True))

    def positions(self, positions: ArrayLike) -> dict[str, list[float]]:
        """Return where the end effectors of all chains are in [m] at joint positions."""
        self._tree.update(positions)
        return dict(zip(self._chains, self._tree.frames["position"].tolist(), strict=True))

    def along(self, motion: Array) -> dict[str, Records]:
        """Return the poses of all end effectors along a motion [rad] or [m], shape (T, N).

        Each value holds `POSE` records, shape (T,).
        """
        frames = self._tree.along(motion)
        return {name: frames[:, index] for name, index in self._index.items()}

    def reach(self, chain: str) -> Reach | None:
        """Return the sphere that a chain's end effector cannot leave; None if it is unknown."""
        tree, own = self._tree, self._joints.intersection(self._chains[chain].joints)
        path = self._path(chain)
        first = next((i for i, name in enumerate(path.values()) if name in own), len(path))
        numbers = list(path)
        carried = [name for name in list(path.values())[:first] if name in self._joints]
        attached = tree.attached[self._index[chain]]
        pieces = [*tree.joints["position"][numbers[first + 1 :]]]
        if first < len(path):
            pieces.append(attached["position"])
        radius = sum(float(np.linalg.norm(piece)) for piece in pieces)
        radius += sum(self._stroke(number) for number in numbers[first:])
        centre = self.pose(chain, self._initial)[0]
        if first < len(path):
            joint = tree.joints[numbers[first]]
            link = tree.links[joint["parent"]]
            x, y, z = (link["rotation"] @ joint["position"] + link["position"]).tolist()
            centre = (x, y, z)
        if not carried:
            return Reach(centre, radius)
        for name in self._chains:
            moving = [joint for joint in self._path(name).values() if joint in self._joints]
            if name != chain and moving == carried:
                # Both are fixed to the last of these joints, whatever its position.
                carrier = inverse(self.pose(name, self._initial))
                return Reach(compose(carrier, (centre, (0.0, 0.0, 0.0, 1.0)))[0], radius, name)
        return None

    def _path(self, chain: str) -> dict[int, str]:
        """Return the joints from the root to a chain's end effector: index in the tree, name."""
        frame = self._tree.attached[self._index[chain]]
        ancestors = self._tree.ancestors(int(frame["joint"]))
        return {number: self._names[self._tree.joints[number]["column"]] for number in ancestors}

    def _stroke(self, number: int) -> float:
        """Return how far a sliding joint can lengthen its chain in [m]."""
        joint = self._tree.joints[number]
        limits = self._robot.joints.get(self._names[joint["column"]])
        if not joint["slides"] or limits is None:
            return 0.0
        return max(abs(limits.lower), abs(limits.upper))
