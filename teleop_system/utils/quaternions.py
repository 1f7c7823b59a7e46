# SPDX-License-Identifier: Apache-2.0
"""Rotations as quaternions xyzw, over any leading axes.

Every function takes arrays of shape (..., 4) and broadcasts the leading axes as NumPy does.
A quaternion need not be normalised to be used as a rotation, but one of length zero or with a
value that is not finite is not a rotation and raises InvalidPoseError. `q` and `-q` are the same
rotation; a function that has to choose returns the one with w >= 0.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.exceptions import InvalidPoseError
from teleop_system.utils import quaternion_formulas as formulas
from teleop_system.utils._arrays import (
    Array,
    arctan2,
    as_matrices,
    as_vectors,
    choose,
    component,
    dot,
    join,
    root,
    sine_cosine,
    split,
    split_rotation,
)
from teleop_system.utils.quaternion_formulas import Component

ORTHONORMAL_TOLERANCE = 1e-3
"""How far R Rᵀ may be from the identity; single precision and hand-typed matrices pass."""


def quat_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the Hamilton product: the rotation that applies `b` first, then `a`."""
    left, right = split(as_vectors(a, 4, "quaternion")), split(as_vectors(b, 4, "quaternion"))
    return join(*formulas.product(tuple(left), tuple(right)))


def quat_conjugate(q: ArrayLike) -> Array:
    """Return the quaternion with its vector part negated: the inverse of a unit quaternion."""
    x, y, z, w = split(as_vectors(q, 4, "quaternion"))
    return join(-x, -y, -z, w)


def quat_inverse(q: ArrayLike) -> Array:
    """Return the inverse of `q`, which need not have unit length."""
    x, y, z, w, squared = split_rotation(q)
    scale = 1.0 / squared
    return join(-x * scale, -y * scale, -z * scale, w * scale)


def quat_normalize(q: ArrayLike) -> Array:
    """Return `q` with unit length."""
    return join(*_unit(q))


def quat_canonical(q: ArrayLike) -> Array:
    """Return `q` or `-q`, the one with w >= 0, so that equal rotations compare equal."""
    array = as_vectors(q, 4, "quaternion")
    return np.where(array[..., 3:] < 0.0, -array, array)


def quat_rotate(q: ArrayLike, vector: ArrayLike) -> Array:
    """Return `vector`, shape (..., 3), rotated by `q`."""
    return join(*formulas.rotated(_unit(q), tuple(split(as_vectors(vector, 3, "vector")))))


def quat_to_matrix(q: ArrayLike) -> Array:
    """Return the rotation matrices of `q`, shape (..., 3, 3)."""
    x, y, z, w, squared = split_rotation(q)
    s = 2.0 / squared
    xs, ys, zs = x * s, y * s, z * s
    xx, yy, zz = x * xs, y * ys, z * zs
    xy, xz, yz = x * ys, x * zs, y * zs
    wx, wy, wz = w * xs, w * ys, w * zs
    rows = join(
        1.0 - (yy + zz), xy - wz, xz + wy,
        xy + wz, 1.0 - (xx + zz), yz - wx,
        xz - wy, yz + wx, 1.0 - (xx + yy),
    )  # fmt: skip
    return rows.reshape(*rows.shape[:-1], 3, 3)


def quat_from_matrix(matrix: ArrayLike) -> Array:
    """Return the unit quaternions, w >= 0, of rotation matrices of shape (..., 3, 3).

    Raises:
        InvalidPoseError: If a matrix is not a rotation (not orthonormal, or a reflection).
    """
    array = as_matrices(matrix, 3, 3, "rotation")
    flat = array.reshape(*array.shape[:-2], 9)
    parts = split(flat)
    _require_rotation(parts, array)
    if flat.ndim == 1:
        return np.array(_shepperd(*parts))
    batch = flat.reshape(-1, 9)
    quaternions = np.empty((len(batch), 4))
    m = batch.T
    # Each candidate is the quaternion times four times one of its components; the one built
    # on the largest component loses no digits, so every row takes that one.
    candidates = (
        (1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5]),
        (m[1] + m[3], 1.0 - m[0] + m[4] - m[8], m[5] + m[7], m[2] - m[6]),
        (m[2] + m[6], m[5] + m[7], 1.0 - m[0] - m[4] + m[8], m[3] - m[1]),
        (m[7] - m[5], m[2] - m[6], m[3] - m[1], 1.0 + m[0] + m[4] + m[8]),
    )
    largest = np.argmax([candidates[index][index] for index in range(4)], axis=0)
    for index, candidate in enumerate(candidates):
        rows = largest == index
        quaternions[rows] = np.stack(candidate, axis=-1)[rows]
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return quat_canonical(quaternions.reshape(*flat.shape[:-1], 4))


def quat_angle(q: ArrayLike) -> Array:
    """Return the angle of the rotation in [rad], from 0 to pi, shape (...)."""
    x, y, z, w, _ = split_rotation(q)
    angle: Array = np.float64(2.0) * arctan2(root(x * x + y * y + z * z), abs(w))
    return angle


