# SPDX-License-Identifier: Apache-2.0
"""Rigid transforms as homogeneous matrices, their logarithm and exponential."""

import math
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils._arrays import (
    Array,
    as_matrices,
    as_vectors,
    choose,
    cross,
    dot,
    join,
    root,
    sine_cosine,
    split,
)
from teleop_system.utils.quaternion_formulas import Component
from teleop_system.utils.quaternions import (
    quat_exp,
    quat_from_matrix,
    quat_log,
    quat_to_matrix,
)

SERIES_BELOW = 0.3
"""Angle in [rad] below which a closed form is less exact than its truncated series."""


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


def se3_exp(twist: ArrayLike) -> Array:
    """Return the transform (..., 4, 4) reached by following a twist for one unit of time.

    Args:
        twist: Linear part [m], then angular part [rad], shape (..., 6), in the moving frame.
    """
    array = as_vectors(twist, 6, "twist")
    linear, angular = split(array[..., :3]), split(array[..., 3:])
    once = cross(angular, linear)
    twice = cross(angular, once)
    angle = root(dot(angular, angular))
    half_sine = sine_cosine(0.5 * angle)[0]
    # (1 - cos a) / a², computed from the half angle to avoid cancellation.
    is_rotating = angle > 0.0
    first = choose(is_rotating, 2.0 * (half_sine / choose(is_rotating, angle, 1.0)) ** 2, 0.5)
    second = _second_coefficient(angle)
    position = [p + first * q + second * r for p, q, r in zip(linear, once, twice, strict=True)]
    return _assemble(join(*position), quat_to_matrix(quat_exp(array[..., 3:])))


def se3_log(matrix: ArrayLike) -> Array:
    """Return the twist (..., 6) of a transform, linear [m] then angular [rad]."""
    position, quaternion = homogeneous_to_pose(matrix)
    rotation_vector = quat_log(quaternion)
    linear, angular = split(position), split(rotation_vector)
    once = cross(angular, linear)
    twice = cross(angular, once)
    factor = _inverse_coefficient(root(dot(angular, angular)))
    linear = [p - 0.5 * q + factor * r for p, q, r in zip(linear, once, twice, strict=True)]
    return join(*linear, *angular)


def clamp_norm(vector: ArrayLike, largest: float) -> Array:
    """Return vectors (..., n) shortened to at most `largest`, their direction kept."""
    array = np.asarray(vector, dtype=np.float64)
    if array.ndim == 1:
        length = math.sqrt(array @ array)
        return array * (largest / length) if length > largest else array.copy()
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    return np.asarray(array * (largest / np.maximum(length, largest)))


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


def _second_coefficient(angle: Component) -> Component:
    """Return (a - sin a) / a³, which is 1/6 at rest."""
    small = angle < SERIES_BELOW
    s = choose(small, angle, 0.0) ** 2
    series = 1 / 6 - s * (1 / 120 - s * (1 / 5040 - s * (1 / 362880 - s / 39916800)))
    large = choose(small, 1.0, angle)
    return choose(small, series, (large - sine_cosine(large)[0]) / large**3)


def _inverse_coefficient(angle: Component) -> Component:
    """Return (1 - a/2 cot a/2) / a², which is 1/12 at rest."""
    small = angle < SERIES_BELOW
    s = choose(small, angle, 0.0) ** 2
    series = 1 / 12 + s * (1 / 720 + s * (1 / 30240 + s * (1 / 1209600 + s / 47900160)))
    large = choose(small, 1.0, angle)
    sine, cosine = sine_cosine(0.5 * large)
    return choose(small, series, (1.0 - 0.5 * large * cosine / sine) / large**2)
