# SPDX-License-Identifier: Apache-2.0
"""Text of BVH files: what is read, and which line an error names."""

from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import BVHError
from teleop_system.mocap.bvh_syntax import read_bvh, read_names
from tests.mocap.files import ARM, write


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    text = read_bvh(write(tmp_path, ARM))
    assert text.names == ("Base", "Upper", "Lower")
    assert text.parents == (-1, 0, 1)
    assert text.channels[2] == ("Yrotation", "Xrotation", "Zrotation")
    assert text.frame_time == 0.04
    np.testing.assert_array_equal(text.offsets, [[0, 0, 0], [0, 2, 0], [1.5, 0, 0]])
    np.testing.assert_array_equal(text.ends[2], [1, 0, 0])
    np.testing.assert_array_equal(text.values[2], [-1, 0.5, 1, -15, 5, 25, 90, 0, 0, 0, 90, 0])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("ROOT Base\n", "ROOT Base\r\n"),
        lambda text: text.replace("Xrotation\n", "Xrotation \n"),
        lambda text: text + "\n\n  \n",
        lambda text: text.replace("\t", "    "),
    ],
    ids=["CRLF", "mixed line ends", "trailing spaces", "empty lines", "spaces for tabs"],
)
def test_other_ways_to_write_a_file_are_accepted(tmp_path: Path, change: object) -> None:
    plain = read_bvh(write(tmp_path, ARM))
    other = read_bvh(write(tmp_path, change(ARM), "other.bvh"))  # type: ignore[operator]
    assert other.names == plain.names
    np.testing.assert_array_equal(other.values, plain.values)


def test_names_may_contain_colons(tmp_path: Path) -> None:
    assert read_names(write(tmp_path, ARM.replace("Base", "rig:Base")))[0] == "rig:Base"


@pytest.mark.parametrize(
    ("old", "new", "part", "reason"),
    [
        ("HIERARCHY", "HIERARCHIE", "HIERARCHIE", "HIERARCHY"),
        ("ROOT Base", "JOINT Base", "JOINT Base", "ROOT"),
        ("OFFSET 0 2 0", "OFFSET 0 2", "OFFSET 0 2\n", "three numbers"),
        ("OFFSET 0 2 0", "OFFSET 0 two 0", "OFFSET 0 two", "expected a number, got 'two'"),
        ("OFFSET 0 2 0", "OFFSET 0 inf 0", "OFFSET 0 inf", "finite"),
        ("CHANNELS 3 Zrot", "CHANNELS 4 Zrot", "CHANNELS 4", "expected 4 channel names, got 3"),
        ("Zrotation\n\t\t\tEnd", "Wrotation\n\t\t\tEnd", "Wrotation", "unknown channel"),
        ("JOINT Lower", "JOINT Upper", "JOINT Upper\n\t\t{\n\t\t\tOFFSET 1.5", "defined twice"),
        ("JOINT Lower", "JOINT Lower Arm", "JOINT Lower Arm", "one name"),
        ("Frames: 3", "Frames: 0", "Frames: 0", "no frames"),
        ("Frames: 3", "Frames: three", "Frames: three", "whole number"),
        ("Frame Time: .04", "Frame Time: 0", "Frame Time: 0", "frame time"),
        ("Frame Time: .04", "Frame Rate: 25", "Frame Rate", "Frame Time:"),
        ("0 0 0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0 0", "\n0 0 0 0", "expected 12 numbers"),
        ("-70 80 -90", "-70 nan -90", "1 2 3 10", "'nan'"),
        ("-70 80 -90", "-70 8o -90", "1 2 3 10", "expected a number, got '8o'"),
        ("Frames: 3", "Frames: 4", "-1 .5", "truncated: expected 4 frames, got 3"),
        ("Frames: 3", "Frames: 2", "-1 .5", "too many frames"),
    ],
)
def test_an_error_names_its_line(
    tmp_path: Path, old: str, new: str, part: str, reason: str
) -> None:
    text = ARM.replace(old, new, 1)
    assert text != ARM
    with pytest.raises(BVHError, match=reason) as caught:
        read_bvh(write(tmp_path, text))
    expected = line_of(text, part) + part.startswith("\n")
    assert caught.value.line == expected
    assert f"test.bvh:{expected}: " in str(caught.value)


@pytest.mark.parametrize("lines", range(0, 26, 3))
def test_a_truncated_file_is_an_error(tmp_path: Path, lines: int) -> None:
    text = "\n".join(ARM.splitlines()[:lines]) + "\n"
    with pytest.raises(BVHError) as caught:
        read_bvh(write(tmp_path, text))
    assert caught.value.line is not None
    assert caught.value.line >= lines - 1


def test_a_file_that_is_missing_or_binary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BVHError, match="No such file"):
        read_bvh(tmp_path / "nowhere.bvh")
    (tmp_path / "film.bvh").write_bytes(bytes(range(256)))
    with pytest.raises(BVHError, match="not a text file"):
        read_bvh(tmp_path / "film.bvh")
