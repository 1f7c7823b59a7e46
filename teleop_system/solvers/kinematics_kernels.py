# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of a tree of joints, and the Jacobian."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import Quaternion, Vector

Array = NDArray[np.float64]
Matrix = tuple[Vector, Vector, Vector]

FRAME = np.dtype([("rotation", np.float64, (3, 3)), ("position", np.float64, 3)], align=True)
"""Pose of a link; positions in [m]."""
JOINT = np.dtype(
    [
        *[("rotation", np.float64, (3, 3)), ("position", np.float64, 3)],
        *[("axis", np.float64, 3), ("slides", np.int64)],
        *[("parent", np.int64), ("column", np.int64)],
    ],
    align=True,
)
"""A joint: its frame in that of the parent joint, the axis it rotates about or slides along, and
its column in vectors of joint positions. Parents come before their children; the first is the
world."""
POSE = np.dtype([("position", np.float64, 3), ("orientation", np.float64, 4)], align=True)
"""Pose of a frame: position [m] and unit quaternion xyzw."""
ATTACHED = np.dtype(
    [("rotation", np.float64, (3, 3)), ("position", np.float64, 3), ("joint", np.int64)],
    align=True,
)
"""A frame fixed to the link behind a joint, in the frame of that joint."""


@kernel("UniTuple(UniTuple(f8, 3), 3)(f8[::1], f8)")
def rotation_about(axis: Array, angle: float) -> Matrix:
    """Return Rodrigues' rotation matrix about a unit axis by an angle [rad]."""
    x, y, z = axis[0], axis[1], axis[2]
    s, c = math.sin(angle), math.cos(angle)
    d = 1.0 - c
    return (
        (c + d * x * x, d * x * y - s * z, d * x * z + s * y),
        (d * x * y + s * z, c + d * y * y, d * y * z - s * x),
        (d * x * z - s * y, d * y * z + s * x, c + d * z * z),
    )


@kernel("UniTuple(f8, 3)(f8[::1], UniTuple(UniTuple(f8, 3), 3))")
def row_times_matrix(row: Array, b: Matrix) -> Vector:
    """Return the product of a row and a matrix."""
    return (
        row[0] * b[0][0] + row[1] * b[1][0] + row[2] * b[2][0],
        row[0] * b[0][1] + row[1] * b[1][1] + row[2] * b[2][1],
        row[0] * b[0][2] + row[1] * b[1][2] + row[2] * b[2][2],
    )


@kernel("UniTuple(UniTuple(f8, 3), 3)(f8[:, ::1], UniTuple(UniTuple(f8, 3), 3))")
def matrix_product(a: Array, b: Matrix) -> Matrix:
    """Return the product of two matrices."""
    return row_times_matrix(a[0], b), row_times_matrix(a[1], b), row_times_matrix(a[2], b)


@kernel("UniTuple(UniTuple(f8, 3), 3)(f8[:, ::1])")
def as_matrix(r: Array) -> Matrix:
    """Return a matrix of shape (3, 3) as rows of plain floats."""
    return (
        (r[0, 0], r[0, 1], r[0, 2]),
        (r[1, 0], r[1, 1], r[1, 2]),
        (r[2, 0], r[2, 1], r[2, 2]),
    )


@kernel("UniTuple(f8, 3)(f8[:, ::1], UniTuple(f8, 3))")
def rotated(r: Array, v: Vector) -> Vector:
    """Return a vector rotated by a matrix."""
    return (
        r[0, 0] * v[0] + r[0, 1] * v[1] + r[0, 2] * v[2],
        r[1, 0] * v[0] + r[1, 1] * v[1] + r[1, 2] * v[2],
        r[2, 0] * v[0] + r[2, 1] * v[1] + r[2, 2] * v[2],
    )


@kernel("UniTuple(f8, 3)(FRAME, UniTuple(f8, 3))")
def transformed(frame: NDArray[np.void], point: Vector) -> Vector:
    """Return a point that is given in a frame, in the frame's own reference [m]."""
    x, y, z = rotated(frame["rotation"][:], point)
    p = frame["position"]
    return p[0] + x, p[1] + y, p[2] + z


@kernel("UniTuple(f8, 3)(JOINT[::1], FRAME[::1], i8)")
def world_axis(joints: NDArray[np.void], links: NDArray[np.void], joint: int) -> Vector:
    """Return the axis of a joint in the world."""
    axis = joints[joint]["axis"]
    return rotated(links[joint]["rotation"][:], (axis[0], axis[1], axis[2]))


@kernel("void(FRAME, UniTuple(UniTuple(f8, 3), 3), UniTuple(f8, 3))")
def write_frame(frame: NDArray[np.void], rotation: Matrix, position: Vector) -> None:
    """Set the rotation and the position of a frame."""
    for row in range(3):
        frame["position"][row] = position[row]
        for column in range(3):
            frame["rotation"][row, column] = rotation[row][column]


