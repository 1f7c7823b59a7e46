# SPDX-License-Identifier: Apache-2.0
"""How goals start, end and are answered; the action server is a fake."""

import types
from collections.abc import Coroutine
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from rclpy.logging import get_logger
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from teleop_system.robot_side.intake import TrajectoryPlayer
from teleop_system.ros2.robot_topics.trajectory_action import TrajectoryAction
from teleop_system.safety import Part

JOINTS = ("a", "b")
PART = Part("arm", JOINTS, slice(0, 2))


class Result:
    """Has the constants of `FollowJointTrajectory.Result`."""

    SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS, OLD_HEADER_TIMESTAMP = 0, -1, -2, -3
    PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = -4, -5
    error_code, error_string = 0, ""


class Feedback(types.SimpleNamespace):
    """Has the fields of `FollowJointTrajectory.Feedback`."""

    def __init__(self) -> None:
        super().__init__(header=Header())


class Handle:
    """A goal handle of rclpy that records how it ended."""

    def __init__(self, *points: tuple[float, float], names: tuple[str, ...] = JOINTS) -> None:
        trajectory = JointTrajectory(joint_names=list(names))
        for seconds, position in points:
            due = Duration(sec=int(seconds), nanosec=int(1e9 * (seconds % 1.0)))
            trajectory.points.append(
                JointTrajectoryPoint(positions=[position, 0.0], time_from_start=due)
            )
        self.request = types.SimpleNamespace(
            trajectory=trajectory,
            path_tolerance=[],
            goal_tolerance=[],
            goal_time_tolerance=Duration(),
        )
        self.is_cancel_requested = False
        self.ended = ""
        self.feedback: list[Any] = []

    def succeed(self) -> None:
        self.ended = "succeeded"

    def abort(self) -> None:
        self.ended = "aborted"

    def canceled(self) -> None:
        self.ended = "cancelled"

    def publish_feedback(self, message: Any) -> None:
        self.feedback.append(message)


class Robot:
    """A robot that reaches every command at once, and plays trajectories."""

    def __init__(self) -> None:
        self.time, self.is_active = 100.0, True
        self.positions = np.zeros(2)
        self.player: TrajectoryPlayer | None = None
        self.taken_by: str | None = None
        parts = types.SimpleNamespace(velocity=np.ones(2))
        self.robot_side = types.SimpleNamespace(
            drive=types.SimpleNamespace(positions=self.positions),
            output=types.SimpleNamespace(of=lambda part: self.positions),
            safety=types.SimpleNamespace(parts=parts),
            is_following=True,
        )
        kinds = types.SimpleNamespace(Result=Result, Feedback=Feedback)
        self.action = TrajectoryAction(
            kinds,
            "/move",
            PART,
            node=self,
            robot_side=self.robot_side,
            tools=self,
            hold_reason=lambda: "stopped",
        )

    def now(self) -> float:
        return self.time

    def get_logger(self) -> Any:
        return get_logger("test")

    def play(
        self, part: str, trajectory: Any, sender: str, start_time: Any, settling: float
    ) -> Any:
        if self.taken_by is not None:
            return None
        self.player = TrajectoryPlayer()
        self.player.put(trajectory, self.time, start_time, settling=settling)
        return self.player

    def stop(self, part: str, sender: str) -> None:
        assert (part, sender) == ("arm", "/move")
        self.player = None

    def owner(self, part: str) -> str | None:
        return self.taken_by

    def run(self, seconds: float) -> None:
        """Run cycles of 10 ms for some time."""
        for _ in range(round(100 * seconds)):
            self.time += 0.01
            following = self.robot_side.is_following
            if self.player is not None:
                position = self.player.update(
                    self.time, following=following, commanded=self.positions.copy()
                )
                self.positions[:] = self.positions if position is None else position
            self.action.update(self.time)


def step(task: Coroutine[Any, Any, Any]) -> Any:
    """Resume a task as an executor does; return its result, or None while it waits."""
    try:
        task.send(None)
    except StopIteration as end:
        return end.value
    return None


@pytest.fixture
def robot() -> Robot:
    return Robot()


