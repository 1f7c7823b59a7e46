# SPDX-License-Identifier: Apache-2.0
"""Trajectories are checked when they come and sampled once a cycle."""

import math

import numpy as np
import pytest

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.robot_side.intake import Trajectory, TrajectoryPlayer

JOINTS = ("a", "b")
START = np.array([0.0, 0.0])


def line() -> Trajectory:
    return Trajectory.checked(JOINTS, ["b", "a"], [1.0, 3.0], [[2.0, 1.0], [2.0, 3.0]], [[], []])


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [
        (0.0, (0.0, 0.0)),
        (0.5, (0.5, 1.0)),
        (1.0, (1.0, 2.0)),
        (2.0, (2.0, 2.0)),
        (9.0, (3.0, 2.0)),
    ],
)
def test_points_without_velocities_are_joined_by_lines(
    elapsed: float, expected: tuple[float, float]
) -> None:
    np.testing.assert_allclose(line().sample(elapsed, START), expected)


def test_points_with_velocities_are_passed_at_these() -> None:
    speeds = [[0.0, 0.5], [0.0, 0.0]]
    curve = Trajectory.checked(JOINTS, JOINTS, [1.0, 2.0], [[1.0, 1.0], [2.0, 0.0]], speeds)
    step = 1e-6
    for time, speed in ((1.0, speeds[0]), (2.0 - 2 * step, speeds[1])):
        before, after = (curve.sample(time + d, START) for d in (-step, step))
        np.testing.assert_allclose((after - before) / (2 * step), speed, atol=1e-4)


@pytest.mark.parametrize(
    ("names", "times", "positions", "message"),
    [
        (["a"], [1.0], [[1.0]], "needs the joints"),
        (["a", "c"], [1.0], [[1.0, 1.0]], "needs the joints"),
        (["a", "b"], [], [], "at least one point"),
        (["a", "b"], [-1.0], [[1.0, 1.0]], "times"),
        (["a", "b"], [1.0, 1.0], [[1.0, 1.0]] * 2, "rise"),
        (["a", "b"], [1.0], [[1.0]], "2 numbers"),
        (["a", "b"], [1.0], [[1.0, math.nan]], "finite"),
    ],
)
def test_what_is_wrong_is_told(
    names: list[str], times: list[float], positions: list[list[float]], message: str
) -> None:
    with pytest.raises(InvalidJointStateError, match=message):
        Trajectory.checked(JOINTS, names, times, positions, [[] for _ in times])


def test_a_trajectory_starts_from_where_the_robot_is_told_to_be() -> None:
    player = TrajectoryPlayer()
    player.put(line(), 10.0)
    first = player.update(10.0, following=True, commanded=np.array([0.4, 0.6]))
    np.testing.assert_allclose(first, [0.4, 0.6])
    later = player.update(10.5, following=True, commanded=START)
    np.testing.assert_allclose(later, [0.7, 1.3])


def test_a_trajectory_waits_a_moment_for_control_and_no_longer() -> None:
    player = TrajectoryPlayer()
    player.put(line(), 10.0)
    assert player.update(10.2, following=False, commanded=START) is None
    assert player.is_playing
    assert player.update(10.4, following=False, commanded=START) is None
    assert not player.is_playing


def test_a_trajectory_is_dropped_where_the_robot_stops_following() -> None:
    player = TrajectoryPlayer()
    player.put(line(), 10.0)
    player.update(10.0, following=True, commanded=START)
    player.update(10.1, following=False, commanded=START)
    assert player.update(10.2, following=True, commanded=START) is None


def test_the_last_point_is_asked_for_a_little_longer() -> None:
    player = TrajectoryPlayer()
    player.put(line(), 0.0)
    for time in np.arange(0.0, 5.0, 0.5):
        player.update(time, following=True, commanded=START)
        assert player.is_playing == (time <= 4.0)


def test_a_trajectory_may_begin_later() -> None:
    player = TrajectoryPlayer()
    player.put(line(), 0.0, start_time=1.0)
    np.testing.assert_array_equal(player.update(0.5, following=True, commanded=START), START)
    np.testing.assert_allclose(player.update(1.5, following=True, commanded=START), [0.5, 1.0])
