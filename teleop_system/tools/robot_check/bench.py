# SPDX-License-Identifier: Apache-2.0
"""The robot under test: its files, and what the checks compute from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots import RobotDescription
from teleop_system.robots.mjcf import MjcfModel, compile_mjcf, read_mjcf
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.robots.urdf import UrdfModel, read_urdf

Matrix = NDArray[np.float64]

UNLIMITED_TRAVEL = np.pi
"""Range to either side in [rad] in which a joint without limits is sampled."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A robot on the test bench.

    Attributes:
        robot: Its description.
        contents: Contents of its MJCF.
        urdf: Contents of its URDF, or None.
        model: The compiled MJCF.
        data: Working state of that model; every check sets the parts it uses.
        bodies: Bodies of the robot: the trees with its driven joints.
        origin: Body at the origin of solvers, or None for the world.
        seed: Seed of all random samples.
    """

    robot: RobotDescription
    contents: MjcfModel
    urdf: UrdfModel | None
    model: Any
    data: Any
    bodies: frozenset[int]
    origin: str | None
    seed: int = 0

    @classmethod
    def of(cls, robot: RobotDescription) -> "Bench":
        """Read the files of a robot.

        Raises:
            ModelError: A file is missing or broken.
        """
        model = compile_mjcf(robot.mjcf)
        contents = read_mjcf(robot.mjcf)
        urdf = read_urdf(robot.urdf) if robot.urdf else None
        bodies = _robot_bodies(contents)
        origin = _origin(contents, urdf, bodies)
        return cls(robot, contents, urdf, model, mujoco.MjData(model), bodies, origin)

    def rng(self) -> np.random.Generator:
        """Return a new generator of the same random numbers."""
        return np.random.default_rng(self.seed)

    def set_pose(self, positions: Mapping[str, float]) -> None:
        """Set joint positions with the base at the origin, and update the kinematics."""
        self.data.qpos[:] = self.model.qpos0
        for index in range(self.model.njnt):
            start = self.model.jnt_qposadr[index]
            if self.contents.joints[index].kind == "free":
                self.data.qpos[start : start + 7] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
        for name, position in positions.items():
            self.data.qpos[self.model.joint(name).qposadr[0]] = position
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def pose(self, frame: str, data: Any = None) -> Matrix:
        """Return the pose of a body or site in the world, from `data` or the working state."""
        state = self.data if data is None else data
        is_site = frame in self.contents.sites and frame not in self.contents.body_names()
        item = state.site(frame) if is_site else state.body(frame)
        matrix = np.eye(4)
        matrix[:3, :3] = item.xmat.reshape(3, 3)
        matrix[:3, 3] = item.xpos
        return matrix

    def base_pose(self, data: Any = None) -> Matrix:
        """Return the pose of the origin of solvers, from `data` or from the working state."""
        return np.eye(4) if self.origin is None else self.pose(self.origin, data)

    def end_effectors(self, positions: Mapping[str, float]) -> dict[str, Matrix]:
        """Return the end effector of every chain in the base frame, for joint positions."""
        self.set_pose(positions)
        to_base = np.linalg.inv(self.base_pose())
        chains = self.robot.chains.values()
        return {chain.name: to_base @ self.pose(chain.end_effector) for chain in chains}

    def sample(self, joints: Iterable[str], count: int) -> dict[str, NDArray[np.float64]]:
        """Return random positions within the limits of the model, each shape (count,)."""
        rng = self.rng()
        samples = {}
        for name in joints:
            joint = self.contents.joint(name)
            assert joint is not None
            lower = max(joint.lower, -UNLIMITED_TRAVEL)
            upper = min(joint.upper, UNLIMITED_TRAVEL)
            samples[name] = rng.uniform(lower, upper, count)
        return samples


def _robot_bodies(contents: MjcfModel) -> frozenset[int]:
    driven = [joint.body for joint in contents.joints if joint.name in contents.driven]
    roots = {list(contents.ancestors(body))[-2] for body in driven}
    return frozenset(body for root in roots for body in contents.subtree(root))


def _origin(contents: MjcfModel, urdf: UrdfModel | None, own: frozenset[int]) -> str | None:
    """Return the URDF's root, or else the body of a free base."""
    if urdf is not None and urdf.root in contents.body_names():
        return urdf.root
    free = [joint.body for joint in contents.joints if joint.kind == "free" and joint.body in own]
    return (contents.bodies[free[0]].name or None) if free else None


def angles_between(first: Matrix, second: Matrix) -> NDArray[np.float64]:
    """Return the angles in [rad] between the orientations of poses, shape (..., 4, 4)."""
    difference = np.swapaxes(first[..., :3, :3], -1, -2) @ second[..., :3, :3]
    skew = difference - np.swapaxes(difference, -1, -2)
    # The sine is exact where the angle is small, the cosine where it is large.
    sine = 0.5 * np.linalg.norm(skew[..., (2, 0, 1), (1, 2, 0)], axis=-1)
    cosine = 0.5 * (np.trace(difference, axis1=-2, axis2=-1) - 1.0)
    return np.asarray(np.arctan2(sine, cosine))
