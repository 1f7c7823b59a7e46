# SPDX-License-Identifier: Apache-2.0
"""Small BVH files for tests, and the paths of real ones."""

import os
from pathlib import Path

import numpy as np
import pytest

CLIPS = os.environ.get("TELEOP_BVH_DIR", "")
needs_clips = pytest.mark.skipif(
    not CLIPS, reason="TELEOP_BVH_DIR does not name a folder with CMU recordings"
)

ARM = """\
HIERARCHY
ROOT Base
{
\tOFFSET 0 0 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT Upper
\t{
\t\tOFFSET 0 2 0
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tJOINT Lower
\t\t{
\t\t\tOFFSET 1.5 0 0
\t\t\tCHANNELS 3 Yrotation Xrotation Zrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 1 0 0
\t\t\t}
\t\t}
\t}
}
MOTION
Frames: 3
Frame Time: .04
1 2 3 10 20 30 40 50 60 -70 80 -90
0 0 0 0 0 0 0 0 0 0 0 0
-1 .5 1e0 -15 5 25 90 0 0 0 90 0
"""
"""Three joints with different channel orders and numbers as in real files."""


def clip(name: str) -> Path:
    """Return one of the real recordings."""
    return Path(CLIPS) / f"{name}.bvh"


def write(folder: Path, text: str, name: str = "test.bvh") -> Path:
    """Write a file, and return it."""
    path = folder / name
    path.write_bytes(text.encode())
    return path


def rotation(axis: str, degrees: float) -> np.ndarray:
    """Return a rotation matrix, written as in a textbook."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return {
        "X": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "Y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "Z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]
