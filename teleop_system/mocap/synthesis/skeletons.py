# SPDX-License-Identifier: Apache-2.0
"""The skeletons of the built-in motions: one body with the joints of CMU and of Mixamo files.

Without rotations it stands in a T-pose: y up, z ahead, x to the left.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.bvh_loader import CMU_UNIT

Array = NDArray[np.float64]
Offset = tuple[float, float, float]

THIGH, SHANK, ANKLE = 0.41, 0.41, 0.08
HIP_WIDTH, HIP_DROP = 0.09, 0.06
UPPER_ARM, FOREARM, HAND = 0.29, 0.27, 0.08
HIP_HEIGHT = HIP_DROP + THIGH + SHANK + ANKLE
"""Height of the hips of a standing person in [m]."""

FINGERS: dict[str, tuple[Offset, tuple[float, float, float]]] = {
    "Thumb": ((0.025, -0.012, 0.025), (0.046, 0.032, 0.027)),
    "Index": ((0.088, 0.000, 0.026), (0.044, 0.026, 0.022)),
    "Middle": ((0.090, 0.004, 0.004), (0.048, 0.030, 0.023)),
    "Ring": ((0.084, 0.001, -0.017), (0.044, 0.028, 0.023)),
    "Pinky": ((0.075, -0.006, -0.036), (0.036, 0.021, 0.020)),
}
"""Knuckle of each finger of the left hand, and its three bones, in [m]."""


@dataclass(frozen=True, slots=True)
class Bone:
    """A joint of a skeleton.

    Attributes:
        name: Name in the file.
        parent: Name of its parent; empty for the root.
        offset: Offset from its parent in [m].
        part: Body part whose rotation it takes; empty for a fixed joint.
        end: Offset of an end site in [m], or None.
    """

    name: str
    parent: str
    offset: Offset
    part: str = ""
    end: Offset | None = None


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A skeleton family.

    Attributes:
        bones: The joints, parents first.
        unit: Length of its unit in [m].
        has_rest_frame: Whether a file begins with a T-pose.
    """

    bones: tuple[Bone, ...]
    unit: float
    has_rest_frame: bool


def cmu_skeleton() -> Skeleton:
    """Return the body with the joints of CMU files; they lack thorax and wrist bones."""
    bones = [Bone("Hips", "", (0.0, 0.0, 0.0), "hips")]
    for side, short in (("Left", "L"), ("Right", "R")):
        bones.append(Bone(f"{short}HipJoint", "Hips", (0.0, 0.0, 0.0)))
        bones += _leg(
            side, f"{short}HipJoint", "LeftToeBase" if side == "Left" else "RightToeBase"
        )
    bones += [
        Bone("LowerBack", "Hips", (0.0, 0.0, 0.0)),
        Bone("Spine", "LowerBack", (0.0, 0.13, 0.0), "spine"),
        Bone("Spine1", "Spine", (0.0, 0.12, 0.0), "chest"),
        Bone("Neck", "Spine1", (0.0, 0.0, 0.0)),
        Bone("Neck1", "Neck", (0.0, 0.12, 0.0), "neck"),
        Bone("Head", "Neck1", (0.0, 0.09, 0.0), "head", (0.0, 0.1, 0.0)),
    ]
    for side, short, sign in (("Left", "L", 1.0), ("Right", "R", -1.0)):
        hand = f"{side}Hand"
        bones += [
            Bone(f"{side}Shoulder", "Spine1", (0.0, 0.0, 0.0)),
            Bone(f"{side}Arm", f"{side}Shoulder", (sign * 0.19, 0.08, 0.0), f"{side} arm"),
            Bone(f"{side}ForeArm", f"{side}Arm", (sign * UPPER_ARM, 0.0, 0.0), f"{side} forearm"),
            Bone(hand, f"{side}ForeArm", (sign * FOREARM / 1.5, 0.0, 0.0), f"{side} hand"),
            Bone(f"{side}FingerBase", hand, (0.0, 0.0, 0.0)),
            Bone(
                f"{side}HandIndex1",
                f"{side}FingerBase",
                (sign * HAND, 0.0, 0.0),
                end=(sign * 0.05, 0.0, 0.0),
            ),
            Bone(f"{short}Thumb", hand, (0.0, 0.0, 0.0), end=(sign * 0.05, 0.0, 0.04)),
        ]
    return Skeleton(tuple(bones), CMU_UNIT, has_rest_frame=True)


