# SPDX-License-Identifier: Apache-2.0
"""Loads a BVH file: poses of all joints in all frames, in [m] and ROS axes."""

import functools
import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import BVHError
from teleop_system.mocap.bvh_kinematics import forward_kinematics, rest_positions
from teleop_system.mocap.bvh_syntax import BVHText, read_bvh
from teleop_system.utils.frames import BVH_UP_AXES
from teleop_system.utils.transforms import (
    bvh_to_ros2_position,
    bvh_to_ros2_quaternion,
    quat_distance,
)

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

CMU_UNIT = 0.0254 / 0.45
"""Length unit of the CMU recordings in [m]."""
UNITS: dict[float, tuple[float, float]] = {
    1.0: (1.2, 2.2),
    0.01: (120.0, 220.0),
    0.0254: (45.0, 90.0),
    CMU_UNIT: (22.0, 32.0),
}
"""Length of a unit in [m], and the range of a person's height in such units."""
TALLEST, SMALLEST = 2.5, 0.8
"""Plausible range of a person's height in [m] for a given unit."""

HEAD = re.compile(r"head\d*$", re.IGNORECASE)
FOOT = re.compile(r"(foot|ankle)$", re.IGNORECASE)

JOINT_PERCENTILE = 70.0
"""Percentile of the joints' rotations to compare; both arms are over a third of the joints."""
REST_JUMP = np.deg2rad(10.0)
"""Rotation from frame 0 to frame 1 in [rad] above which frame 0 is a T-pose, not motion."""
REST_RATIO = 4.0
"""Smallest ratio of that rotation to the largest later one."""


@dataclass(frozen=True, slots=True, eq=False)
class BVHData:
    """A recorded motion in ROS axes: x ahead, y to the left, z up.

    Attributes:
        path: The file.
        names: The joints, parents first.
        parents: Index of each joint's parent; -1 for the root.
        frame_time: Time between two frames in [s].
        positions: Joint positions in [m], shape (F, J, 3).
        orientations: Joint orientations, unit quaternions xyzw, shape (F, J, 4).
        ends: Position of each end site in the frame of its joint in [m], by joint index.
        rest: Joint positions without any rotation, root at the origin, in [m], shape (J, 3).
        unit: Length of the file's unit in [m].
        up: Axis of the file that points up.
        rest_frame: Index of a T-pose before the motion, always 0; None without one.
    """

    path: Path
    names: tuple[str, ...]
    parents: tuple[int, ...]
    frame_time: float
    positions: Array
    orientations: Array
    ends: dict[int, Array]
    rest: Array
    unit: float
    up: str
    rest_frame: int | None

    @property
    def frame_count(self) -> int:
        """Number of frames, including a T-pose."""
        return len(self.positions)

    @property
    def first_frame(self) -> int:
        """Index of the first captured frame."""
        return 0 if self.rest_frame is None else self.rest_frame + 1

    @property
    def duration(self) -> float:
        """Time from the first captured frame to the last in [s]."""
        return (self.frame_count - 1 - self.first_frame) * self.frame_time

    def index(self, name: str) -> int:
        """Return the index of a joint.

        Raises:
            BVHError: The joint is unknown; the message lists the valid names.
        """
        if name not in self.names:
            raise BVHError(f"no joint named {name!r}; joints: {', '.join(self.names)}", self.path)
        return self.names.index(name)


def load_bvh(
    path: Path | str,
    *,
    unit: float | None = None,
    up: str | None = None,
    rest_frame: bool | None = None,
) -> BVHData:
    """Return the motion of a file.

    Args:
        path: The file.
        unit: Length of its unit in [m]; None detects it from the person's height.
        up: Axis that points up, "y" or "z"; None detects it from head and feet.
        rest_frame: Whether frame 0 is a T-pose before the motion; None detects it from the jump
            to frame 1.

    Raises:
        BVHError: The file cannot be read, or its unit or axes cannot be detected.
        MissingExtraError: bvhio is not installed.
    """
    path = Path(path).expanduser()
    return _load_file(path, _modified_at(path), unit, up, rest_frame)


