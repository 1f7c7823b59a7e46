# SPDX-License-Identifier: Apache-2.0
"""Trackers and gloves of a recorded person, used like other devices."""

import logging
from pathlib import Path

import numpy as np
import pytest
from typing_extensions import override

from teleop_system import registry
from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.interfaces import IHandInput, IMasterTracker, TrackerRole
from teleop_system.mocap.bvh_hand_adapter import BVHHandAdapter
from teleop_system.mocap.bvh_tracker_adapter import BVHTrackerAdapter
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.playback import PlaybackState
from teleop_system.mocap.replay import Replay
from teleop_system.testing import HandInputSuite, MasterTrackerSuite
from teleop_system.utils.transforms import quat_distance


class TestBVHTracker(MasterTrackerSuite):
    @override
    def create(self) -> IMasterTracker:
        return BVHTrackerAdapter("left_hand", file="wave")


class TestBVHHand(HandInputSuite):
    @override
    def create(self) -> IHandInput:
        return BVHHandAdapter("left", file="count_mixamo")


class Clock:
    time = 10.0

    def __call__(self) -> float:
        return self.time


@pytest.mark.parametrize("kind", ["tracker", "hand_input"])
def test_the_devices_are_registered(kind: str) -> None:
    part = "waist" if kind == "tracker" else "right"
    assert registry.create(kind, "bvh", part, file="wave").initialize()


def test_poses_have_the_stamps_of_the_clock_and_do_not_change_before_playback() -> None:
    clock = Clock()
    tracker = BVHTrackerAdapter("right_hand", file="wave", clock=clock)
    assert tracker.initialize()
    first = tracker.get_pose()
    clock.time += 3.0
    waiting = tracker.get_pose()
    assert (first.timestamp, waiting.timestamp) == (10.0, 13.0)
    np.testing.assert_array_equal(first.position, waiting.position)
    tracker.play()
    clock.time += 3.0
    assert np.linalg.norm(tracker.get_pose().position - first.position) > 0.1
    tracker.shutdown()
    assert tracker.initialize()
    np.testing.assert_array_equal(tracker.get_pose().position, first.position)


def test_a_missing_file_is_logged_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    tracker = BVHTrackerAdapter("waist", file="nowhere/at_all.bvh")
    with caplog.at_level(logging.ERROR):
        assert tracker.initialize() is False
    assert "nowhere/at_all.bvh: no such file" in caplog.text
    assert tracker.get_pose().valid is False


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, ConfigError),
        ({"file": "wave", "sped": 2.0}, ConfigError),
        ({"file": "wave", "speed": -1.0}, ConfigError),
        ({"file": "wave", "anchor": "moon"}, ConfigError),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        BVHTrackerAdapter("waist", **options)


def test_body_parts_without_a_device_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="left_hand"):
        BVHTrackerAdapter("left_hnd", file="wave")
    with pytest.raises(UnknownNameError, match="left"):
        BVHHandAdapter("middle", file="wave")


def test_recorded_fingers_bend_one_after_another() -> None:
    clock = Clock()
    glove = BVHHandAdapter("right", file="count_mixamo", clock=clock)
    assert glove.initialize()
    assert glove.playback is not None
    angles = {}
    for time in (0.0, 2.5, 3.5, 9.9):
        glove.playback.seek(time)
        angles[time] = glove.get_joint_state().joint_angles.reshape(5, 4)
    index, pinky = 1, 4
    assert angles[0.0][index, 2] < 0.4  # Nearly open,
    assert angles[2.5][[index, pinky], 2].min() > 1.4  # then a fist;
    assert angles[2.5][index, 0] > 1.2
    assert angles[3.5][index, 2] < 0.3 < 1.4 < angles[3.5][pinky, 2]  # one finger is up,
    assert angles[9.9][1:, 2].max() < 0.3  # and then all are.


def test_left_and_right_hands_mirror_each_other() -> None:
    gloves = [BVHHandAdapter(side, file="count_mixamo") for side in ("left", "right")]
    for time in (0.0, 2.0, 4.0):
        states = []
        for glove in gloves:
            assert glove.initialize()
            assert glove.playback is not None
            glove.playback.seek(time)
            states.append(glove.get_joint_state().joint_angles)
        np.testing.assert_allclose(states[0], states[1], atol=0.02)


def test_hands_without_recorded_fingers_close_while_the_wrist_moves() -> None:
    glove = BVHHandAdapter("right", file="wave")
    assert glove.initialize()
    assert glove.playback is not None
    curls = []
    for time in (0.0, 4.0):
        glove.playback.seek(time)
        curls.append(float(glove.get_joint_state().joint_angles[4::4].mean()))
    assert curls[1] > curls[0] + 0.1


def test_all_devices_of_a_person_start_and_stop_together_and_again_without_a_jump() -> None:
    clock = Clock()
    replay = Replay(MocapConfig(file=Path("wave"), run_up=0.0), clock)
    assert replay.state is PlaybackState.READY
    replay.start()
    clock.time += 3.0
    replay.stop()
    assert replay.state is PlaybackState.PAUSED
    replay.start()
    clock.time += 20.0
    assert replay.state is PlaybackState.OVER
    last = {role: tracker.get_pose() for role, tracker in replay.trackers.items()}
    replay.start()
    assert replay.state in (PlaybackState.READY, PlaybackState.PLAYING)
    for role in TrackerRole:
        pose = replay.trackers[role].get_pose()
        np.testing.assert_allclose(pose.position, last[role].position, atol=1e-9)
        assert quat_distance(pose.orientation, last[role].orientation) < 1e-6
    clock.time += 0.5
    assert replay.state is PlaybackState.PLAYING
