# SPDX-License-Identifier: Apache-2.0
"""Records samples with stamps and writes them to one `.npz` file.

Recording a sample copies its numbers into memory; a separate thread writes the file at the end,
so control never waits for the disk.
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
from teleop_system.utils.table import Table

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

STAMP = "_stamp"
"""Suffix of the arrays of stamps."""
NOTES = "notes"
VALUES = "values"


class DataRecorder:
    """Named streams of samples; every sample has a stamp.

    Args:
        limit: Largest number of samples per stream; later ones are dropped.

    Attributes:
        dropped: Number of dropped samples.
        notes: Further facts to write: JSON values by name.
    """

    def __init__(self, limit: int = 1_000_000) -> None:
        self._limit = limit
        self._streams: dict[str, Table] = {}
        self._writer: threading.Thread | None = None
        self.dropped = 0
        self.notes: dict[str, Any] = {}

    def __len__(self) -> int:
        return sum(len(table) for table in self._streams.values())

    def record(self, name: str, stamp: float, values: Sequence[float] | Array) -> None:
        """Record the values that were measured at `stamp` [s].

        Raises:
            InvalidValueError: Earlier samples of this stream had another number of values.
        """
        table = self._streams.get(name)
        if table is None:
            table = self._streams[name] = Table({STAMP: 1, VALUES: len(values)})
        if len(table) >= self._limit:
            self.dropped += 1
            return
        width = table.slices[VALUES].stop - 1
        if len(values) != width:
            raise InvalidValueError(f"{name} has {width} numbers, got {len(values)}")
        row = table.new_row()
        row[0], row[1:] = stamp, values

    def record_pose(self, name: str, pose: Pose6D) -> None:
        """Record a pose: position [m] and orientation xyzw; NaN if it is not valid."""
        values = (*pose.position.tolist(), *pose.orientation.tolist())
        self.record(name, pose.timestamp, values if pose.valid else [np.nan] * 7)

    def record_hand(self, name: str, state: HandJointState) -> None:
        """Record the angles of a hand [rad]; NaN if they are not valid."""
        angles = state.joint_angles
        self.record(name, state.timestamp, angles if state.valid else np.full(len(angles), np.nan))

    def arrays(self) -> dict[str, Array]:
        """Return the values of each stream by name, and the stamps by name plus `_stamp`."""
        found: dict[str, Array] = {}
        for name, table in self._streams.items():
            found[name] = table.column(VALUES).reshape(len(table), -1)
            found[name + STAMP] = table.column(STAMP)
        return found

    def save(self, path: Path) -> Path:
        """Write all streams and notes, and return the file."""
        _write(path, self._contents())
        return path

    def save_in_background(self, path: Path) -> None:
        """Write the streams and notes so far without blocking; `join()` waits for the end."""
        arrays = self._contents()

        def write() -> None:
            try:
                _write(path, arrays)
            except OSError as error:
                logger.error("%s cannot be written: %s", path, error)

        self.join()
        self._writer = threading.Thread(target=write, name="data recorder")
        self._writer.start()

    def _contents(self) -> dict[str, Any]:
        return {**self.arrays(), NOTES: np.array(json.dumps(self.notes))}

    def join(self) -> None:
        """Wait until the file is written."""
        if self._writer is not None:
            self._writer.join()
            self._writer = None


def load_recording_notes(path: Path) -> dict[str, Any]:
    """Return the notes of a file that a `DataRecorder` wrote.

    Raises:
        ConfigError: The file is missing, is not a recording, or has no notes.
    """
    notes = load_recording_arrays(path, notes=True).get(NOTES)
    try:
        found = json.loads(str(notes))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}: cannot read the notes: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: the recording has no notes")
    return found


def load_recording_arrays(path: Path, *, notes: bool = False) -> dict[str, Array]:
    """Return the arrays of a file that a `DataRecorder` wrote, without or with the notes.

    Raises:
        ConfigError: The file is missing or is not a recording.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files if notes or name != NOTES}
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{path}: not a recording: {error}") from error


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez(
            file, **arrays
        )  # Uncompressed: compression would compete with control for the CPU.