def mixamo_skeleton() -> Skeleton:
    """Return the body with the joints of Mixamo files, with fingers, in centimetres."""
    bones = [Bone("Hips", "", (0.0, HIP_HEIGHT, 0.0), "hips")]
    bones += [
        Bone("Spine", "Hips", (0.0, 0.1, 0.0), "spine"),
        Bone("Spine1", "Spine", (0.0, 0.13, 0.0), "chest"),
        Bone("Spine2", "Spine1", (0.0, 0.13, 0.0)),
        Bone("Neck", "Spine2", (0.0, 0.13, 0.0), "neck"),
        Bone("Head", "Neck", (0.0, 0.09, 0.0), "head", (0.0, 0.18, 0.0)),
    ]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        bones += [
            Bone(f"{side}Shoulder", "Spine2", (sign * 0.06, 0.08, 0.0)),
            Bone(f"{side}Arm", f"{side}Shoulder", (sign * 0.13, 0.0, 0.0), f"{side} arm"),
            Bone(f"{side}ForeArm", f"{side}Arm", (sign * UPPER_ARM, 0.0, 0.0), f"{side} forearm"),
            Bone(f"{side}Hand", f"{side}ForeArm", (sign * FOREARM, 0.0, 0.0), f"{side} hand"),
        ]
        for finger, (knuckle, lengths) in FINGERS.items():
            bones += _finger(side, finger, knuckle, lengths, sign)
    for side in ("Left", "Right"):
        bones += _leg(side, "Hips", f"{side}ToeBase")
    prefix = "mixamorig:"
    named = [
        Bone(prefix + b.name, prefix + b.parent if b.parent else "", b.offset, b.part, b.end)
        for b in bones
    ]
    return Skeleton(tuple(named), 0.01, has_rest_frame=False)


def _leg(side: str, parent: str, toe: str) -> list[Bone]:
    sign = 1.0 if side == "Left" else -1.0
    return [
        Bone(f"{side}UpLeg", parent, (sign * HIP_WIDTH, -HIP_DROP, 0.0), f"{side} thigh"),
        Bone(f"{side}Leg", f"{side}UpLeg", (0.0, -THIGH, 0.0), f"{side} shank"),
        Bone(f"{side}Foot", f"{side}Leg", (0.0, -SHANK, 0.0), f"{side} foot"),
        Bone(toe, f"{side}Foot", (0.0, -ANKLE, 0.13), end=(0.0, 0.0, 0.07)),
    ]


def _finger(
    side: str, finger: str, knuckle: Offset, lengths: tuple[float, float, float], sign: float
) -> list[Bone]:
    # A straight thumb points diagonally, between ahead and sideways.
    along = np.array([0.73, 0.0, 0.68]) if finger == "Thumb" else np.array([1.0, 0.0, 0.0])

    def offset(length: float) -> Offset:
        x, y, z = (length * along).tolist()
        return (sign * x, y, z)

    names = [f"{side}Hand{finger}{number}" for number in (1, 2, 3)]
    parts = [f"{side} {finger} {number}" for number in (1, 2, 3)]
    x, y, z = knuckle
    return [
        Bone(names[0], f"{side}Hand", (sign * x, y, z), parts[0]),
        Bone(names[1], names[0], offset(lengths[0]), parts[1]),
        Bone(names[2], names[1], offset(lengths[1]), parts[2], offset(lengths[2])),
    ]
