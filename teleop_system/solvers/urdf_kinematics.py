# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of a URDF with NumPy alone, for solvers that do without Pinocchio."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, ModelError, UnknownNameError
from teleop_system.robots.urdf import UrdfJoint, UrdfModel, read_urdf
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import LimitsByName, SolverOptions
from teleop_system.utils.euler import euler_to_quat
from teleop_system.utils.quaternions import quat_exp, quat_multiply, quat_rotate, quat_to_matrix

Array = NDArray[np.float64]

DEFAULT_VELOCITY = math.pi
DEFAULT_ACCELERATION = 10.0


class UrdfKinematics:
    """A URDF reduced to the joints that a solver moves; names and order as `KinematicModel`.

    Attributes:
        joint_names: Joints in the order of every joint vector.
        external_order: The identity, for there is only one order here.
        limits: Limits of the joints.
        posture: The reference posture of the joints.
        paths: For each chain the joints of the file from the root to its frame.
        reference: Positions of the joints that are not moved, by name.
    """

    def __init__(self, path: str, options: SolverOptions) -> None:
        file = Path(path)
        if file.suffix == ".xml":
            raise ModelError("this solver reads URDF files only", file)
        model = read_urdf(file)
        if not options.chains:
            raise ConfigError("a solver needs at least one chain; `chains` is empty")
        self.reference = dict(options.reference_posture)
        self.paths = [_path(model, config.ee_frame) for config in options.chains.values()]
        along = dict.fromkeys(
            joint.name for way in self.paths for joint in way if joint.name in model.moving_joints
        )
        self.joint_names = list(options.joint_names or along)
        for name in (*self.joint_names, *self.reference):
            if name not in model.moving_joints:
                raise UnknownNameError("joint", name, model.moving_joints)
        self.external_order = np.arange(len(self.joint_names))
        joints = [model.joints[name] for name in self.joint_names]
        self.limits = _limits(joints, options)
        posture = [self.reference.get(name, 0.0) for name in self.joint_names]
        self.posture = np.clip(posture, self.limits.lower, self.limits.upper)

    def to_internal(self, joints: Array) -> Array:
        """Return a joint vector of the caller in internal order, which is the same."""
        return joints

    def chain_masks(self) -> Array:
        """Return 1 where a joint moves a chain's frame, 0 elsewhere, shape (chains, N)."""
        names = [{joint.name for joint in way} for way in self.paths]
        return np.array([[float(name in way) for name in self.joint_names] for way in names])

    def place(self, joints: Array) -> list[tuple[Array, Array]]:
        """Return position [m] and quaternion xyzw of every chain's frame."""
        positions = self.reference | dict(zip(self.joint_names, joints.tolist(), strict=True))
        return [_follow(way, positions) for way in self.paths]


class UrdfState:
    """The frames of the chains at one posture.

    Attributes:
        frames: Rotation, row by row, and position of every chain's frame, shape (chains, 12).
        placements: Position (3,) and rotation (3, 3) of every chain's frame; follow `update()`.
    """

    def __init__(self, kinematics: UrdfKinematics) -> None:
        self._kinematics = kinematics
        self.frames = np.zeros((len(kinematics.paths), 12))
        self.placements = [(frame[9:], frame[:9].reshape(3, 3)) for frame in self.frames]

    def update(self, joints: Array) -> None:
        """Compute everything for joint positions [rad], shape (N,)."""
        placed = self._kinematics.place(joints)
        for (position, rotation), (new, quaternion) in zip(self.placements, placed, strict=True):
            position[:] = new
            rotation[:] = quat_to_matrix(quaternion)


def _path(model: UrdfModel, link: str) -> list[UrdfJoint]:
    if link not in model.masses:
        raise UnknownNameError("frame", link, model.masses)
    above = {joint.child: joint for joint in model.joints.values()}
    path = []
    while link in above:
        path.append(above[link])
        link = above[link].parent
    return path[::-1]


def _follow(path: list[UrdfJoint], positions: Mapping[str, float]) -> tuple[Array, Array]:
    place, turn = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    for joint in path:
        place = place + quat_rotate(turn, np.array(joint.xyz))
        turn = quat_multiply(turn, euler_to_quat(*joint.rpy))
        moved = np.array(joint.axis) * positions.get(joint.name, 0.0)
        if joint.kind in ("revolute", "continuous"):
            turn = quat_multiply(turn, quat_exp(moved))
        elif joint.kind == "prismatic":
            place = place + quat_rotate(turn, moved)
    return place, turn


def _limits(joints: list[UrdfJoint], options: SolverOptions) -> JointLimitArrays:
    ranges = [
        options.position_limits.get(joint.name, (joint.lower, joint.upper)) for joint in joints
    ]
    lower, upper = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    velocity = [
        _limit(options.velocity_limits, joint.name, joint.velocity or DEFAULT_VELOCITY)
        for joint in joints
    ]
    acceleration = [
        _limit(options.acceleration_limits, joint.name, DEFAULT_ACCELERATION) for joint in joints
    ]
    return JointLimitArrays(lower, upper, np.array(velocity), np.array(acceleration))


def _limit(given: LimitsByName, name: str, default: float) -> float:
    return float(given.get(name, default) if isinstance(given, Mapping) else given)
