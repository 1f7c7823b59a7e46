# SPDX-License-Identifier: Apache-2.0
"""Keeps what went in and what came out, with stamps, and writes it to one `.npz` file.

Keeping a sample copies its numbers into memory that is there already; the file is written by a
thread of its own after the fact, so that no loop ever waits for it.
"""

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, InvalidValueError
from teleop_system.interfaces import HandJointState, Pose6D

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

BLOCK = 4096
"""Rows that are made at once: forty seconds at 100 Hz."""
STAMP = "_stamp"
NOTES = "notes"


class DataRecorder:
    """Courses of numbers by name, each with a stamp of its own.

    Args:
        limit: Most samples to keep of each course; later ones are dropped, and counted.

    Attributes:
        dropped: Samples that found no room.
        notes: What else to write: values that JSON can hold, by name.
    """

    def __init__(self, limit: int = 1_000_000) -> None:
        self._limit = limit
        self._courses: dict[str, _Course] = {}
        self._writer: threading.Thread | None = None
        self.dropped = 0
        self.notes: dict[str, Any] = {}

    def __len__(self) -> int:
        return sum(course.count for course in self._courses.values())

    def record(self, name: str, stamp: float, values: Sequence[float] | Array) -> None:
        """Keep numbers that were measured at `stamp` [s].

        Raises:
            InvalidValueError: There are more or fewer of them than before under this name.
        """
        course = self._courses.get(name)
        if course is None:
            course = self._courses[name] = _Course(len(values))
        if course.count >= self._limit:
            self.dropped += 1
            return
        if len(values) != course.width:
            raise InvalidValueError(f"{name} has {course.width} numbers, got {len(values)}")
        course.append(stamp, values)

    def record_pose(self, name: str, pose: Pose6D) -> None:
        """Keep a pose: position [m] and orientation xyzw; NaN where it is not valid."""
        values = (*pose.position.tolist(), *pose.orientation.tolist())
        self.record(name, pose.timestamp, values if pose.valid else [np.nan] * 7)

    def record_hand(self, name: str, state: HandJointState) -> None:
        """Keep the angles of a hand [rad]; NaN where they are not valid."""
        angles = state.joint_angles
        self.record(name, state.timestamp, angles if state.valid else np.full(len(angles), np.nan))

    def arrays(self) -> dict[str, Array]:
        """Return what was kept: values by name, and stamps by name with `_stamp` behind it."""
        found: dict[str, Array] = {}
        for name, course in self._courses.items():
            rows = course.rows()
            found[name], found[name + STAMP] = rows[:, 1:], rows[:, 0]
        return found

    def save(self, path: Path) -> Path:
        """Write what was kept, and return the file."""
        _write(path, self._everything())
        return path

    def save_in_background(self, path: Path) -> None:
        """Write what was kept so far while whoever asked goes on; `join()` waits for it."""
        arrays = self._everything()

        def write() -> None:
            try:
                _write(path, arrays)
            except OSError as error:
                logger.error("%s cannot be written: %s", path, error)

        self.join()
        self._writer = threading.Thread(target=write, name="data recorder")
        self._writer.start()

    def _everything(self) -> dict[str, Any]:
        return {**self.arrays(), NOTES: np.array(json.dumps(self.notes))}

    def join(self) -> None:
        """Wait until nothing is left to be written."""
        if self._writer is not None:
            self._writer.join()
            self._writer = None


def load_recording_notes(path: Path) -> dict[str, Any]:
    """Return the notes of a file that a `DataRecorder` wrote.

    Raises:
        ConfigError: The file is missing, no such file, or has none.
    """
    notes = load_recording_arrays(path, notes=True).get(NOTES)
    try:
        found = json.loads(str(notes))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}: its notes cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: it has no notes")
    return found


def load_recording_arrays(path: Path, *, notes: bool = False) -> dict[str, Array]:
    """Return the arrays of a file that a `DataRecorder` wrote; the notes among them on request.

    Raises:
        ConfigError: The file is missing or no such file.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files if notes or name != NOTES}
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{path}: not a recording: {error}") from error


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez(file, **arrays)  # Packing it would take the processor from whoever goes on.


class _Course:
    """Rows of one name: the stamp, then the values."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._blocks = [np.empty((BLOCK, width + 1))]

    def append(self, stamp: float, values: Sequence[float] | Array) -> None:
        place = self.count % BLOCK
        if self.count and place == 0:
            self._blocks.append(np.empty((BLOCK, self.width + 1)))
        row = self._blocks[-1][place]
        row[0] = stamp
        row[1:] = values
        self.count += 1

    def rows(self) -> Array:
        rows: Array = np.concatenate(self._blocks)[: self.count]
        return rows
