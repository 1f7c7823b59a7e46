# SPDX-License-Identifier: Apache-2.0
"""Loads a BVH file: all joints of all frames in [m] and ROS axes."""

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
"""Length of the unit of the CMU recordings in [m]."""
UNITS: dict[float, tuple[float, float]] = {
    1.0: (1.2, 2.2),
    0.01: (120.0, 220.0),
    0.0254: (45.0, 90.0),
    CMU_UNIT: (22.0, 32.0),
}
"""Length of a unit in [m], and the heights of a person in such units that tell it."""
TALLEST, SMALLEST = 2.5, 0.8
"""Heights of a person in [m] that a given unit may lead to."""

HEAD = re.compile(r"head\d*$", re.IGNORECASE)
FOOT = re.compile(r"(foot|ankle)$", re.IGNORECASE)

MANY = 70.0
"""Percentile of the joints' turns that is looked at: both arms are more than a third of them."""
REST_JUMP = np.deg2rad(10.0)
"""Turn of many joints from frame 0 to frame 1 in [rad] that nobody makes: frame 0 is a T-pose."""
REST_RATIO = 4.0
"""How much larger than any later turn of many joints it has to be."""


@dataclass(frozen=True, slots=True, eq=False)
class BVHData:
    """A recorded motion in ROS axes: x ahead, y to the left, z up.

    Attributes:
        path: The file.
        names: The joints, parents first.
        parents: Index of each joint's parent; -1 for the root.
        frame_time: Time between two frames in [s].
        positions: Where the joints are in [m], shape (F, J, 3).
        orientations: Unit quaternions xyzw, shape (F, J, 4).
        ends: Tips beyond the last joints in their own frames in [m], by index.
        rest: Joints with nothing turned, the root at the origin, in [m], shape (J, 3).
        unit: Length of the file's unit in [m].
        up: Axis of the file that points up.
        rest_frame: Index of a T-pose that is no motion, always 0; None where there is none.
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
        """Frames, a T-pose included."""
        return len(self.positions)

    @property
    def first_frame(self) -> int:
        """The first frame that was captured."""
        return 0 if self.rest_frame is None else self.rest_frame + 1

    @property
    def duration(self) -> float:
        """Time from the first captured frame to the last in [s]."""
        return (self.frame_count - 1 - self.first_frame) * self.frame_time

    def index(self, name: str) -> int:
        """Return the index of a joint.

        Raises:
            BVHError: There is no such joint; the message lists those that there are.
        """
        if name not in self.names:
            raise BVHError(
                f"no joint named {name!r}; there are: {', '.join(self.names)}", self.path
            )
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
        unit: Length of its unit in [m]; None tells it from the person's height.
        up: Axis that points up, "y" or "z"; None tells it from where the head is.
        rest_frame: Whether frame 0 is a T-pose that is no motion; None tells it from the jump
            after it.

    Raises:
        BVHError: The file cannot be read, or nobody can tell its units or its axes.
        MissingExtraError: bvhio is not installed.
    """
    path = Path(path).expanduser()
    return _load(path, _stamp(path), unit, up, rest_frame)


@functools.lru_cache(maxsize=4)
def _load(
    path: Path, stamp: int, unit: float | None, up: str | None, rest_frame: bool | None
) -> BVHData:
    """Load a file; trackers of one person share it as long as the file is the same."""
    text = read_bvh(path)
    raw, turns = forward_kinematics(text)
    if not np.abs(raw).max() < 1e9:
        raise BVHError(f"positions up to {np.abs(raw).max():.3g} are no motion", path)
    up = up or _find_up(path, text, raw)
    unit = _find_unit(path, text, unit)
    orientations = bvh_to_ros2_quaternion(turns, up)
    positions = bvh_to_ros2_position(raw, unit, up)
    if rest_frame is None:
        rest_frame = _has_rest_frame(positions, orientations)
    if rest_frame and len(raw) < 2:
        raise BVHError("there is no frame besides the T-pose", path)
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


def _stamp(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError as error:
        raise BVHError(error.strerror or "cannot be read", path) from error


def _find_up(path: Path, text: BVHText, raw: Array) -> str:
    """Return the axis along which heads are above feet."""
    heads = [place for place, name in enumerate(text.names) if HEAD.search(name)]
    feet = [place for place, name in enumerate(text.names) if FOOT.search(name)]
    if not heads or not feet:
        return "y"  # As the format has it.
    across = (raw[:, heads[-1]] - raw[:, feet].mean(axis=1)).mean(axis=0)
    axis = int(np.argmax(np.abs(across)))
    name = "xyz"[axis]
    if name not in BVH_UP_AXES or across[axis] < 0.0:
        raise BVHError(
            f"the head is {across.round(2).tolist()} from the feet; cannot tell what is up: "
            f"say up={' or up='.join(BVH_UP_AXES)}",
            path,
        )
    return name


def _find_unit(path: Path, text: BVHText, unit: float | None) -> float:
    """Return the length of a unit in [m], and make sure that it leads to a person's height."""
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
        raise BVHError("nobody can tell the units without a head and feet: say unit=", path)
    for candidate, (low, high) in UNITS.items():
        if low < height < high:
            return candidate
    known = "; ".join(
        f"{low:g} to {high:g} of {size:.4g} m" for size, (low, high) in UNITS.items()
    )
    raise BVHError(
        f"a person of {height:.3g} units is in no known unit ({known}): say unit=", path
    )


def _height(text: BVHText) -> float | None:
    """Return a person's height in units, along the bones from a foot by the root to the head."""
    heads = [place for place, name in enumerate(text.names) if HEAD.search(name)]
    feet = [place for place, name in enumerate(text.names) if FOOT.search(name)]
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
    """Tell whether frame 0 was put in front: the person leaps out of it on the spot."""
    if len(positions) < 4:
        return False
    moved = float(np.linalg.norm(positions[1, 0] - positions[0, 0]))
    later = float(np.linalg.norm(np.diff(positions[1:, 0], axis=0), axis=1).max())
    # Many joints at once: toes and thumbs of real recordings flip now and then.
    turns = np.percentile(quat_distance(orientations[1:], orientations[:-1]), MANY, axis=1)
    leap, usual = float(turns[0]), float(turns[1:].max())
    on_spot = moved <= max(0.5 * later, 1e-6)
    return on_spot and leap > REST_JUMP and leap > REST_RATIO * usual
