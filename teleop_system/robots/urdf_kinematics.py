# SPDX-License-Identifier: Apache-2.0
"""Textbook forward kinematics of a URDF, to check models and other kinematics against.

It shares no code with `solvers.link_tree`, which drives the robot: `teleop check` and the tests
compare independent results.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.robots.urdf import Triple, UrdfJoint, UrdfModel

Transforms = NDArray[np.float64]


def link_poses(urdf: UrdfModel, positions: Mapping[str, ArrayLike]) -> dict[str, Transforms]:
    """Return the pose of every link in the root link, for many configurations at once.

    Args:
        urdf: The model.
        positions: Joint positions in [rad] or [m] by name, each shape (N,) or a number; joints
            that are not named are at zero.

    Returns:
        Homogeneous matrices by link name, each shape (N, 4, 4).
    """
    values = {name: np.atleast_1d(np.asarray(q, np.float64)) for name, q in positions.items()}
    count = max((value.size for value in values.values()), default=1)
    poses = {urdf.root: np.broadcast_to(np.eye(4), (count, 4, 4))}
    waiting = list(urdf.joints.values())
    while waiting:
        ready = [joint for joint in waiting if joint.parent in poses]
        if not ready:
            break  # Links in a loop have no root; the reader rejects most such files.
        for joint in ready:
            position = _position(joint, values, count)
            poses[joint.child] = poses[joint.parent] @ _origin(joint) @ _motion(joint, position)
        waiting = [joint for joint in waiting if joint.child not in poses]
    return poses


def _position(
    joint: UrdfJoint, values: Mapping[str, NDArray[np.float64]], count: int
) -> NDArray[np.float64]:
    zero = np.zeros(count)
    if joint.mimics is not None:
        return np.asarray(joint.multiplier * values.get(joint.mimics, zero) + joint.offset)
    return np.broadcast_to(values.get(joint.name, zero), (count,))


def _origin(joint: UrdfJoint) -> Transforms:
    roll, pitch, yaw = joint.rpy
    axes: tuple[Triple, Triple, Triple] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    about_x, about_y, about_z = (
        _rotation(axis, np.array([angle]))[0]
        for axis, angle in zip(axes, (roll, pitch, yaw), strict=True)
    )
    pose = np.eye(4)
    pose[:3, :3] = about_z @ about_y @ about_x
    pose[:3, 3] = joint.xyz
    return pose


def _motion(joint: UrdfJoint, position: NDArray[np.float64]) -> Transforms:
    pose = np.tile(np.eye(4), (position.size, 1, 1))
    if joint.kind == "prismatic":
        pose[:, :3, 3] = position[:, None] * np.asarray(joint.axis)
    elif joint.kind in ("revolute", "continuous"):
        pose[:, :3, :3] = _rotation(joint.axis, position)
    return pose


def _rotation(axis: Triple, angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Rodrigues' rotation about an axis, shape (N, 3, 3)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, versine = np.sin(angle)[:, None, None], 1.0 - np.cos(angle)[:, None, None]
    return np.asarray(np.eye(3) + sine * skew + versine * (skew @ skew))