def test_a_goal_is_answered_once_the_robot_is_there(robot: Robot) -> None:
    handle = Handle((0.0, 0.0), (1.0, 0.5))
    task = robot.action.execute(handle)
    assert step(task) is None
    robot.run(0.9)
    assert step(task) is None
    assert handle.ended == ""
    robot.run(0.2)
    result = step(task)
    assert (handle.ended, result.error_code, result.error_string) == ("succeeded", 0, "")
    assert robot.player is None, "the part is released"
    assert len(handle.feedback) == pytest.approx(1.0 / 0.05, abs=4)
    message = handle.feedback[-1]
    assert message.joint_names == list(JOINTS)
    assert message.header.stamp.sec == 100
    due = 1e-9 * message.desired.time_from_start.nanosec
    np.testing.assert_allclose(message.desired.positions, [0.5 * due, 0.0], atol=1e-9)
    np.testing.assert_allclose(message.error.positions, [0.0, 0.0])


def refused(robot: Robot, handle: Handle) -> tuple[int, str]:
    result = step(robot.action.execute(handle))
    assert handle.ended == "aborted"
    assert robot.player is None
    return result.error_code, result.error_string


def test_a_goal_that_cannot_be_played_is_answered_at_once(robot: Robot) -> None:
    code, words = refused(robot, Handle((1.0, 0.5), names=("a", "c")))
    assert code == Result.INVALID_JOINTS
    assert "['a', 'b'], got ['a', 'c']" in words
    code, words = refused(robot, Handle((0.0, 0.5)))
    assert code == Result.INVALID_GOAL
    assert "plan from its present positions" in words
    old = Handle((1.0, 0.5))
    old.request.trajectory.header.stamp.sec = 90
    code, words = refused(robot, old)
    assert code == Result.OLD_HEADER_TIMESTAMP
    assert "it started 10.00 s ago" in words
    early = Handle((1.0, 0.5))
    early.request.trajectory.header.stamp.sec = 130
    code, words = refused(robot, early)
    assert code == Result.INVALID_GOAL
    assert "it starts in 30.00 s, allowed are 1 s" in words
    robot.taken_by = "/other"
    assert refused(robot, Handle((1.0, 0.5))) == (
        Result.INVALID_GOAL,
        "arm is commanded by /other",
    )
    robot.is_active = False
    assert refused(robot, Handle((1.0, 0.5))) == (Result.INVALID_GOAL, "the robot is not active")


def test_a_goal_is_cancelled_without_waiting_for_a_cycle(robot: Robot) -> None:
    handle = Handle((1.0, 0.5))
    task = robot.action.execute(handle)
    step(task)
    robot.run(0.5)
    robot.action.cancel(handle)
    assert robot.player is None
    handle.is_cancel_requested = True
    result = step(task)
    assert (handle.ended, result.error_code) == ("cancelled", Result.SUCCESSFUL)


def test_a_goal_that_is_cancelled_before_its_start_never_starts(robot: Robot) -> None:
    handle = Handle((1.0, 0.5))
    robot.action.cancel(handle)
    handle.is_cancel_requested = True
    assert step(robot.action.execute(handle)) is not None
    assert handle.ended == "cancelled"
    assert robot.player is None


def test_a_robot_that_stops_following_aborts_a_goal(robot: Robot) -> None:
    handle = Handle((1.0, 0.5))
    task = robot.action.execute(handle)
    step(task)
    robot.run(0.5)
    robot.robot_side.is_following = False
    robot.run(0.01)
    result = step(task)
    assert (handle.ended, result.error_code) == ("aborted", Result.PATH_TOLERANCE_VIOLATED)
    assert result.error_string == "the robot stopped following (stopped)"


def test_a_new_goal_replaces_the_one_before(robot: Robot) -> None:
    first, second = Handle((1.0, 0.5)), Handle((1.0, -0.1))
    tasks = [robot.action.execute(handle) for handle in (first, second)]
    step(tasks[0])
    robot.run(0.5)
    step(tasks[1])
    assert step(tasks[0]).error_string == "a newer goal replaced it"
    assert first.ended == "aborted"
    robot.run(1.1)
    assert step(tasks[1]).error_code == Result.SUCCESSFUL
    assert second.ended == "succeeded"
