# SPDX-License-Identifier: Apache-2.0
"""Recordings of samples: complete, written in the background, and cheap to make."""

import statistics
import time
from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, InvalidValueError
from teleop_system.interfaces import HandJointState, Pose6D
from teleop_system.mocap.data_recorder import (
    DataRecorder,
    load_recording_arrays,
    load_recording_notes,
)
from teleop_system.utils.table import CHUNK_ROWS


def test_a_recording_can_be_read_again(tmp_path: Path) -> None:
    recorder = DataRecorder()
    pose = Pose6D(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0, 1.0]), 0.5)
    recorder.record_pose("waist", pose)
    recorder.record_pose("waist", Pose6D.lost(0.6))
    recorder.record_hand("left_fingers", HandJointState(np.arange(20) / 20, timestamp=0.7))
    arrays = load_recording_arrays(recorder.save(tmp_path / "deep" / "run.npz"))
    np.testing.assert_array_equal(arrays["waist"][0], [1, 2, 3, 0, 0, 0, 1])
    assert np.isnan(arrays["waist"][1]).all()
    np.testing.assert_array_equal(arrays["waist_stamp"], [0.5, 0.6])
    np.testing.assert_array_equal(arrays["left_fingers"][0], np.arange(20) / 20)


def test_notes_are_stored_with_the_numbers(tmp_path: Path) -> None:
    recorder = DataRecorder()
    recorder.record("joints", 0.0, [1.0])
    recorder.notes.update(file="wave", joints=["a", "b"])
    path = recorder.save(tmp_path / "run.npz")
    assert load_recording_notes(path) == {"file": "wave", "joints": ["a", "b"]}
    assert set(load_recording_arrays(path)) == {"joints", "joints_stamp"}


def test_long_recordings_are_complete(tmp_path: Path) -> None:
    recorder = DataRecorder()
    for tick in range(CHUNK_ROWS + 10):
        recorder.record("joints", 0.01 * tick, [tick, -tick])
    recorder.save_in_background(tmp_path / "long.npz")
    recorder.record("joints", 1e3, [0, 0])  # Not part of the copy.
    recorder.join()
    joints = load_recording_arrays(tmp_path / "long.npz")["joints"]
    np.testing.assert_array_equal(joints[:, 0], np.arange(CHUNK_ROWS + 10))


def test_samples_beyond_the_capacity_are_counted() -> None:
    recorder = DataRecorder(limit=3)
    for tick in range(5):
        recorder.record("x", tick, [tick])
    assert (len(recorder), recorder.dropped) == (3, 2)


def test_a_wrong_number_of_values_is_refused() -> None:
    recorder = DataRecorder()
    recorder.record("x", 0.0, [1, 2])
    with pytest.raises(InvalidValueError, match="x has 2 numbers, got 3"):
        recorder.record("x", 0.1, [1, 2, 3])


def test_a_file_that_is_not_a_recording_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("hello")
    for name in ("a.npz", "nowhere.npz"):
        with pytest.raises(ConfigError, match="not a recording"):
            load_recording_arrays(tmp_path / name)


def test_recording_a_tick_takes_a_small_part_of_a_period() -> None:
    recorder = DataRecorder()
    angles = np.zeros(40)
    costs = []
    for tick in range(2000):
        begin = time.thread_time()
        for name in ("a", "b", "c", "d", "e", "f", "g", "h"):
            recorder.record(name, tick, angles)
        costs.append(time.thread_time() - begin)
    # Eight courses a tick; a hundredth of the 10 ms that a tick has.
    assert statistics.median(costs) < 1e-4
