# SPDX-License-Identifier: Apache-2.0
"""Rigid transforms as homogeneous matrices."""

from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils._arrays import (
    Array,
    as_matrices,
    as_vectors,
)
from teleop_system.utils.quaternions import (
    quat_from_matrix,
    quat_to_matrix,
)


class PoseLike(Protocol):
    """Anything with a position [m] and an orientation xyzw, such as `Pose6D`."""

    @property
    def position(self) -> Array:
        """Translation in [m]."""
        ...

    @property
    def orientation(self) -> Array:
        """Quaternion xyzw."""
        ...


@overload
def pose_to_homogeneous(pose: PoseLike) -> Array: ...
@overload
def pose_to_homogeneous(pose: ArrayLike, orientation: ArrayLike) -> Array: ...
def pose_to_homogeneous(pose: Any, orientation: ArrayLike | None = None) -> Array:
    """Return the transform as matrices of shape (..., 4, 4).

    Args:
        pose: A pose such as `Pose6D`, or the position [m] of shape (..., 3).
        orientation: With a position only: the quaternion xyzw of shape (..., 4).
    """
    position = pose
    if orientation is None:
        try:
            position, orientation = pose.position, pose.orientation
        except AttributeError as error:
            raise InvalidPoseError(
                f"give a pose, or a position and a quaternion; got {type(pose).__name__}"
            ) from error
    return _assemble(as_vectors(position, 3, "position"), quat_to_matrix(orientation))


def homogeneous_to_pose(matrix: ArrayLike) -> tuple[Array, Array]:
    """Return position [m] (..., 3) and unit quaternion xyzw (..., 4) of (..., 4, 4) matrices."""
    array = as_matrices(matrix, 4, 4, "pose")
    return array[..., :3, 3].copy(), quat_from_matrix(array[..., :3, :3])


def homogeneous_inverse(matrix: ArrayLike) -> Array:
    """Return the inverse of rigid transforms of shape (..., 4, 4)."""
    array = as_matrices(matrix, 4, 4, "pose")
    rotation = np.swapaxes(array[..., :3, :3], -1, -2)
    return _assemble(-_rotate(rotation, array[..., :3, 3]), rotation)


def _assemble(position: Array, rotation: Array) -> Array:
    """Return [rotation position; 0 1] for every leading index."""
    if position.ndim == 1 and rotation.ndim == 2:
        matrix = np.zeros((4, 4))
    else:
        leading = np.broadcast_shapes(position.shape[:-1], rotation.shape[:-2])
        matrix = np.zeros((*leading, 4, 4))
    matrix[..., :3, :3] = rotation
    matrix[..., :3, 3] = position
    matrix[..., 3, 3] = 1.0
    return matrix


def _rotate(rotation: Array, vector: Array) -> Array:
    return np.asarray((rotation @ vector[..., np.newaxis])[..., 0])