@functools.lru_cache(maxsize=4)
def _load_file(
    path: Path, modified_at: int, unit: float | None, up: str | None, rest_frame: bool | None
) -> BVHData:
    """Load a file; the devices of one person share the result until the file changes."""
    text = read_bvh(path)
    raw, rotations = forward_kinematics(text)
    if not np.abs(raw).max() < 1e9:
        raise BVHError(f"positions must be below 1e9, got {np.abs(raw).max():.3g}", path)
    up = up or _find_up(path, text, raw)
    unit = _find_unit(path, text, unit)
    orientations = bvh_to_ros2_quaternion(rotations, up)
    positions = bvh_to_ros2_position(raw, unit, up)
    if rest_frame is None:
        rest_frame = _has_rest_frame(positions, orientations)
    if rest_frame and len(raw) < 2:
        raise BVHError("the T-pose is the only frame", path)
    rest = rest_positions(text)
    for array in (positions, orientations):
        array.setflags(write=False)
    return BVHData(
        path=path,
        names=text.names,
        parents=text.parents,
        frame_time=text.frame_time,
        positions=positions,
        orientations=orientations,
        ends={joint: bvh_to_ros2_position(end, unit, up) for joint, end in text.ends.items()},
        rest=bvh_to_ros2_position(rest - rest[0], unit, up),
        unit=unit,
        up=up,
        rest_frame=0 if rest_frame else None,
    )


def _modified_at(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError as error:
        raise BVHError(error.strerror or "cannot be read", path) from error


def _find_up(path: Path, text: BVHText, raw: Array) -> str:
    """Return the axis along which the head is above the feet."""
    heads, feet = _find_joints(text, HEAD), _find_joints(text, FOOT)
    if not heads or not feet:
        return "y"  # The convention of the format.
    offset = (raw[:, heads[-1]] - raw[:, feet].mean(axis=1)).mean(axis=0)
    axis = int(np.argmax(np.abs(offset)))
    name = "xyz"[axis]
    if name not in BVH_UP_AXES or offset[axis] < 0.0:
        raise BVHError(
            f"cannot detect the up axis: the head is at {offset.round(2).tolist()} from the feet; "
            f"set up={' or up='.join(BVH_UP_AXES)}",
            path,
        )
    return name


def _find_joints(text: BVHText, pattern: re.Pattern[str]) -> list[int]:
    return [index for index, name in enumerate(text.names) if pattern.search(name)]


def _find_unit(path: Path, text: BVHText, unit: float | None) -> float:
    """Return the length of a unit in [m]; it must give a plausible height of the person."""
    height = _height(text)
    if unit is not None:
        if not unit > 0.0:
            raise BVHError(f"the length of a unit must be positive, got {unit}", path)
        if height is not None and not SMALLEST <= unit * height <= TALLEST:
            raise BVHError(
                f"with units of {unit:g} m the person would be {unit * height:.3g} m tall", path
            )
        return unit
    if height is None:
        raise BVHError("cannot detect the unit without a head and feet: set unit=", path)
    for candidate, (low, high) in UNITS.items():
        if low < height < high:
            return candidate
    heights = "; ".join(
        f"{low:g} to {high:g} units of {size:.4g} m" for size, (low, high) in UNITS.items()
    )
    raise BVHError(
        f"cannot detect the unit: the person is {height:.3g} units tall, plausible are {heights}; "
        "set unit=",
        path,
    )


def _height(text: BVHText) -> float | None:
    """Return a person's height in units: bone lengths from a foot over the root to the head."""
    heads, feet = _find_joints(text, HEAD), _find_joints(text, FOOT)
    if not heads or not feet:
        return None
    lengths = np.linalg.norm(text.offsets, axis=1)

    def to_root(joint: int) -> float:
        total = 0.0
        while text.parents[joint] >= 0:
            total += float(lengths[joint])
            joint = text.parents[joint]
        return total

    head = heads[-1]
    tip = float(np.linalg.norm(text.ends[head])) if head in text.ends else 0.0
    return to_root(feet[0]) + to_root(head) + tip


def _has_rest_frame(positions: Array, orientations: Array) -> bool:
    """Return whether frame 0 is a T-pose: joints jump after it while the root stays in place."""
    if len(positions) < 4:
        return False
    moved = float(np.linalg.norm(positions[1, 0] - positions[0, 0]))
    later = float(np.linalg.norm(np.diff(positions[1:, 0], axis=0), axis=1).max())
    # A percentile over joints: toes and thumbs of real recordings flip sometimes.
    angles = quat_distance(orientations[1:], orientations[:-1])
    rotations = np.percentile(angles, JOINT_PERCENTILE, axis=1)
    jump, usual = float(rotations[0]), float(rotations[1:].max())
    root_stays = moved <= max(0.5 * later, 1e-6)
    return root_stays and jump > REST_JUMP and jump > REST_RATIO * usual
