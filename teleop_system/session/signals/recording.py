# SPDX-License-Identifier: Apache-2.0
"""Recording of the operator's samples, tick by tick, so that a run can be repeated exactly."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.devices.signal_catalogue import HAND_INPUT, SIGNALS, OperatorSample
from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import HandJointState, Pose6D
from teleop_system.interfaces.causes import Cause
from teleop_system.interfaces.master_device import FINGER_COUNT, HAND_JOINT_COUNT
from teleop_system.session.signals.hub import ISignalSource, Samples
from teleop_system.utils.table import Table

Array = NDArray[np.float64]

TIME, REQUESTS = "time", "requests"
HEADER_SIZE = 2
"""Numbers before the values of a sample: valid (NaN without a sample) and stamp."""
POSE_SIZE = 7
TIPS_SIZE = 3 * FINGER_COUNT


class RecordedTick(NamedTuple):
    """Inputs of one tick.

    Attributes:
        time: Time of the tick in [s].
        requests: Requests of the operator, encoded.
        samples: Samples of the operator's devices.
    """

    time: float
    requests: float
    samples: Samples


class InputRecorder:
    """Keeps the inputs of every tick in memory.

    Args:
        signals: The signals to keep.
        limit: Largest number of ticks to keep; the oldest are dropped.
    """

    def __init__(self, signals: Iterable[str], limit: int | None = None) -> None:
        widths = {name: HEADER_SIZE + _size(name) for name in signals}
        self.table = Table({TIME: 1, REQUESTS: 1, **widths}, limit)
        self._columns = {name: self.table.slices[name] for name in widths}

    def record(self, now: float, requests: float, samples: Samples) -> None:
        """Keep the inputs of the tick at time `now` [s]."""
        row = self.table.new_row()
        row[0], row[1] = now, requests
        for name, columns in self._columns.items():
            sample, part = samples.get(name), row[columns]
            if sample is None:
                continue
            part[0], part[1], values = sample.valid, sample.timestamp, part[HEADER_SIZE:]
            if isinstance(sample, Pose6D):
                values[:3], values[3:] = sample.position, sample.orientation
                continue
            values[:HAND_JOINT_COUNT] = sample.joint_angles
            if sample.finger_tip_positions is not None:
                values[HAND_JOINT_COUNT:] = sample.finger_tip_positions.ravel()

    def save(self, path: Path) -> Path:
        """Write the inputs to a `.npz` file."""
        return self.table.save(path)


class InputRecording:
    """The inputs of a finished run.

    Args:
        columns: Arrays by name, as an `InputRecorder` writes them.
    """

    def __init__(self, columns: dict[str, Array]) -> None:
        missing = {TIME, REQUESTS} - columns.keys()
        if missing:
            raise ConfigError(f"not a recording of inputs: missing {', '.join(sorted(missing))}")
        self._columns = columns
        self.signals = tuple(name for name in columns if name in SIGNALS)

    @classmethod
    def load(cls, path: Path) -> "InputRecording":
        """Return the recording in a file.

        Raises:
            ConfigError: The file is missing or is not a recording of inputs.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                return cls({name: archive[name] for name in archive.files})
        except (OSError, ValueError, EOFError) as error:
            raise ConfigError(f"{path}: not a recording of inputs: {error}") from error

    def __len__(self) -> int:
        return int(self._columns[TIME].size)

    def __getitem__(self, tick: int) -> RecordedTick:
        samples: Samples = {name: _read(name, self._columns[name][tick]) for name in self.signals}
        time, requests = self._columns[TIME][tick], self._columns[REQUESTS][tick]
        return RecordedTick(float(time), float(requests), samples)


class RecordedSource(ISignalSource):
    """Delivers the samples of a recording, tick by tick.

    Args:
        recording: The recording.
    """

    def __init__(self, recording: InputRecording) -> None:
        self._recording = recording
        self._tick = 0

    @override
    def connect(self) -> None:
        self._tick = 0

    @override
    def read(self, now: float) -> Samples:
        if self._tick >= len(self._recording):
            return {}
        samples = self._recording[self._tick].samples
        self._tick += 1
        return samples

    @property
    @override
    def causes(self) -> tuple[Cause, ...]:
        return ()

    @override
    def close(self) -> None:
        pass


def _size(signal: str) -> int:
    is_hand = SIGNALS[signal].kind == HAND_INPUT
    return HAND_JOINT_COUNT + TIPS_SIZE if is_hand else POSE_SIZE


def _read(signal: str, row: Array) -> OperatorSample | None:
    if np.isnan(row[0]):
        return None
    valid, stamp, values = bool(row[0]), float(row[1]), row[HEADER_SIZE:]
    if SIGNALS[signal].kind != HAND_INPUT:
        return Pose6D(values[:3], values[3:], stamp, valid)
    angles, tips = values[:HAND_JOINT_COUNT], values[HAND_JOINT_COUNT:]
    known = None if np.isnan(tips[0]) else tips.reshape(FINGER_COUNT, 3)
    return HandJointState(angles, known, stamp, SIGNALS[signal].worn_at, valid)
