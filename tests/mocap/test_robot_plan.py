# SPDX-License-Identifier: Apache-2.0
"""Plans of recordings for a robot: less demanding, and close to what was recorded."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pinocchio")

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_motion import load_motion, make_playback, mocap_config
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.robot_plan import plan_motion
from teleop_system.session.robot_proportions import scaled_to_robot
from teleop_system.settings import load_settings

HAND = TrackerRole.RIGHT_HAND


def config(*overrides: str) -> MocapConfig:
    settings = scaled_to_robot(load_settings(["hardware=mocap", "mocap.file=wave", *overrides]))
    return mocap_config(settings.hardware.drivers["trackers"].options)


def accelerations(motion: MappedMotion, how: MocapConfig) -> np.ndarray:
    """Return the accelerations of the right hand during playback in [m/s^2]."""
    now = 0.0
    playback = make_playback(motion, how, lambda: now)
    playback.play()
    positions, step = [], 0.06
    while now < playback.length:
        positions.append(motion.pose(HAND, playback.time()).position)
        now += step
    return np.linalg.norm(np.diff(positions, 2, axis=0), axis=1) / step**2


def test_a_plan_has_less_acceleration_and_stays_near_the_recording() -> None:
    fast = config("mocap.speed=3.0")
    plain = load_motion(replace(fast, plan=replace(fast.plan, enabled=False)))
    motion = plan_motion(plain, fast)
    assert plain.recorded_tracks is None
    assert motion.recorded_tracks is not None
    for role, track in plain.tracks.items():
        np.testing.assert_array_equal(motion.recorded().tracks[role].positions, track.positions)
    assert accelerations(motion, fast).max() < 0.7 * accelerations(plain, fast).max()
    assert motion.duration == plain.duration


def test_a_motion_that_the_robot_can_follow_is_only_sent_a_little_earlier() -> None:
    slow = config("mocap.speed=0.3")
    motion = load_motion(slow)
    late = slow.plan.ahead * slow.speed
    for time in np.linspace(motion.approach + 1.0, motion.duration - 1.0, 20).tolist():
        planned = motion.pose(HAND, time).position
        expected = motion.recorded().pose(HAND, time + late).position
        np.testing.assert_allclose(planned, expected, atol=4e-3)


def test_a_planned_loop_closes_without_a_jump() -> None:
    motion = load_motion(config("mocap.loop=true"))
    step = motion.frame_time
    times = np.arange(0.0, 2.5 * motion.duration, step)
    for role in (HAND, TrackerRole.WAIST, TrackerRole.LEFT_FOOT):
        positions = np.array([motion.pose(role, float(time)).position for time in times])
        steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
        ends = np.flatnonzero(times[:-1] % motion.duration > motion.duration - 2.0 * step)
        assert steps[ends].max() <= 1.5 * np.percentile(steps, 99.0) + 1e-3


def test_a_plan_that_is_played_again_starts_at_the_present_position() -> None:
    motion = load_motion(config())
    again = motion.restarted(motion.duration, 2.0)
    assert again.recorded_tracks is not None
    before = motion.pose(HAND, motion.duration).position
    np.testing.assert_allclose(again.pose(HAND, 0.0).position, before, atol=1e-9)


@pytest.mark.parametrize("change", ["arm.mapping=absolute", "arm.limbs.arm.scale=0.5"])
def test_hands_under_another_mapping_are_not_planned(change: str) -> None:
    assert load_motion(config(change)).recorded_tracks is None


def test_a_recording_that_is_too_long_is_played_unchanged_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        motion = load_motion(config("mocap.plan.longest=5"))
    assert motion.recorded_tracks is None
    assert "mocap.plan.longest" in caplog.text


def test_a_motion_that_is_only_displayed_is_not_planned() -> None:
    assert load_motion(MocapConfig(file=Path("wave"))).recorded_tracks is None
