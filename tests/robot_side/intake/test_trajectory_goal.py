# SPDX-License-Identifier: Apache-2.0
"""The sender of a trajectory learns when it has arrived, or why it did not."""

import math

import numpy as np
import pytest

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.robot_side.intake import Trajectory, TrajectoryPlayer
from teleop_system.robot_side.intake.trajectory_goal import (
    Outcome,
    Tolerances,
    TrajectoryGoal,
    Verdict,
    refuse_far_start,
)

JOINTS = ("a", "b")
START = np.zeros(2)
B = np.array([0.0, 1.0])
END = np.array([1.0, 0.5])


class Played:
    """A goal of two seconds, and the robot that plays it."""

    def __init__(self, *, path: float = math.inf, end: float = 0.02) -> None:
        trajectory = Trajectory(np.array([2.0]), END[None])
        self.player = TrajectoryPlayer()
        self.player.put(trajectory, 0.0)
        self.goal = TrajectoryGoal(
            trajectory, self.player, Tolerances(JOINTS, path), Tolerances(JOINTS, end)
        )

    def at(
        self, time: float, off: float = 0.0, *, lag: float = 0.0, following: bool = True
    ) -> Verdict | None:
        """Let the time come; joint "b" is `off`, and commanded `lag`, from where it should be."""
        position = self.player.update(time, following=following, commanded=START)
        position = START if position is None else position
        return self.goal.judge(
            position + off * B, position + lag * B, following=following, why=lambda: "why not"
        )


def test_a_goal_is_under_way_until_the_robot_is_there() -> None:
    played = Played()
    assert [played.at(time) for time in (0.0, 1.0, 1.99)] == [None] * 3
    np.testing.assert_allclose(played.goal.desired, END * 1.99 / 2.0)
    assert played.at(2.0) == Verdict(Outcome.REACHED)


def test_a_robot_that_lags_behind_is_waited_for() -> None:
    played = Played()
    played.at(0.0)
    assert played.at(2.1, off=0.1) is None
    assert played.at(2.2, off=0.01, lag=0.01) is None, "it still moves"
    assert played.goal.elapsed == 2.0
    assert played.at(2.3, off=0.01) == Verdict(Outcome.REACHED)


def test_a_goal_that_is_not_reached_in_time_says_which_joint_is_where() -> None:
    played = Played()
    played.at(0.0)
    verdict = played.at(3.1, off=-0.3)
    assert verdict is not None
    assert verdict.outcome is Outcome.MISSED
    assert "b is off by 0.300, tolerance 0.02" in verdict.words
    assert "why not" in verdict.words


def test_close_enough_is_enough_at_the_very_end() -> None:
    played = Played(end=0.1)
    played.at(0.0)
    assert played.at(2.5, off=0.05, lag=0.05) is None
    assert played.at(3.1, off=0.05, lag=0.05) == Verdict(Outcome.REACHED)


def test_leaving_the_path_further_than_allowed_ends_a_goal() -> None:
    played = Played(path=0.05)
    played.at(0.0)
    assert played.at(0.9, off=0.04) is None
    verdict = played.at(1.0, off=0.06)
    assert verdict is not None
    assert verdict.outcome is Outcome.LEFT_PATH
    assert "b is off by 0.060" in verdict.words


def test_a_robot_that_stops_following_ends_a_goal_and_says_why() -> None:
    played = Played()
    played.at(0.0)
    expected = Verdict(Outcome.LEFT_PATH, "the robot stopped following (why not)")
    assert played.at(1.0, following=False) == expected


def test_a_part_that_another_sender_took_over_ends_a_goal() -> None:
    played = Played()
    played.at(0.0)
    played.player.cancel()
    expected = Verdict(Outcome.LEFT_PATH, "another sender took over the part")
    assert played.at(1.0) == expected


def test_a_goal_waits_a_moment_for_somebody_to_take_control() -> None:
    played = Played()
    assert played.at(0.2, following=False) is None
    assert played.goal.desired is None
    expected = Verdict(Outcome.REFUSED, "the robot was not engaged (why not)")
    assert played.at(0.4, following=False) == expected


@pytest.mark.parametrize(
    ("limit", "error", "violated"),
    [(0.0, 0.15, True), (0.0, 0.05, False), (0.2, 0.15, False), (-1.0, 9.0, False)],
)
def test_a_tolerance_may_be_kept_set_or_lifted(limit: float, error: float, violated: bool) -> None:
    tolerances = Tolerances(JOINTS, 0.1)
    tolerances.allow("a", limit)
    assert bool(tolerances.violation(np.array([-error, 0.0]))) is violated


@pytest.mark.parametrize(("joint", "limit"), [("elbow", 0.1), ("a", math.nan)])
def test_a_tolerance_that_makes_no_sense_is_refused(joint: str, limit: float) -> None:
    with pytest.raises(InvalidJointStateError, match=joint):
        Tolerances(JOINTS, 0.1).allow(joint, limit)


@pytest.mark.parametrize(
    ("due", "position", "fits"),
    [(0.0, 0.09, True), (0.0, 0.11, False), (0.5, 0.55, True), (0.5, 0.65, False)],
)
def test_a_trajectory_starts_where_the_robot_is_or_can_get_to(
    due: float, position: float, fits: bool
) -> None:
    trajectory = Trajectory(np.array([due, 9.0]), np.array([[0.0, position], END]))
    speed = np.ones(2)
    if fits:
        refuse_far_start(trajectory, JOINTS, START, speed)
    else:
        with pytest.raises(InvalidJointStateError, match=r"b at 0\.[16].*is at 0\.000"):
            refuse_far_start(trajectory, JOINTS, START, speed)
