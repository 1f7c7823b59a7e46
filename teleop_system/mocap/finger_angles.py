# SPDX-License-Identifier: Apache-2.0
"""Finger angles of a recorded person: from finger joints, or derived from the wrist's motion."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_loader import BVHData
from teleop_system.mocap.joint_mapping import JointMapping
from teleop_system.simulators.human.gestures import GESTURES, REST
from teleop_system.simulators.human.hand_model import LOWER, THUMB_REST, UPPER
from teleop_system.utils.transforms import quat_distance, quat_rotate

Array = NDArray[np.float64]

GRASP_SPEED = 4.0
"""Angular speed of the wrist in [rad/s] at which the hand closes fully."""
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
        return _from_joints(data, hand, fingers, side)
    return _from_wrist(wrist, data.frame_time)


def _from_joints(data: BVHData, hand: int, fingers: list[list[int]], side: str) -> Array:
    """Return angles between the bones; they do not depend on the axes of the skeleton's joints."""
    first = data.first_frame
    positions = data.positions[first:]
    # Palm frame: along the middle finger, across to the index, out of the back of the hand.
    along = _unit(positions[:, fingers[2][0]] - positions[:, hand])
    across = positions[:, fingers[1][0]] - positions[:, fingers[4][0]]
    across = _unit(across - _dot(across, along)[:, None] * along)
    back = np.cross(along, across) * (1.0 if side == "right" else -1.0)
    found = np.empty((len(positions), 5, 4))
    for finger, (one, two, three) in enumerate(fingers):
        bones = [
            _unit(positions[:, two] - positions[:, one]),
            _unit(positions[:, three] - positions[:, two]),
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
    """Return the direction of the bone after a finger's last joint, shape (F, 3)."""
    child = next((j for j, parent in enumerate(data.parents) if parent == joint), None)
    if child is not None:
        return _unit(data.positions[first:, child] - data.positions[first:, joint])
    end = np.broadcast_to(data.ends[joint], (data.frame_count - first, 3))
    return _unit(quat_rotate(data.orientations[first:, joint], end))


def _from_wrist(wrist: Array, frame_time: float) -> Array:
    """Return a hand that closes while its wrist rotates and opens when the wrist rests."""
    speeds = np.zeros(len(wrist))
    speeds[1:] = np.asarray(quat_distance(wrist[1:], wrist[:-1])) / frame_time
    targets = np.clip(speeds / GRASP_SPEED, 0.0, 1.0)
    share = 1.0 - np.exp(-frame_time / GRASP_TIME)
    closed, filtered, state = np.empty(len(targets)), 0.0, 0.0
    for frame, target in enumerate(targets.tolist()):
        # Two first-order filters in series, so that fingers start and stop smoothly.
        filtered += share * (target - filtered)
        state += share * (filtered - state)
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
