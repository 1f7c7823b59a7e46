# SPDX-License-Identifier: Apache-2.0
"""The action that MoveIt and others use to move an arm, from another process."""

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from teleop_system.utils.ros2_helpers import TopicNames
from tests.simulators.mujoco_ros2_bridge.rig import BridgeRig

pytest.importorskip("control_msgs")
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance

Result = FollowJointTrajectory.Result
ACTION = TopicNames.RIGHT_ARM_TRAJECTORY.replace("joint_trajectory", "follow_joint_trajectory")


class Arm:
    """A client of the right arm's action."""

    def __init__(self, rig: BridgeRig) -> None:
        self.rig = rig
        self.client = ActionClient(rig.bench.node, FollowJointTrajectory, ACTION)
        rig.bench.wait(self.client.server_is_ready)
        rig.bench.wait_until_known()

    def goal(
        self, *points: tuple[float, float], names: Sequence[str] = (), **changes: Any
    ) -> FollowJointTrajectory.Goal:
        """Return a goal with points of a time [s] and an offset of the elbow [rad]."""
        trajectory = JointTrajectory(joint_names=list(names or self.rig.joints))
        for seconds, offset in points:
            point = JointTrajectoryPoint(positions=list(self.rig.home))
            point.positions[3] += offset
            point.time_from_start.sec = int(seconds)
            point.time_from_start.nanosec = round(1e9 * (seconds - int(seconds)))
            trajectory.points.append(point)
        return FollowJointTrajectory.Goal(trajectory=trajectory, **changes)

    def send(self, goal: FollowJointTrajectory.Goal) -> "Sent":
        """Send a goal; every goal is accepted."""
        sent = Sent(self.rig)
        future = self.client.send_goal_async(goal, feedback_callback=sent.hear)
        self.rig.bench.wait(future.done, "the goal is not answered")
        sent.handle = future.result()
        assert sent.handle.accepted
        sent.result = sent.handle.get_result_async()
        return sent


class Sent:
    """A goal that was sent."""

    handle: Any
    result: Any

    def __init__(self, rig: BridgeRig) -> None:
        self._rig = rig
        self.feedback: list[FollowJointTrajectory.Feedback] = []

    def hear(self, message: Any) -> None:
        self.feedback.append(message.feedback)

    def wait_for_feedback(self, seconds: float) -> None:
        """Wait until the trajectory has run for some time."""
        self._rig.bench.wait(
            lambda: (
                self.result.done() or (self.feedback and seconds_in(self.feedback[-1]) >= seconds)
            )
        )
        assert not self.result.done(), self.result.result()

    def ends(self, status: int, code: int) -> str:
        """Wait for the end, and return the text of the result."""
        self._rig.bench.wait(self.result.done, "the goal does not end")
        answer = self.result.result()
        assert (answer.status, answer.result.error_code) == (status, code), answer.result
        return str(answer.result.error_string)


def seconds_in(feedback: FollowJointTrajectory.Feedback) -> float:
    time_ = feedback.desired.time_from_start
    return float(time_.sec + 1e-9 * time_.nanosec)


@pytest.fixture(scope="module")
def arm(shared_bridge: BridgeRig) -> Arm:
    return Arm(shared_bridge)


@pytest.fixture(autouse=True)
def at_home(bridge: BridgeRig, arm: Arm) -> Iterator[None]:
    """Bring the arm home after a test."""
    yield
    if abs(bridge.elbow(bridge.targets) - bridge.home[3]) > 0.01:
        bridge.engage()
        arm.send(arm.goal((1.0, 0.0))).ends(GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)


def test_a_goal_is_followed_to_its_end(bridge: BridgeRig, arm: Arm) -> None:
    bridge.engage()
    began = time.monotonic()
    sent = arm.send(arm.goal((0.0, 0.0), (1.0, 0.1), (2.0, 0.2)))
    sent.ends(GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
    assert abs(bridge.elbow() - bridge.home[3] - 0.2) <= 0.02
    assert time.monotonic() - began >= 2.0
    times = [seconds_in(feedback) for feedback in sent.feedback]
    assert 10 <= len(times) <= 2.0 / 0.05 + 2
    assert all(later > before for before, later in itertools.pairwise(times))
    for message in sent.feedback:
        assert tuple(message.joint_names) == tuple(bridge.joints)
        desired, actual, error = (
            np.array(point.positions) for point in (message.desired, message.actual, message.error)
        )
        np.testing.assert_allclose(error, desired - actual, atol=1e-12)
        assert abs(desired[3] - bridge.home[3] - 0.1 * seconds_in(message)) < 1e-6
        assert np.abs(error).max() < 0.05, "only the ramp delays it"


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"names": ["elbow", *(f"right_arm_{i}" for i in range(1, 7))]}, "JOINTS", "'elbow'"),
        ({"goal_tolerance": [JointTolerance(name="elbow")]}, "GOAL", "'elbow'"),
        ({"points": ()}, "GOAL", "at least one point"),
        ({"points": ((1.0, float("nan")),)}, "GOAL", "finite"),
        ({"points": ((0.0, 0.5), (2.0, 0.5))}, "GOAL", "plan from its present positions"),
    ],
)
def test_a_goal_that_cannot_be_followed_is_refused_with_the_reason(
    bridge: BridgeRig, arm: Arm, changes: dict[str, Any], code: str, words: str
) -> None:
    points = changes.pop("points", ((1.0, 0.1),))
    sent = arm.send(arm.goal(*points, **changes))
    assert words in sent.ends(GoalStatus.STATUS_ABORTED, getattr(Result, f"INVALID_{code}"))


