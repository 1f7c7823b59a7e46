# SPDX-License-Identifier: Apache-2.0
"""Writes a performance as a BVH file."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.synthesis.performance import Performance
from teleop_system.mocap.synthesis.skeletons import Bone, Skeleton

Array = NDArray[np.float64]

ANGLE_DECIMALS, POSITION_DECIMALS = 1, 3
"""Decimals of angles in degrees, and of the root's position in the file's units."""
ROTATIONS = "Zrotation Yrotation Xrotation"


def bvh_text(performance: Performance, skeleton: Skeleton) -> str:
    """Return the text of a file."""
    lines = ["HIERARCHY", *_hierarchy(skeleton, "", 0)]
    frames = _frames(performance, skeleton)
    step = float(performance.times[1] - performance.times[0])
    lines += ["MOTION", f"Frames: {len(frames)}", f"Frame Time: {step:.6g}"]
    decimals = [POSITION_DECIMALS] * 3 + [ANGLE_DECIMALS] * (frames.shape[1] - 3)
    lines += [" ".join(map(_number, frame, decimals)) for frame in frames.tolist()]
    return "\n".join(lines) + "\n"


def write_bvh(performance: Performance, skeleton: Skeleton, path: Path) -> Path:
    """Write a file, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(bvh_text(performance, skeleton), encoding="utf-8")
    return path


def _hierarchy(skeleton: Skeleton, parent: str, depth: int) -> list[str]:
    lines = []
    for bone in (each for each in skeleton.bones if each.parent == parent):
        tab = "\t" * depth
        lines += [f"{tab}{'JOINT' if parent else 'ROOT'} {bone.name}", f"{tab}{{"]
        lines.append(f"{tab}\tOFFSET {_offset(bone.offset, skeleton.unit)}")
        positions = "" if parent else "Xposition Yposition Zposition "
        lines.append(f"{tab}\tCHANNELS {3 if parent else 6} {positions}{ROTATIONS}")
        lines += _hierarchy(skeleton, bone.name, depth + 1)
        if bone.end is not None:
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{"]
            lines += [f"{tab}\t\tOFFSET {_offset(bone.end, skeleton.unit)}", f"{tab}\t}}"]
        lines.append(f"{tab}}}")
    return lines


def _offset(values: tuple[float, float, float], unit: float) -> str:
    return " ".join(f"{value / unit:.5f}" for value in values)


def _in_file_order(skeleton: Skeleton, parent: str = "") -> list[Bone]:
    found = []
    for bone in (each for each in skeleton.bones if each.parent == parent):
        found += [bone, *_in_file_order(skeleton, bone.name)]
    return found


def _frames(performance: Performance, skeleton: Skeleton) -> Array:
    columns = [performance.hips / skeleton.unit]
    for bone in _in_file_order(skeleton):
        rotations = performance.rotations.get(bone.part)
        if rotations is None:
            columns.append(np.zeros((len(performance.times), 3)))
        else:
            columns.append(np.rad2deg(_angles(rotations)))
    frames = np.concatenate(columns, axis=1)
    if skeleton.has_rest_frame:
        rest = np.zeros((1, frames.shape[1]))
        rest[0, :3] = frames[0, :3]
        frames = np.concatenate([rest, frames])
    return frames


def _angles(rotations: Array) -> Array:
    """Return rotations as intrinsic angles about z, y and x in [rad], shape (F, 3)."""
    y = -np.arcsin(np.clip(rotations[:, 2, 0], -1.0, 1.0))
    z = np.unwrap(np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0]))
    x = np.unwrap(np.arctan2(rotations[:, 2, 1], rotations[:, 2, 2]))
    return np.stack([z, y, x], axis=-1)


def _number(value: float, decimals: int) -> str:
    """Return a number in its shortest form: -0.50 is -.5, and 0.00 is 0."""
    text = f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    if text in ("-0", "", "0"):
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
