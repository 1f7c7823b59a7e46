# SPDX-License-Identifier: Apache-2.0
"""The rest pose of a skeleton, and the readings of trackers in it.

A tracker may be mounted on a joint in any orientation. Its reading follows from the rotation of
the joint since a known rest pose: the T-pose before a recording, the skeleton without rotations,
or else the first frame. In the rest pose the person faces perpendicular to the shoulders and the
arms point along their bones, so trackers read as if they were mounted in an ideal T-pose.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import TrackerRole
from teleop_system.interfaces.master_device import HAND_SIDES
from teleop_system.mocap.bvh_loader import BVHData
from teleop_system.mocap.joint_mapping import JointMapping
from teleop_system.utils.transforms import quat_conjugate, quat_exp, quat_multiply, quat_rotate

Array = NDArray[np.float64]

SIDEWAYS = {"left": np.array([0.0, 1.0, 0.0]), "right": np.array([0.0, -1.0, 0.0])}
HANDS = {"left": TrackerRole.LEFT_HAND, "right": TrackerRole.RIGHT_HAND}
UPRIGHT = 0.8
"""Smallest vertical share of the vector from feet to head of a standing person."""


@dataclass(frozen=True, slots=True, eq=False)
class RestPose:
    """A pose with known tracker readings.

    Attributes:
        positions: Joint positions in [m], shape (J, 3).
        orientations: Joint orientations xyzw, shape (J, 4).
        source: Origin of the pose: "t-pose", "skeleton" or "first frame".
    """

    positions: Array
    orientations: Array
    source: str

    @classmethod
    def of(cls, data: BVHData, mapping: JointMapping, joints: dict[str, int]) -> "RestPose":
        """Return the rest pose of a recording.

        Args:
            data: The recording.
            mapping: The family of its skeleton.
            joints: Index of every joint by its plain name.
        """
        if data.rest_frame is not None:
            frame = data.rest_frame
            return cls(data.positions[frame], data.orientations[frame], "t-pose")
        head = joints[mapping.roles[TrackerRole.HEAD]]
        feet = [joints[mapping.roles[TrackerRole(f"{side}_foot")]] for side in HAND_SIDES]
        vertical = data.rest[head] - data.rest[feet].mean(axis=0)
        if vertical[2] > UPRIGHT * float(np.linalg.norm(vertical)):
            upright = np.zeros((len(data.names), 4))
            upright[:, 3] = 1.0
            return cls(data.rest, upright, "skeleton")
        frame = data.first_frame
        return cls(data.positions[frame], data.orientations[frame], "first frame")

    def readings(self, mapping: JointMapping, joints: dict[str, int]) -> dict[TrackerRole, Array]:
        """Return the reading of each tracker in this pose, as a quaternion xyzw."""
        shoulders = {side: self.positions[joints[mapping.shoulder(side)]] for side in HAND_SIDES}
        across = shoulders["left"] - shoulders["right"]
        half = 0.5 * float(np.arctan2(-across[0], across[1]))
        ahead = np.array([0.0, 0.0, np.sin(half), np.cos(half)])
        found = {role: ahead for role in TrackerRole}
        for side, role in HANDS.items():
            hand = self.positions[joints[mapping.roles[role]]]
            arm = hand - self.positions[joints[mapping.elbow(side)]]
            arm = quat_rotate(quat_conjugate(ahead), arm)
            found[role] = quat_multiply(ahead, _swing(SIDEWAYS[side], arm))
        return found


def tracker_orientations(data: BVHData, rest: RestPose, joint: int, reading: Array) -> Array:
    """Return the readings of a tracker on a joint in all frames, xyzw, shape (F, 4)."""
    mounting = quat_multiply(quat_conjugate(rest.orientations[joint]), reading)
    joints = data.orientations[:, joint]
    return quat_multiply(joints, np.broadcast_to(mounting, joints.shape))


def _swing(start: Array, end: Array) -> Array:
    """Return the smallest rotation from one direction to another."""
    end = end / max(float(np.linalg.norm(end)), 1e-9)
    axis = np.cross(start, end)
    sine, cosine = float(np.linalg.norm(axis)), float(start @ end)
    if sine < 1e-9:
        # Parallel or opposite; an opposite arm rotates about the vertical.
        return quat_exp(np.array([0.0, 0.0, 0.0 if cosine > 0.0 else np.pi]))
    return quat_exp(axis / sine * np.arctan2(sine, cosine))