def quat_distance(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the angle of the smallest rotation from `a` to `b` in [rad], shape (...)."""
    return quat_angle(quat_multiply(quat_conjugate(a), b))


def quat_log(q: ArrayLike) -> Array:
    """Return the rotation vector (axis times angle) in [rad], at most pi long, shape (..., 3)."""
    return join(*formulas.logarithm(_unit(q)))


def quat_exp(rotation_vector: ArrayLike) -> Array:
    """Return the unit quaternion of a rotation vector in [rad], shape (..., 3)."""
    vector = split(as_vectors(rotation_vector, 3, "rotation vector"))
    return join(*formulas.exponential(tuple(vector)))


def quat_slerp(a: ArrayLike, b: ArrayLike, fraction: ArrayLike) -> Array:
    """Return the rotation at `fraction`, from 0 to 1, between `a` and `b`, along the shorter arc.

    Args:
        a: Rotation at fraction 0, shape (..., 4).
        b: Rotation at fraction 1, shape (..., 4).
        fraction: Broadcast against the leading axes; outside [0, 1] it extrapolates.
    """
    share = component(fraction)
    start, end = split(quat_normalize(a)), split(quat_normalize(b))
    sign = choose(dot(start, end) < 0.0, -1.0, 1.0)
    end = [sign * e for e in end]
    apart = [e - s for s, e in zip(start, end, strict=True)]
    along = [e + s for s, e in zip(start, end, strict=True)]
    # Unlike the arc cosine of the dot product this keeps its digits for nearly equal rotations.
    arc = 2.0 * arctan2(root(dot(apart, apart)), root(dot(along, along)))
    moving = arc > 0.0
    sine = choose(moving, sine_cosine(arc)[0], 1.0)
    before = choose(moving, sine_cosine((1.0 - share) * arc)[0] / sine, 1.0 - share)
    after = choose(moving, sine_cosine(share * arc)[0] / sine, share)
    return join(*(before * s + after * e for s, e in zip(start, end, strict=True)))


def quat_average(quaternions: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Return the mean rotation over the second last axis, regardless of signs, with w >= 0.

    Args:
        quaternions: Shape (..., n, 4).
        weights: Shape (..., n), not negative; equal by default.
    """
    array = quat_normalize(quaternions)
    if array.ndim < 2 or array.shape[-2] == 0:
        raise InvalidPoseError(f"an average needs quaternions (n, 4), got shape {array.shape}")
    share = np.ones(array.shape[:-1]) if weights is None else np.asarray(weights, np.float64)
    # The mean maximises the summed squared dot products, so it is the leading eigenvector.
    scatter = np.einsum("...n,...ni,...nj->...ij", share, array, array)
    return quat_canonical(np.linalg.eigh(scatter)[1][..., :, -1])


def _unit(q: ArrayLike) -> Any:
    """Return the components of `q` with unit length."""
    x, y, z, w, squared = split_rotation(q)
    scale = 1.0 / root(squared)
    return x * scale, y * scale, z * scale, w * scale


def _shepperd(
    m00: float, m01: float, m02: float,
    m10: float, m11: float, m12: float,
    m20: float, m21: float, m22: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the quaternion of one matrix, built on its largest component."""
    if m22 < 0.0:
        if m00 > m11:
            t = 1.0 + m00 - m11 - m22
            q = (t, m01 + m10, m20 + m02, m21 - m12)
        else:
            t = 1.0 - m00 + m11 - m22
            q = (m01 + m10, t, m12 + m21, m02 - m20)
    elif m00 < -m11:
        t = 1.0 - m00 - m11 + m22
        q = (m20 + m02, m12 + m21, t, m10 - m01)
    else:
        t = 1.0 + m00 + m11 + m22
        q = (m21 - m12, m02 - m20, m10 - m01, t)
    scale = math.copysign(1.0 / math.hypot(*q), q[3])
    return q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale


def _require_rotation(m: Sequence[Component], matrix: Array) -> None:
    """Raise InvalidPoseError unless the nine components are those of rotations."""
    errors = (
        m[0] * m[0] + m[1] * m[1] + m[2] * m[2] - 1.0,
        m[3] * m[3] + m[4] * m[4] + m[5] * m[5] - 1.0,
        m[6] * m[6] + m[7] * m[7] + m[8] * m[8] - 1.0,
        m[0] * m[3] + m[1] * m[4] + m[2] * m[5],
        m[0] * m[6] + m[1] * m[7] + m[2] * m[8],
        m[3] * m[6] + m[4] * m[7] + m[5] * m[8],
        # Orthonormal rows may still be a reflection; the determinant decides.
        m[0] * (m[4] * m[8] - m[5] * m[7])
        - m[1] * (m[3] * m[8] - m[5] * m[6])
        + m[2] * (m[3] * m[7] - m[4] * m[6])
        - 1.0,
    )
    # A NaN fails each of these comparisons too.
    if isinstance(errors[0], float):
        fits = all(abs(error) < ORTHONORMAL_TOLERANCE for error in errors)
    else:
        fits = bool(np.all(np.abs(errors) < ORTHONORMAL_TOLERANCE))
    if not fits:
        raise InvalidPoseError(f"not a rotation matrix: {matrix.tolist()}")
