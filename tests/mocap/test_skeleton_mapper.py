# SPDX-License-Identifier: Apache-2.0
"""From joints to trackers: relative to the body, at the robot's size, for every skeleton."""

from pathlib import Path

import numpy as np
import pytest

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_loader import load_bvh
from teleop_system.mocap.bvh_motion import find_motion, load_motion
from teleop_system.mocap.config import MocapConfig, RobotProportions
from teleop_system.mocap.joint_mapping import choose_mapping
from teleop_system.mocap.skeleton_mapper import REACH_SHARE, SkeletonMapper
from teleop_system.simulators.simulated_tracker import REFERENCE_POSITIONS
from teleop_system.utils.transforms import quat_distance
from tests.mocap.files import clip, needs_clips

R = TrackerRole
FIT = RobotProportions(
    0.66,
    {"left": (0.0, 0.22, 0.08), "right": (0.0, -0.22, 0.08)},
    {"left": (0.36, 0.02, -0.25), "right": (0.36, -0.02, -0.25)},
    {"left": (0.0, -0.4226, 0.0, 0.9063), "right": (0.0, -0.4226, 0.0, 0.9063)},
)


def config(name: str, **changes: object) -> MocapConfig:
    return MocapConfig(file=Path(name), **changes)  # type: ignore[arg-type]


def test_a_walk_moves_the_feet_and_not_the_hands() -> None:
    motion = load_motion(config("walk_and_reach"))
    end = 6.4  # Before the reaches.
    for hand in (R.LEFT_HAND, R.RIGHT_HAND):
        away = [
            np.abs(motion.pose(hand, t).position - motion.pose(hand, 0).position).max()
            for t in np.arange(0, end, 0.1)
        ]
        assert max(away) < 0.25  # The swing of the arms.
    walked = motion.pose(R.LEFT_FOOT, end).position[0] - motion.pose(R.LEFT_FOOT, 0).position[0]
    assert walked == pytest.approx(2.09, abs=0.1)
    assert motion.body(motion.duration)[0] == pytest.approx(2.09, abs=0.05)


def test_relative_begins_at_the_reference_positions() -> None:
    motion = load_motion(config("walk_and_reach"))
    for role in (R.LEFT_HAND, R.RIGHT_HAND, R.WAIST, R.HEAD):
        position = motion.pose(role, 0.0).position
        np.testing.assert_allclose(position, REFERENCE_POSITIONS[role], atol=1e-12)
    assert motion.approach == 0.0


def test_absolute_keeps_the_recorded_positions() -> None:
    motion = load_motion(config("walk_and_reach", normalization="absolute", noise=0.0))
    data = load_bvh(find_motion("walk_and_reach"))
    mapping = choose_mapping(data.names, data.path)
    waist = data.positions[1:, data.index(mapping.roles[R.WAIST])]
    for frame in (0, 40, 150):
        found = motion.pose(R.WAIST, frame * data.frame_time).position
        np.testing.assert_allclose(found[:2], waist[frame, :2], atol=1e-6)
    assert motion.pose(R.RIGHT_HAND, 4.0).position[0] > 1.0  # It walks.


def test_hands_reach_as_far_as_the_robot_can() -> None:
    for name in ("wave", "count_mixamo"):
        motion = load_motion(config(name, fit=FIT))
        stretched = motion.scale * 0.56  # Upper arm and forearm of the synthetic person.
        assert stretched == pytest.approx(REACH_SHARE * FIT.reach, rel=0.02)


def test_an_approach_leads_from_the_robots_hands_to_the_first_pose() -> None:
    motion = load_motion(config("wave", fit=FIT, approach=2.0))
    np.testing.assert_allclose(
        motion.pose(R.LEFT_HAND, 0.0).position, REFERENCE_POSITIONS[R.LEFT_HAND]
    )
    # At its end the arm hangs, as far below its shoulder as the person's arm.
    hanging = motion.pose(R.LEFT_HAND, 2.0).position - REFERENCE_POSITIONS[R.LEFT_HAND]
    below = hanging + FIT.hands["left"]
    assert below[2] == pytest.approx(-motion.scale * 0.54, abs=0.03)
    times = np.arange(0.0, 3.0, 0.01)
    positions = np.array([motion.pose(R.LEFT_HAND, t).position for t in times])
    assert np.linalg.norm(np.diff(positions, axis=0), axis=1).max() < 0.01  # Less than 1 m/s.


