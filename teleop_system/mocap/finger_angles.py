# SPDX-License-Identifier: Apache-2.0
"""The angles of a recorded person's fingers: from their joints, or guessed from the wrist."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_loader import BVHData
from teleop_system.mocap.joint_mapping import JointMapping
from teleop_system.simulators.human.gestures import GESTURES, REST
from teleop_system.simulators.human.hand_model import LOWER, THUMB_REST, UPPER
from teleop_system.utils.transforms import quat_distance, quat_rotate

Array = NDArray[np.float64]

BUSY_TURN = 4.0
"""Turning speed of a wrist in [rad/s] at which a hand is taken to be closed."""
GRASP_TIME = 0.25
"""Time constant in [s] with which a hand closes and opens."""


def finger_angles(
    data: BVHData, mapping: JointMapping, joints: dict[str, int], side: str, wrist: Array
) -> Array:
    """Return the 20 angles of a hand in all captured frames in [rad], shape (F, 20).

    Args:
        data: The recording.
        mapping: The family of its skeleton.
        joints: Index of every joint by its plain name.
        side: "left" or "right".
        wrist: Orientation of the hand in the captured frames, xyzw, shape (F, 4).
    """
    named = mapping.finger_joints(side)
    if named and all(joint in joints for finger in named for joint in finger):
        hand = joints[mapping.roles[TrackerRole(f"{side}_hand")]]
        fingers = [[joints[joint] for joint in finger] for finger in named]
        return _measured(data, hand, fingers, side)
    return _guessed(wrist, data.frame_time)


def _measured(data: BVHData, hand: int, fingers: list[list[int]], side: str) -> Array:
    """Return angles between the bones, which no skeleton's choice of axes can change."""
    first = data.first_frame
    places = data.positions[first:]
    # The palm: along the middle finger, across to the index, and out of the back of the hand.
    along = _unit(places[:, fingers[2][0]] - places[:, hand])
    across = places[:, fingers[1][0]] - places[:, fingers[4][0]]
    across = _unit(across - _dot(across, along)[:, None] * along)
    back = np.cross(along, across) * (1.0 if side == "right" else -1.0)
    found = np.empty((len(places), 5, 4))
    for finger, (one, two, three) in enumerate(fingers):
        bones = [
            _unit(places[:, two] - places[:, one]),
            _unit(places[:, three] - places[:, two]),
            _tip(data, three, first),
        ]
        ahead, aside, up = (_dot(bones[0], axis) for axis in (along, across, back))
        if finger == 0:
            found[:, finger, 0] = THUMB_REST - np.arctan2(aside, ahead)
            found[:, finger, 1] = -np.arcsin(np.clip(up, -1.0, 1.0))
        else:
            found[:, finger, 0] = np.arctan2(-up, ahead)
            found[:, finger, 1] = np.arcsin(np.clip(aside, -1.0, 1.0))
        found[:, finger, 2] = _angle(bones[0], bones[1])
        found[:, finger, 3] = _angle(bones[1], bones[2])
    return np.clip(found.reshape(-1, 20), LOWER, UPPER)


def _tip(data: BVHData, joint: int, first: int) -> Array:
    """Return the direction of the bone beyond a finger's last joint, shape (F, 3)."""
    child = next((j for j, parent in enumerate(data.parents) if parent == joint), None)
    if child is not None:
        return _unit(data.positions[first:, child] - data.positions[first:, joint])
    end = np.broadcast_to(data.ends[joint], (data.frame_count - first, 3))
    return _unit(quat_rotate(data.orientations[first:, joint], end))


def _guessed(wrist: Array, frame_time: float) -> Array:
    """Return a hand that closes while its wrist is busy, and relaxes when it is not."""
    speeds = np.zeros(len(wrist))
    speeds[1:] = np.asarray(quat_distance(wrist[1:], wrist[:-1])) / frame_time
    wish = np.clip(speeds / BUSY_TURN, 0.0, 1.0)
    share = 1.0 - np.exp(-frame_time / GRASP_TIME)
    closed, state, rate = np.empty(len(wish)), 0.0, 0.0
    for frame, target in enumerate(wish.tolist()):
        # Two first-order steps, so that fingers start and stop gently.
        rate += share * (target - rate)
        state += share * (rate - state)
        closed[frame] = state
    result: Array = GESTURES[REST] + closed[:, None] * (GESTURES["fist"] - GESTURES[REST])
    return result


def _unit(vectors: Array) -> Array:
    result: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return result


def _dot(a: Array, b: Array) -> Array:
    result: Array = np.einsum("fi,fi->f", a, b)
    return result


def _angle(a: Array, b: Array) -> Array:
    result: Array = np.arccos(np.clip(_dot(a, b), -1.0, 1.0))
    return result
