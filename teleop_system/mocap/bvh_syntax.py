# SPDX-License-Identifier: Apache-2.0
"""Reads the text of a BVH file; errors name the line.

bvhio parses the skeleton. It loops forever on a truncated file and restarts its line numbers in
every joint, so the text is checked first. It also stores every frame of every joint as an object,
so the frames are read here, all at once.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import BVHError, MissingExtraError

Array = NDArray[np.float64]

CHANNELS = tuple(f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ")
MAX_JOINTS = 2000
LONGEST_FRAME = 10.0
"""Longest plausible time between two frames in [s]."""


@dataclass(frozen=True, slots=True, eq=False)
class BVHText:
    """Content of a BVH file, in its own axes and units.

    Attributes:
        names: The joints, parents first, in the order of the file.
        parents: Index of each joint's parent; -1 for the root.
        offsets: Position of each joint in its parent's frame, shape (J, 3).
        ends: Position of each end site in the frame of its joint, by joint index.
        channels: Channel names of each joint, in order.
        frame_time: Time between two frames in [s].
        values: Channel values of all frames, shape (F, C).
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array
    ends: dict[int, Array]
    channels: tuple[tuple[str, ...], ...]
    frame_time: float
    values: Array


def read_bvh(path: Path) -> BVHText:
    """Return the content of a file.

    Raises:
        BVHError: The file cannot be read; the message names the line.
        MissingExtraError: bvhio is not installed.
    """
    try:
        import bvhio
    except ImportError as error:
        raise MissingExtraError("bvhio", "mocap") from error
    checker = _Checker(path, _lines(path))
    channel_count = checker.check_hierarchy()
    frame_count, frame_time = checker.check_motion()
    values = checker.read_frames(frame_count, channel_count)
    container = bvhio.readAsBvh(str(path), loadKeyFrames=False)
    return _collect(container.Root, frame_time, values)


def read_names(path: Path) -> tuple[str, ...]:
    """Return the joints of a file, without reading its frames.

    Raises:
        BVHError: The skeleton cannot be read; the message names the line.
    """
    checker = _Checker(path, _lines(path))
    checker.check_hierarchy()
    return tuple(checker.names)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise BVHError("not a text file", path) from error
    except OSError as error:
        raise BVHError(error.strerror or "cannot be read", path) from error


def _collect(root: Any, frame_time: float, values: Array) -> BVHText:
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[tuple[str, ...]] = []
    ends: dict[int, Array] = {}
    waiting = [(root, -1)]
    while waiting:
        joint, parent = waiting.pop()
        index = len(names)
        names.append(joint.Name)
        parents.append(parent)
        offsets.append(list(joint.Offset))
        channels.append(tuple(joint.Channels))
        if not joint.Children:
            ends[index] = np.array(list(joint.EndSite))
        waiting += [(child, index) for child in reversed(joint.Children)]
    return BVHText(
        tuple(names), tuple(parents), np.array(offsets), ends, tuple(channels), frame_time, values
    )