@kernel("void(JOINT[::1], f8[::1], FRAME[::1])")
def place_links(joints: NDArray[np.void], positions: Array, links: NDArray[np.void]) -> None:
    """Compute the pose of the link behind every joint in the world.

    Args:
        joints: The joints, shape (J,).
        positions: Joint positions [rad] or [m], shape (N,).
        links: Written: the poses, shape (J,); the first is the world's and stays.
    """
    for j in range(1, joints.size):
        joint = joints[j]
        parent, position = links[joint["parent"]], positions[joint["column"]]
        offset, axis, fixed = joint["rotation"][:], joint["axis"][:], joint["position"]
        x, y, z = fixed[0], fixed[1], fixed[2]
        if joint["slides"]:
            along = (position * axis[0], position * axis[1], position * axis[2])
            dx, dy, dz = rotated(offset, along)
            x, y, z = x + dx, y + dy, z + dz
            local = as_matrix(offset)
        else:
            local = matrix_product(offset, rotation_about(axis, position))
        rotation = matrix_product(parent["rotation"][:], local)
        write_frame(links[j], rotation, transformed(parent, (x, y, z)))


@kernel("UniTuple(f8, 4)(UniTuple(UniTuple(f8, 3), 3))")
def quaternion_of(rotation: Matrix) -> Quaternion:
    """Return the unit quaternion of a rotation matrix.

    It is built on its largest component, which loses no digits.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation
    if xx + yy + zz > 0.0:
        s = math.sqrt(1.0 + xx + yy + zz)
        k = 0.5 / s
        return (zy - yz) * k, (xz - zx) * k, (yx - xy) * k, 0.5 * s
    if xx >= yy and xx >= zz:
        s = math.sqrt(1.0 + xx - yy - zz)
        k = 0.5 / s
        return 0.5 * s, (xy + yx) * k, (xz + zx) * k, (zy - yz) * k
    if yy >= zz:
        s = math.sqrt(1.0 + yy - xx - zz)
        k = 0.5 / s
        return (xy + yx) * k, 0.5 * s, (yz + zy) * k, (xz - zx) * k
    s = math.sqrt(1.0 + zz - xx - yy)
    k = 0.5 / s
    return (xz + zx) * k, (yz + zy) * k, 0.5 * s, (yx - xy) * k


@kernel("void(FRAME[::1], ATTACHED[::1], POSE[::1])")
def place_frames(
    links: NDArray[np.void], attached: NDArray[np.void], frames: NDArray[np.void]
) -> None:
    """Compute the pose of frames that are fixed to links.

    Args:
        links: Poses of the links, shape (J,).
        attached: The frames on their links, shape (F,).
        frames: Written: their poses in the world, shape (F,).
    """
    for f in range(attached.size):
        own = attached[f]
        link, p = links[own["joint"]], own["position"]
        rotation = matrix_product(link["rotation"][:], as_matrix(own["rotation"][:]))
        position, orientation = transformed(link, (p[0], p[1], p[2])), quaternion_of(rotation)
        for n in range(3):
            frames[f]["position"][n] = position[n]
        for n in range(4):
            frames[f]["orientation"][n] = orientation[n]


@kernel("void(JOINT[::1], f8[:, ::1], FRAME[::1], ATTACHED[::1], POSE[:, ::1])")
def place_frames_along(
    joints: NDArray[np.void],
    motion: Array,
    links: NDArray[np.void],
    attached: NDArray[np.void],
    frames: NDArray[np.void],
) -> None:
    """Compute the poses of frames at every sample of a motion.

    Args:
        joints: The joints, shape (J,).
        motion: Joint positions [rad] or [m], shape (T, N).
        links: Written: poses of the links at the last sample, shape (J,).
        attached: The frames on their links, shape (F,).
        frames: Written: their poses in the world, shape (T, F).
    """
    for sample in range(motion.shape[0]):
        place_links(joints, motion[sample], links)
        place_frames(links, attached, frames[sample])


@kernel("void(JOINT[::1], FRAME[::1], f8[:, ::1])")
def write_jacobian(joints: NDArray[np.void], links: NDArray[np.void], jacobian: Array) -> None:
    """Compute the spatial velocity at the world's origin per joint velocity.

    Args:
        joints: The joints, shape (J,).
        links: Poses of the links, shape (J,).
        jacobian: Written: linear over angular velocities, shape (6, N).
    """
    for j in range(1, joints.size):
        n, p = joints[j]["column"], links[j]["position"]
        x, y, z = world_axis(joints, links, j)
        if joints[j]["slides"]:
            jacobian[0, n], jacobian[1, n], jacobian[2, n] = x, y, z
            jacobian[3, n], jacobian[4, n], jacobian[5, n] = 0.0, 0.0, 0.0
        else:
            jacobian[0, n] = p[1] * z - p[2] * y
            jacobian[1, n] = p[2] * x - p[0] * z
            jacobian[2, n] = p[0] * y - p[1] * x
            jacobian[3, n], jacobian[4, n], jacobian[5, n] = x, y, z


@kernel("void(JOINT[::1], f8[::1], FRAME[::1], ATTACHED[::1], POSE[::1], f8[:, ::1])")
def update_tree(
    joints: NDArray[np.void],
    positions: Array,
    links: NDArray[np.void],
    attached: NDArray[np.void],
    frames: NDArray[np.void],
    jacobian: Array,
) -> None:
    """Compute links, frames and Jacobian in one call; see the three kernels above."""
    place_links(joints, positions, links)
    place_frames(links, attached, frames)
    write_jacobian(joints, links, jacobian)
