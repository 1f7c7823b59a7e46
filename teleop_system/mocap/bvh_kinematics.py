# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of a BVH skeleton, computed for all frames at once.

The local transform of a joint is its translation followed by its intrinsic rotations, channel by
channel in the order of the file. Position channels replace the OFFSET of a joint.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.bvh_syntax import BVHText
from teleop_system.utils.transforms import quat_multiply, quat_rotate, xyzw_to_wxyz

Array = NDArray[np.float64]

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def forward_kinematics(text: BVHText) -> tuple[Array, Array]:
    """Return positions (F, J, 3) and orientations wxyz (F, J, 4) in the axes of the file."""
    frames, joints = len(text.values), len(text.names)
    positions = np.empty((joints, frames, 3))
    orientations = np.empty((joints, frames, 4))
    about_axes = _channel_rotations(text)
    column = 0
    for joint, (parent, channels) in enumerate(zip(text.parents, text.channels, strict=True)):
        rotation = orientations[parent] if parent >= 0 else IDENTITY
        position = positions[joint]
        position[:] = text.offsets[joint]
        moves = bool(text.offsets[joint].any())
        for channel in channels:
            if channel.endswith("position"):
                position[:, "XYZ".index(channel[0])] = text.values[:, column]
                moves = True
            else:
                rotation = quat_multiply(rotation, about_axes[column])
            column += 1
        if parent >= 0:
            offset = quat_rotate(orientations[parent], position) if moves else position
            np.add(positions[parent], offset, out=position)
        orientations[joint] = rotation
    return positions.transpose(1, 0, 2).copy(), xyzw_to_wxyz(orientations.transpose(1, 0, 2))


def _channel_rotations(text: BVHText) -> Array:
    """Return the rotation of every channel in every frame, xyzw, shape (C, F, 4)."""
    half = np.deg2rad(0.5 * text.values.T)
    rotations = np.zeros((*half.shape, 4))
    sines = np.sin(half)
    rotations[:, :, 3] = np.cos(half)
    names = [channel for channels in text.channels for channel in channels]
    for column, name in enumerate(names):
        rotations[column, :, "XYZ".index(name[0])] = sines[column]
    return rotations


def rest_positions(text: BVHText) -> Array:
    """Return the joint positions without any rotation, shape (J, 3), in the file's axes."""
    found = text.offsets.copy()
    for joint, parent in enumerate(text.parents):
        if parent >= 0:
            found[joint] += found[parent]
    return found
