# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of all frames at once, against matrices and against bvhio."""

from pathlib import Path

import numpy as np
import pytest

from teleop_system.mocap.bvh_kinematics import forward_kinematics
from teleop_system.mocap.bvh_syntax import read_bvh
from teleop_system.utils.transforms import quat_to_matrix, wxyz_to_xyzw
from tests.mocap.files import ARM, clip, needs_clips, rotation, write

# Hips, Head, LeftHand, RightHand, LeftFoot, RightFoot of 02_01 in the units of the file.
JOINTS = ("Hips", "Head", "LeftHand", "RightHand", "LeftFoot", "RightFoot")
PLACES = {
    0: "10.4194 16.7048 -30.1003 10.4906 23.9345 -30.5524 22.1319 20.5839 -30.4743 "
    "-1.3579 20.4158 -30.6268 11.8164 0.0234 -29.4755 9.0671 0.1015 -29.4755",
    1: "10.4194 16.7048 -30.1003 10.0683 23.9245 -30.0792 13.9468 14.0444 -31.4955 "
    "5.9810 14.7786 -26.3699 10.1652 1.1664 -24.3349 10.8659 1.1582 -34.1153",
    172: "10.0457 17.4888 -0.7182 9.8508 24.7287 -1.0682 13.7955 14.9919 0.7168 "
    "6.1269 14.3950 0.5038 10.1874 1.5123 -0.4524 8.6213 4.0724 -3.2493",
    343: "11.0237 17.5020 29.4538 10.9945 24.7151 28.9707 14.8367 16.3088 31.7920 "
    "8.0640 14.2121 26.6556 11.4049 2.7548 23.7505 11.0028 1.8936 33.6992",
}
TURNS = {
    (1, "RightHand"): (-0.201790, 0.473618, 0.532646, 0.671755),
    (1, "Hips"): (-0.023885, -0.084989, -0.028013, 0.995702),
    (172, "RightHand"): (-0.080755, 0.299229, 0.620915, 0.720004),
}


def test_rotations_apply_in_the_order_of_the_channels(tmp_path: Path) -> None:
    positions, rotations = forward_kinematics(read_bvh(write(tmp_path, ARM)))
    base = rotation("Z", 10) @ rotation("Y", 20) @ rotation("X", 30)
    upper = base @ rotation("Z", 40) @ rotation("Y", 50) @ rotation("X", 60)
    lower = upper @ rotation("Y", -70) @ rotation("X", 80) @ rotation("Z", -90)
    at_upper = np.array([1, 2, 3]) + base @ [0, 2, 0]
    np.testing.assert_allclose(positions[0, 1], at_upper, atol=1e-12)
    np.testing.assert_allclose(positions[0, 2], at_upper + upper @ [1.5, 0, 0], atol=1e-12)
    for joint, expected in enumerate((base, upper, lower)):
        found = quat_to_matrix(wxyz_to_xyzw(rotations[0, joint]))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_positions_of_a_joint_replace_its_offset(tmp_path: Path) -> None:
    text = ARM.replace(
        "CHANNELS 3 Zrotation Yrotation Xrotation",
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
        1,
    )
    text = (
        text[: text.index("Frames")]
        + "Frames: 1\nFrame Time: .1\n"
        + "0 5 0 0 0 0 7 8 9 0 0 0 0 0 0\n"
    )
    positions, _ = forward_kinematics(read_bvh(write(tmp_path, text)))
    np.testing.assert_allclose(positions[0], [[0, 5, 0], [7, 13, 9], [8.5, 13, 9]])


def test_all_positions_agree_with_bvhio(tmp_path: Path) -> None:
    bvhio = pytest.importorskip("bvhio")
    path = write(tmp_path, ARM)
    text = read_bvh(path)
    positions, _ = forward_kinematics(text)
    root = bvhio.readAsHierarchy(str(path))
    for frame in range(3):
        root.loadPose(frame)
        for joint, _, _ in root.layout():
            expected = list(joint.PositionWorld)
            # bvhio computes in single precision.
            position = positions[frame, text.names.index(joint.Name)]
            np.testing.assert_allclose(position, expected, atol=2e-6)


@needs_clips
def test_a_real_walk_has_the_known_positions_and_rotations() -> None:
    text = read_bvh(clip("02_01"))
    positions, rotations = forward_kinematics(text)
    columns = [text.names.index(name) for name in JOINTS]
    for frame, numbers in PLACES.items():
        expected = np.array(numbers.split(), dtype=float).reshape(-1, 3)
        # The known figures have four decimals.
        np.testing.assert_allclose(positions[frame, columns], expected, atol=6e-5)
    for (frame, name), expected_turn in TURNS.items():
        found = wxyz_to_xyzw(rotations[frame, text.names.index(name)])
        np.testing.assert_allclose(found * np.sign(found[3]), expected_turn, atol=2e-6)