def test_a_goal_of_the_past_is_refused(bridge: BridgeRig, arm: Arm) -> None:
    goal = arm.goal((1.0, 0.1))
    goal.trajectory.header.stamp.sec = int(time.time()) - 60
    words = arm.send(goal).ends(GoalStatus.STATUS_ABORTED, Result.OLD_HEADER_TIMESTAMP)
    assert "ago" in words


def test_a_goal_without_engagement_does_not_move_the_robot(bridge: BridgeRig, arm: Arm) -> None:
    start = bridge.elbow(bridge.targets)
    words = arm.send(arm.goal((1.0, 0.2))).ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "the robot was not engaged (ready" in words
    assert bridge.elbow(bridge.targets) == start


def test_a_goal_that_is_cancelled_stops_the_arm_where_it_is(bridge: BridgeRig, arm: Arm) -> None:
    bridge.engage()
    start = bridge.elbow(bridge.targets)
    sent = arm.send(arm.goal((2.0, 0.4)))
    sent.wait_for_feedback(1.0)
    future = sent.handle.cancel_goal_async()
    sent.ends(GoalStatus.STATUS_CANCELED, Result.SUCCESSFUL)
    assert len(future.result().goals_canceling) == 1
    _stands(bridge)
    assert 0.1 < bridge.elbow(bridge.targets) - start < 0.35
    assert abs(bridge.elbow() - bridge.elbow(bridge.targets)) < 0.02


def test_an_emergency_stop_ends_a_goal_and_says_so(bridge: BridgeRig, arm: Arm) -> None:
    bridge.engage()
    start = bridge.elbow(bridge.targets)
    sent = arm.send(arm.goal((2.0, 0.4)))
    sent.wait_for_feedback(1.0)
    bridge.bench.trigger(TopicNames.ESTOP)
    words = sent.ends(GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert "stopped following (estopped" in words
    _stands(bridge)
    assert 0.1 < bridge.elbow(bridge.targets) - start < 0.4
    refused = arm.send(arm.goal((1.0, 0.4)))
    assert "estopped" in refused.ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    bridge.bench.trigger(TopicNames.RESET_ESTOP)
    bridge.bench.wait_for_state("syncing")
    bridge.bench.trigger(TopicNames.ENGAGE)
    bridge.bench.wait_for_state("ready")


def test_a_new_goal_replaces_the_one_before_without_a_jump(bridge: BridgeRig, arm: Arm) -> None:
    bridge.engage()
    first = arm.send(arm.goal((3.0, 0.3)))
    first.wait_for_feedback(1.0)
    second = arm.send(arm.goal((1.5, 0.0)))
    words = first.ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert "newer goal" in words
    second.ends(GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
    _, positions = bridge.path(bridge.targets)
    # 0.3 rad/s and some to catch up, in periods of 10 ms of which a few may be lost.
    assert np.abs(np.diff(positions)).max() < 0.03


def test_a_goal_for_a_part_with_another_owner_is_refused(bridge: BridgeRig, arm: Arm) -> None:
    with bridge.commanding():
        bridge.engage()
        words = arm.send(arm.goal((1.0, 0.1))).ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
        assert "right_arm is commanded by /bench" in words
    bridge.bench.wait(lambda: "dead_client" in bridge.bench.causes(), "it is still commanded")


def test_a_goal_ends_when_its_tolerance_is_exceeded(bridge: BridgeRig, arm: Arm) -> None:
    bridge.engage()
    tolerance = JointTolerance(name="right_arm_3", position=1e-5)
    sent = arm.send(arm.goal((1.0, 0.2), path_tolerance=[tolerance]))
    words = sent.ends(GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED)
    assert "right_arm_3 is off by" in words


def test_a_goal_ends_where_the_robot_is_reset_or_deactivated(bridge: BridgeRig, arm: Arm) -> None:
    bridge.engage()
    sent = arm.send(arm.goal((5.0, 0.1)))
    sent.wait_for_feedback(0.1)
    assert bridge.bench.trigger("/mujoco/reset").success
    assert "started again" in sent.ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    bridge.engage()
    sent = arm.send(arm.goal((5.0, 0.1)))
    sent.wait_for_feedback(0.1)
    assert bridge.bench.transition(bridge.name, "deactivate")
    assert "deactivated" in sent.ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    late = arm.send(arm.goal((1.0, 0.1)))
    assert "not active" in late.ends(GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL)
    assert bridge.bench.transition(bridge.name, "activate")
    bridge.bench.wait_for_state("ready")


def test_a_goal_can_be_cancelled_while_simulated_time_is_paused(
    bridge: BridgeRig, arm: Arm
) -> None:
    bridge.engage()
    sent = arm.send(arm.goal((5.0, 0.1)))
    sent.wait_for_feedback(0.1)
    assert bridge.bench.trigger("/mujoco/pause").success
    sent.handle.cancel_goal_async()
    sent.ends(GoalStatus.STATUS_CANCELED, Result.SUCCESSFUL)
    assert bridge.bench.trigger("/mujoco/resume").success


def _stands(rig: BridgeRig) -> None:
    """Wait until the elbow is no longer commanded to move."""

    def rests() -> bool:
        rig.targets.clear()
        rig.bench.wait(lambda: rig.targets.count >= 10)
        return bool(np.ptp(rig.path(rig.targets)[1]) < 1e-6)

    rig.bench.wait(rests, "it never stands")