class _Checker:
    """Checks a file line by line.

    Args:
        path: The file, for messages.
        lines: Its text.
    """

    def __init__(self, path: Path, lines: list[str]) -> None:
        self._path = path
        self._lines = lines
        self._line = 0
        self.names: dict[str, None] = {}

    def check_hierarchy(self) -> int:
        """Read up to the end of the skeleton; return the number of channels."""
        if self._next("HIERARCHY") != ["HIERARCHY"]:
            self._fail("expected HIERARCHY")
        if self._next("ROOT")[0] != "ROOT":
            self._fail("expected ROOT and a joint name")
        self._check_name()
        total, depth = self._check_joint(), 1
        while depth:
            tokens = self._next("JOINT, End Site or }")
            if tokens[0] == "}":
                depth -= 1
            elif tokens[0] == "JOINT":
                self._check_name()
                total += self._check_joint()
                depth += 1
            elif tokens[0] == "End":
                self._expect_brace()
                self._check_offset()
                if self._next("}") != ["}"]:
                    self._fail("expected } after the OFFSET of an End Site")
            else:
                self._fail(f"expected JOINT, End Site or }}, got {tokens[0]!r}")
        return total

    def check_motion(self) -> tuple[int, float]:
        """Read the lines above the frames; return the number of frames and the frame time [s]."""
        if self._next("MOTION") != ["MOTION"]:
            self._fail("expected MOTION after the skeleton")
        tokens = self._next("Frames:")
        if len(tokens) != 2 or tokens[0] != "Frames:" or not tokens[1].isdigit():
            self._fail("expected 'Frames:' and a whole number")
        count = int(tokens[1])
        if count < 1:
            self._fail("the file has no frames")
        tokens = self._next("Frame Time:")
        if len(tokens) != 3 or tokens[:2] != ["Frame", "Time:"]:
            self._fail("expected 'Frame Time:' and a time in seconds")
        time = self._number(tokens[2])
        if not 0.0 < time <= LONGEST_FRAME:
            self._fail(f"frame time must be above 0 and at most {LONGEST_FRAME} s, got {time}")
        return count, time

    def read_frames(self, count: int, width: int) -> Array:
        """Return the frames, shape (count, width)."""
        first = self._line
        rows = [number for number in range(first, len(self._lines)) if self._lines[number].strip()]
        for number in rows:
            found = len(self._lines[number].split())
            if found != width:
                self._line = number + 1
                self._fail(f"expected {width} numbers, one per channel, got {found}")
        if len(rows) != count:
            self._line = rows[-1] + 1 if rows else first
            problem = "is truncated" if len(rows) < count else "has too many frames"
            self._fail(f"the file {problem}: expected {count} frames, got {len(rows)}")
        try:
            values = np.array(" ".join(self._lines[first:]).split(), dtype=np.float64)
        except ValueError:
            values = np.full(count * width, math.nan)
        frames: Array = values.reshape(count, width)
        broken = np.flatnonzero(~np.isfinite(frames).all(axis=1))
        if broken.size:
            self._line = rows[int(broken[0])] + 1
            for token in self._lines[self._line - 1].split():
                self._number(token)
        return frames

    def _check_name(self) -> None:
        tokens, names = self._lines[self._line - 1].split(), self.names
        if len(tokens) != 2:
            self._fail(f"expected {tokens[0]} and one name")
        if tokens[1] in names:
            self._fail(f"joint {tokens[1]!r} is defined twice")
        if len(names) >= MAX_JOINTS:
            self._fail(f"more than {MAX_JOINTS} joints")
        names[tokens[1]] = None

    def _check_joint(self) -> int:
        self._expect_brace()
        self._check_offset()
        tokens = self._next("CHANNELS")
        if tokens[0] != "CHANNELS" or len(tokens) < 2 or not tokens[1].isdigit():
            self._fail("expected CHANNELS and their number")
        names = tokens[2:]
        if int(tokens[1]) != len(names):
            self._fail(f"expected {tokens[1]} channel names, got {len(names)}")
        for name in names:
            if name not in CHANNELS:
                self._fail(f"unknown channel {name!r}; valid channels: {', '.join(CHANNELS)}")
            if names.count(name) > 1:
                self._fail(f"channel {name!r} is named twice")
        return len(names)

    def _expect_brace(self) -> None:
        if self._next("{") != ["{"]:
            self._fail("expected {")

    def _check_offset(self) -> None:
        tokens = self._next("OFFSET")
        if tokens[0] != "OFFSET" or len(tokens) != 4:
            self._fail("expected OFFSET and three numbers")
        for token in tokens[1:]:
            self._number(token)

    def _number(self, token: str) -> float:
        try:
            value = float(token)
        except ValueError:
            self._fail(f"expected a number, got {token!r}")
        if not math.isfinite(value):
            self._fail(f"expected a finite number, got {token!r}")
        return value

    def _next(self, expected: str) -> list[str]:
        """Return the words of the next non-empty line."""
        while self._line < len(self._lines):
            self._line += 1
            tokens = self._lines[self._line - 1].split()
            if tokens:
                return tokens
        self._fail(f"the file is truncated; expected {expected}")

    def _fail(self, message: str) -> NoReturn:
        raise BVHError(message, self._path, max(self._line, 1))