def test_the_robots_hand_is_oriented_as_the_hand_of_a_hanging_arm() -> None:
    motion = load_motion(config("wave", fit=FIT, approach=2.0))
    start, hanging = motion.pose(R.LEFT_HAND, 0.0), motion.pose(R.LEFT_HAND, 2.0)
    # The robot starts 50 degrees from hanging; the person's arm hangs with a slightly bent elbow.
    assert quat_distance(start.orientation, hanging.orientation) == pytest.approx(0.87, abs=0.45)
    assert motion.pose(R.WAIST, 0.0).orientation[3] == 1.0


def test_two_skeletons_of_one_person_give_the_same_tracker_poses() -> None:
    cmu, mixamo = (load_motion(config(f"walk_and_reach{end}", fit=FIT)) for end in ("", "_mixamo"))
    assert cmu.duration == pytest.approx(mixamo.duration)
    for role in (R.LEFT_HAND, R.RIGHT_HAND, R.WAIST, R.LEFT_FOOT):
        for time in np.arange(0.0, cmu.duration, 0.5):
            one, two = cmu.pose(role, time), mixamo.pose(role, time)
            # The files round angles to 0.1 degrees, and lengths to their own units.
            np.testing.assert_allclose(one.position, two.position, atol=0.02)
            assert quat_distance(one.orientation, two.orientation) < 0.05


def test_a_rotation_of_the_body_rotates_the_feet_but_not_the_poses_relative_to_it() -> None:
    motion = load_motion(config("turn"))
    half = 5.4
    assert motion.body(half)[2] == pytest.approx(np.pi / 2, abs=0.02)
    angle = quat_distance(
        motion.pose(R.LEFT_FOOT, 0).orientation, motion.pose(R.LEFT_FOOT, half).orientation
    )
    assert angle == pytest.approx(np.pi / 2, abs=0.05)
    assert (
        quat_distance(motion.pose(R.WAIST, 0).orientation, motion.pose(R.WAIST, half).orientation)
        < 0.05
    )


@needs_clips
@pytest.mark.parametrize("name", ["02_01", "05_02", "38_03", "62_20"])
def test_the_t_pose_of_a_real_recording_is_never_played(name: str) -> None:
    data = load_bvh(clip(name))
    motion = SkeletonMapper(MocapConfig()).map(data)
    assert motion.frame_count == data.frame_count - 1
    speed = (
        np.linalg.norm(np.diff(motion.tracks[R.LEFT_HAND].positions, axis=0), axis=1)
        / data.frame_time
    )
    # From a T-pose a hand would jump by half a metre within one frame: 60 m/s.
    assert speed.max() < 12.0


@needs_clips
def test_missing_bones_of_real_recordings_are_added() -> None:
    data = load_bvh(clip("02_01"))
    mapper = SkeletonMapper(MocapConfig(normalization="absolute", noise=0.0))
    motion = mapper.map(data)
    raw = data.positions[1:]
    hand, elbow = raw[:, data.index("LeftHand")], raw[:, data.index("LeftForeArm")]
    lift = motion.tracks[R.LEFT_HAND].positions[:, 2].mean() - hand[:, 2].mean()
    thorax = np.linalg.norm(raw[0, data.index("Spine1")] - raw[0, data.index("Spine")])
    assert thorax == pytest.approx(0.117, abs=1e-3)
    # The thorax lifts shoulder and hand; the wrist lets a hanging hand hang lower again.
    wrist = 0.5 * (hand - elbow)[:, 2].mean()
    floor = raw.min(axis=1)[:, 2]
    assert lift == pytest.approx(thorax + wrist - np.percentile(floor, 5), abs=0.03)
