# SPDX-License-Identifier: Apache-2.0
"""Units, axes and T-poses of recordings."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import BVHError
from teleop_system.mocap.bvh_loader import CMU_UNIT, load_bvh
from teleop_system.mocap.bvh_motion import find_motion
from teleop_system.mocap.synthesis.motions import wave
from teleop_system.mocap.synthesis.skeletons import cmu_skeleton, mixamo_skeleton
from teleop_system.mocap.synthesis.writer import bvh_text
from tests.mocap.files import clip, needs_clips, write


def scaled(folder: Path, unit: float, name: str = "scaled.bvh") -> Path:
    skeleton = dataclasses.replace(mixamo_skeleton(), unit=unit)
    return write(folder, bvh_text(wave(), skeleton), name)


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.0254, CMU_UNIT])
def test_the_unit_follows_from_the_height_of_the_person(tmp_path: Path, unit: float) -> None:
    data = load_bvh(scaled(tmp_path, unit))
    assert data.unit == unit
    # Standing straight, the hips are 0.96 m above the floor.
    assert data.positions[0, 0, 2] == pytest.approx(0.96, abs=0.002)


@pytest.mark.parametrize("unit", [0.1, 1e-4, 3.0])
def test_an_implausible_size_is_reported(tmp_path: Path, unit: float) -> None:
    path = scaled(tmp_path, unit)
    with pytest.raises(BVHError, match="cannot detect the unit"):
        load_bvh(path)
    assert load_bvh(path, unit=unit).unit == unit
    with pytest.raises(BVHError, match="m tall"):
        load_bvh(path, unit=10.0 * unit)


def test_axes_are_converted_to_those_of_ros() -> None:
    data = load_bvh(find_motion("walk_and_reach"))
    assert data.up == "y"
    first, last = data.positions[data.first_frame], data.positions[-1]
    assert last[0, 0] - first[0, 0] == pytest.approx(2.09, abs=0.05)  # Forward is x.
    hand = data.index("LeftHand")
    assert first[hand, 1] > 0.15  # Left is y.


def test_a_file_with_z_up_gives_the_same_motion(tmp_path: Path) -> None:
    text = bvh_text(wave(), mixamo_skeleton())
    plain = load_bvh(write(tmp_path, text))
    rotated = load_bvh(write(tmp_path, _with_z_up(text), "z.bvh"))
    assert (plain.up, rotated.up) == ("y", "z")
    np.testing.assert_allclose(rotated.positions, plain.positions, atol=2e-3)


def test_the_up_axis_is_required_for_a_person_who_lies(tmp_path: Path) -> None:
    text = bvh_text(wave(), mixamo_skeleton()).replace("Yrotation", "Wrotation")
    text = text.replace("Xrotation", "Yrotation").replace("Wrotation", "Xrotation")
    lines = text.splitlines()
    start = lines.index(next(line for line in lines if line.startswith("Frame Time"))) + 1
    for number in range(start, len(lines)):
        values = lines[number].split()
        values[3] = "90"
        lines[number] = " ".join(values)
    path = write(tmp_path, "\n".join(lines))
    with pytest.raises(BVHError, match="cannot detect the up axis"):
        load_bvh(path)
    assert load_bvh(path, up="y").up == "y"


def test_a_t_pose_at_the_start_is_detected_and_is_not_part_of_the_motion() -> None:
    cmu, mixamo = (load_bvh(find_motion(f"walk_and_reach{end}")) for end in ("", "_mixamo"))
    assert (cmu.rest_frame, cmu.first_frame) == (0, 1)
    assert (mixamo.rest_frame, mixamo.first_frame) == (None, 0)
    assert cmu.duration == pytest.approx(mixamo.duration)


def test_an_unknown_joint_is_reported_with_the_valid_ones() -> None:
    data = load_bvh(find_motion("wave"))
    with pytest.raises(BVHError, match=r"no joint named 'Tail'.*Hips"):
        data.index("Tail")


@needs_clips
@pytest.mark.parametrize("name", ["02_01", "05_02", "38_03", "62_20"])
def test_real_recordings_need_no_options(name: str) -> None:
    data = load_bvh(clip(name))
    assert data.unit == CMU_UNIT
    assert data.rest_frame == 0
    assert 0.75 < np.median(data.positions[1:, 0, 2]) < 1.1  # Hips.


@needs_clips
def test_a_real_person_has_the_known_bone_lengths() -> None:
    data = load_bvh(clip("02_01"))

    def bone(start: str, end: str) -> float:
        ends = data.positions[5, [data.index(start), data.index(end)]]
        return float(np.linalg.norm(ends[1] - ends[0]))

    assert bone("LeftUpLeg", "LeftLeg") == pytest.approx(0.429, abs=1e-3)
    assert bone("LeftLeg", "LeftFoot") == pytest.approx(0.411, abs=1e-3)
    assert bone("LeftArm", "LeftForeArm") == pytest.approx(0.275, abs=1e-3)
    assert bone("LeftForeArm", "LeftHand") == pytest.approx(0.189, abs=1e-3)
    speed = np.linalg.norm(np.diff(data.positions[1:, 0, :2], axis=0), axis=1) / data.frame_time
    assert float(speed.mean()) == pytest.approx(1.17, abs=0.05)


def test_our_cmu_motions_are_in_cmu_units() -> None:
    assert load_bvh(find_motion("wave")).unit == CMU_UNIT
    assert cmu_skeleton().has_rest_frame


def _with_z_up(text: str) -> str:
    """Return the same skeleton with z instead of y, and -y instead of z."""
    lines = []
    motion = False
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["OFFSET"]:
            x, y, z = (float(word) for word in words[1:])
            line = f"OFFSET {x} {-z} {y}"
        elif words[:1] == ["CHANNELS"]:
            # Positions become x, -z, y; the axes y and z of rotations become z and -y.
            line = line.replace("Zrotation Yrotation", "Yrotation Zrotation")
        elif motion:
            values = [float(word) for word in words]
            values[:3] = [values[0], -values[2], values[1]]
            values[3::3] = [-value for value in values[3::3]]
            line = " ".join(f"{value:.4f}" for value in values)
        motion = motion or words[:2] == ["Frame", "Time:"]
        lines.append(line)
    return "\n".join(lines)
