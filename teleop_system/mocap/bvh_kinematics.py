# SPDX-License-Identifier: Apache-2.0
"""Where all joints are in all frames, computed for all frames at once.

The local transform of a joint is its translation followed by its rotations, channel by channel in
the order of the file, each about an axis that the ones before have turned. A joint with position
channels takes them for its OFFSET.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.bvh_syntax import BVHText

Array = NDArray[np.float64]
Quaternions = tuple[Array, Array, Array, Array]
"""Components w, x, y, z of as many rotations as there are frames, each of shape (F,)."""


def forward_kinematics(text: BVHText) -> tuple[Array, Array]:
    """Return positions (F, J, 3) and orientations wxyz (F, J, 4) in the axes of the file."""
    frames, joints = len(text.values), len(text.names)
    # Components lead, so that every operation below runs through memory in order.
    places = np.empty((joints, 3, frames))
    turns = np.empty((joints, 4, frames))
    half = np.deg2rad(0.5 * np.ascontiguousarray(text.values.T))
    cosines, sines = np.cos(half), np.sin(half)
    column = 0
    for joint, (parent, channels) in enumerate(zip(text.parents, text.channels, strict=True)):
        local: Quaternions | None = None
        offset: list[Array | float] = list(text.offsets[joint])
        for channel in channels:
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                offset[axis] = text.values[:, column]
            else:
                local = _turned(local, axis, cosines[column], sines[column])
            column += 1
        _place(places, turns, joint, parent, offset, local)
    positions = np.ascontiguousarray(places.transpose(2, 0, 1))
    return positions, np.ascontiguousarray(turns.transpose(2, 0, 1))


def rest_positions(text: BVHText) -> Array:
    """Return where the joints are while nothing is turned, shape (J, 3), in the file's axes."""
    found = text.offsets.copy()
    for joint, parent in enumerate(text.parents):
        if parent >= 0:
            found[joint] += found[parent]
    return found


def _place(
    places: Array,
    turns: Array,
    joint: int,
    parent: int,
    offset: list[Array | float],
    local: Quaternions | None,
) -> None:
    place, turn = places[joint], turns[joint]
    if parent < 0:
        for axis in range(3):
            place[axis] = offset[axis]
        turn[0], turn[1:] = 1.0, 0.0
        if local is not None:
            turn[:] = local
        return
    w, x, y, z = turns[parent]
    place[:] = places[parent]
    if any(np.any(value) for value in offset):
        a, b, c = offset
        # Twice the cross product of the vector part with the offset, as in any sandwich product.
        ux, uy, uz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
        place[0] += a + w * ux + y * uz - z * uy
        place[1] += b + w * uy + z * ux - x * uz
        place[2] += c + w * uz + x * uy - y * ux
    turn[:] = turns[parent]
    if local is not None:
        turn[:] = _product((w, x, y, z), local)


def _turned(before: Quaternions | None, axis: int, cosine: Array, sine: Array) -> Quaternions:
    """Return rotations followed by one about an axis, of half angles given by their parts."""
    zero = np.zeros_like(cosine)
    parts = [cosine, zero, zero, zero]
    parts[axis + 1] = sine
    turn: Quaternions = (parts[0], parts[1], parts[2], parts[3])
    return turn if before is None else _product(before, turn)


def _product(a: Quaternions, b: Quaternions) -> Quaternions:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )
