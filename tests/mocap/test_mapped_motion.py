# SPDX-License-Identifier: Apache-2.0
"""Motions between their frames, beyond their end, in a loop, and played again."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from teleop_system.interfaces import TrackerRole
from teleop_system.mocap.bvh_motion import load_motion
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.utils.transforms import quat_distance, quat_slerp

STEP = 0.01


def motion(name: str = "walk_and_reach", **changes: object) -> MappedMotion:
    return load_motion(MocapConfig(file=Path(name), **changes))  # type: ignore[arg-type]


def largest_step(
    played: MappedMotion, role: TrackerRole, start: float, end: float
) -> tuple[float, float]:
    """Return the largest speed in [m/s] and [rad/s] between two times."""
    poses = [played.pose(role, time) for time in np.arange(start, end, STEP)]
    distances = [np.linalg.norm(b.position - a.position) for a, b in itertools.pairwise(poses)]
    angles = [
        float(quat_distance(a.orientation, b.orientation)) for a, b in itertools.pairwise(poses)
    ]
    return max(distances) / STEP, max(angles) / STEP


def test_poses_between_frames_lie_between_them() -> None:
    played = motion(noise=0.0)
    track = played.tracks[TrackerRole.RIGHT_HAND]
    for frame, share in ((3, 0.25), (150, 0.5), (170, 0.9)):
        pose = played.pose(TrackerRole.RIGHT_HAND, (frame + share) * played.frame_time)
        expected = track.positions[frame] * (1 - share) + track.positions[frame + 1] * share
        np.testing.assert_allclose(pose.position, expected, atol=1e-12)
        expected_rotation = quat_slerp(
            track.orientations[frame], track.orientations[frame + 1], share
        )
        assert quat_distance(pose.orientation, expected_rotation) < 1e-7


def test_the_first_pose_holds_before_and_the_last_after_the_motion() -> None:
    played = motion()
    for role in TrackerRole:
        last = played.pose(role, played.duration)
        np.testing.assert_array_equal(
            played.pose(role, played.duration + 5.0).position, last.position
        )
        np.testing.assert_array_equal(
            played.pose(role, -1.0).position, played.pose(role, 0.0).position
        )


@pytest.mark.parametrize("name", ["walk_and_reach", "turn", "box_handling"])
def test_a_loop_closes_without_a_jump(name: str) -> None:
    once, looped = motion(name), motion(name, loop=True)
    for role in TrackerRole:
        fastest, quickest = largest_step(once, role, 0.0, once.duration)
        speed, rate = largest_step(looped, role, 0.0, 3.0 * looped.duration)
        # Where end and start differ, the blend of 0.8 s has to cover that distance, too.
        assert speed < fastest + 1.0
        assert rate < quickest + 2.0


def test_a_looped_walk_continues_from_its_last_position() -> None:
    looped = motion(loop=True)
    assert looped.loop_start is not None
    period = (looped.frame_count - looped.loop_start) * looped.frame_time
    distances = [looped.body(looped.duration + n * period)[0] for n in range(4)]
    # The first pass starts from standing; all later ones are equal.
    np.testing.assert_allclose(np.diff(distances), distances[0], atol=0.2)
    np.testing.assert_allclose(np.diff(distances, 2), 0.0, atol=1e-9)
    assert looped.body(1e5)[0] > 1e4


def test_fingers_loop_with_the_hands() -> None:
    looped = motion("count_mixamo", loop=True)
    angles = np.array([looped.hand("left", t) for t in np.arange(0.0, 25.0, STEP)])
    assert np.abs(np.diff(angles, axis=0)).max() < 10.0 * STEP


def test_a_motion_played_again_has_no_jump_and_continues_from_its_last_position() -> None:
    played = motion()
    end = played.duration
    again = played.restarted(end, 2.0)
    assert again.approach == pytest.approx(2.0, abs=played.frame_time)
    for role in TrackerRole:
        before, after = played.pose(role, end), again.pose(role, 0.0)
        np.testing.assert_allclose(after.position, before.position, atol=1e-9)
        assert quat_distance(after.orientation, before.orientation) < 1e-7
    np.testing.assert_allclose(again.body(again.approach), played.body(end), atol=1e-9)
    hand = TrackerRole.RIGHT_HAND
    np.testing.assert_allclose(
        again.pose(hand, again.approach + 3.0).position, played.pose(hand, 3.0).position, atol=1e-9
    )
    assert again.body(again.duration)[0] == pytest.approx(2.0 * played.body(end)[0], abs=0.05)
