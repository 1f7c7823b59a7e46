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


def forward_kinematics(text: BVHText) -> tuple[Array, Array]:
    """Return positions (F, J, 3) and orientations wxyz (F, J, 4) in the axes of the file."""
    frames = len(text.values)
    positions: list[Array] = []
    orientations: list[Array] = []
    half = np.deg2rad(0.5 * np.ascontiguousarray(text.values.T))
    cosines, sines = np.cos(half), np.sin(half)
    column = 0
    for offset, parent, channels in zip(text.offsets, text.parents, text.channels, strict=True):
        rotation = None if parent < 0 else orientations[parent]
        position = np.tile(offset, (frames, 1))
        for channel in channels:
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                position[:, axis] = text.values[:, column]
            else:
                about_axis = np.zeros((frames, 4))
                about_axis[:, axis], about_axis[:, 3] = sines[column], cosines[column]
                rotation = about_axis if rotation is None else quat_multiply(rotation, about_axis)
            column += 1
        if parent >= 0:
            position = positions[parent] + quat_rotate(orientations[parent], position)
        positions.append(position)
        identity = np.tile([0.0, 0.0, 0.0, 1.0], (frames, 1))
        orientations.append(identity if rotation is None else rotation)
    return np.stack(positions, axis=1), xyzw_to_wxyz(np.stack(orientations, axis=1))


def rest_positions(text: BVHText) -> Array:
    """Return the joint positions without any rotation, shape (J, 3), in the file's axes."""
    found = text.offsets.copy()
    for joint, parent in enumerate(text.parents):
        if parent >= 0:
            found[joint] += found[parent]
    return found
