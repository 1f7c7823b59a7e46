# SPDX-License-Identifier: Apache-2.0
"""The `FollowJointTrajectory` action of every arm and torso, where `control_msgs` is installed.

The robot side judges the goals in its cycle; no thread waits for a goal.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.action.server import ActionServer, CancelResponse
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectoryPoint

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces.causes import Rule
from teleop_system.robot_side.intake.trajectory import SETTLING_TIME, start_fault
from teleop_system.robot_side.intake.trajectory_goal import (
    GOAL_TOLERANCE,
    Outcome,
    Tolerances,
    TrajectoryGoal,
    Verdict,
    refuse_far_start,
)
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.ros2.robot_topics.tool_topics import ToolTopics, read_trajectory, seconds
from teleop_system.safety import Part

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None

ACTION = "follow_joint_trajectory"
FEEDBACK_INTERVAL = 0.05
"""Time in [s] between two feedback messages."""

CODES = {
    Outcome.REACHED: "SUCCESSFUL",
    Outcome.CANCELLED: "SUCCESSFUL",
    Outcome.REFUSED: "INVALID_GOAL",
    Outcome.WRONG_JOINTS: "INVALID_JOINTS",
    Outcome.TOO_OLD: "OLD_HEADER_TIMESTAMP",
    Outcome.LEFT_PATH: "PATH_TOLERANCE_VIOLATED",
    Outcome.MISSED: "GOAL_TOLERANCE_VIOLATED",
}
"""The error code of the action for each outcome."""


@dataclass(slots=True, eq=False)
class _Run:
    """A running goal: rclpy's handle, our goal and the future of its result."""

    handle: Any
    goal: TrajectoryGoal
    done: "Future[Any]" = field(default_factory=Future)
    reported_at: float = -np.inf


class TrajectoryAction:
    """The goals of one part; a new goal replaces the running one.

    Args:
        action_type: `FollowJointTrajectory`.
        name: Name of the action, and of the sender.
        part: The part.
        node: The `TeleopNode` that owns the robot.
        robot_side: Its robot side.
        tools: Plays trajectories.
        hold_reason: Returns why the robot does not follow, or what limits it.
    """

    def __init__(
        self,
        action_type: Any,
        name: str,
        part: Part,
        *,
        node: Any,
        robot_side: RobotSide,
        tools: ToolTopics,
        hold_reason: Callable[[], str],
    ) -> None:
        self._type, self._name, self._part = action_type, name, part
        self._node, self._robot_side, self._tools = node, robot_side, tools
        self._hold_reason = hold_reason
        self._run: _Run | None = None

    async def execute(self, handle: Any) -> Any:
        """Play a goal; return its result when it has ended."""
        verdict = Verdict(Outcome.CANCELLED) if handle.is_cancel_requested else self._begin(handle)
        if verdict is None and self._run is not None:
            result = await self._run.done
        else:
            result = self._close(handle, verdict or Verdict(Outcome.CANCELLED))
        if handle.is_cancel_requested:
            handle.canceled()
        return result

    def cancel(self, handle: Any) -> CancelResponse:
        """Stop a goal at once: the part brakes and holds."""
        if self._run is not None and self._run.handle == handle:
            self._end(Verdict(Outcome.CANCELLED))
        return CancelResponse.ACCEPT

    def stop(self, reason: str) -> None:
        """Abort the running goal, if any."""
        if self._run is not None:
            self._end(Verdict(Outcome.REFUSED, reason))

    def update(self, now: float) -> None:
        """Judge the running goal at time `now` [s], after the cycle's commands were sent."""
        run, robot_side = self._run, self._robot_side
        if run is None or robot_side.output is None:
            return
        measured = robot_side.drive.positions[self._part.columns]
        commanded = robot_side.output.of(self._part.name)
        following = robot_side.is_following
        verdict = run.goal.judge(measured, commanded, following=following, why=self._hold_reason)
        if verdict is not None:
            self._end(verdict)
        elif run.goal.desired is not None and now - run.reported_at >= FEEDBACK_INTERVAL:
            run.reported_at = now
            self._report(run, now, run.goal.desired, measured)

    def _begin(self, handle: Any) -> Verdict | None:
        """Start a goal; return the verdict where it is refused."""
        part, request, robot_side = self._part, handle.request, self._robot_side
        if not self._node.is_active or robot_side.output is None:
            return Verdict(Outcome.REFUSED, "the robot is not active")
        names = list(request.trajectory.joint_names)
        if sorted(names) != sorted(part.joints):
            reason = f"{part.name} needs the joints {list(part.joints)}, got {names}"
            return Verdict(Outcome.WRONG_JOINTS, reason)
        try:
            trajectory = read_trajectory(part, request.trajectory)
            path = _tolerances(part, np.inf, request.path_tolerance)
            end = _tolerances(part, GOAL_TOLERANCE, request.goal_tolerance)
            speed = robot_side.safety.parts.velocity[part.columns]
            commanded = robot_side.output.of(part.name)
            refuse_far_start(trajectory, part.joints, commanded, speed)
        except InvalidJointStateError as error:
            return Verdict(Outcome.REFUSED, str(error))
        start_time = seconds(request.trajectory.header.stamp) or None
        if (found := start_fault(part.name, start_time, self._node.now())) is not None:
            fault, reason = found
            is_old = fault.rule is Rule.STALE
            return Verdict(Outcome.TOO_OLD if is_old else Outcome.REFUSED, reason)
        self.stop("a newer goal replaced it")
        settling = seconds(request.goal_time_tolerance)
        settling = settling if settling > 0.0 else SETTLING_TIME
        player = self._tools.play(part.name, trajectory, self._name, start_time, settling=settling)
        if player is None:
            reason = f"{part.name} is commanded by {self._tools.owner(part.name)}"
            return Verdict(Outcome.REFUSED, reason)
        self._run = _Run(handle, TrajectoryGoal(trajectory, player, path, end))
        return None

    def _end(self, verdict: Verdict) -> None:
        run, self._run = self._run, None
        assert run is not None
        self._tools.stop(self._part.name, self._name)
        run.done.set_result(self._close(run.handle, verdict))

    def _close(self, handle: Any, verdict: Verdict) -> Any:
        """End a goal with a verdict and return its result."""
        result = self._type.Result()
        result.error_code = getattr(result, CODES[verdict.outcome])
        result.error_string = verdict.words
        if verdict.outcome is Outcome.REACHED:
            handle.succeed()
        elif verdict.outcome is not Outcome.CANCELLED:  # rclpy permits `canceled()` only later.
            self._node.get_logger().warning(
                f"{self._name} {verdict.outcome.value}: {verdict.words}"
            )
            handle.abort()
        return result

    def _report(
        self, run: _Run, now: float, desired: NDArray[np.float64], measured: NDArray[np.float64]
    ) -> None:
        message = self._type.Feedback()
        _set(message.header.stamp, now)
        message.joint_names = list(self._part.joints)
        message.desired = _point(run.goal.elapsed, desired)
        message.actual = _point(run.goal.elapsed, measured)
        message.error = _point(run.goal.elapsed, desired - measured)
        run.handle.publish_feedback(message)


def open_actions(
    node: Any, robot_side: RobotSide, tools: ToolTopics, hold_reason: Callable[[], str]
) -> list[TrajectoryAction]:
    """Serve an action for every part with a trajectory topic; none without control_msgs."""
    actions: list[TrajectoryAction] = []
    if FollowJointTrajectory is None:
        return actions
    for name, topic in tools.topics.items():
        called = node.topic(f"{topic.rpartition('/')[0]}/{ACTION}")
        action = TrajectoryAction(
            FollowJointTrajectory,
            called,
            robot_side.safety.parts[name],
            node=node,
            robot_side=robot_side,
            tools=tools,
            hold_reason=hold_reason,
        )
        server = ActionServer(
            node,
            FollowJointTrajectory,
            called,
            execute_callback=action.execute,
            cancel_callback=action.cancel,
        )
        node.resources.callback(server.destroy)
        actions.append(action)
    return actions


def _tolerances(part: Part, default: float, given: Any) -> Tolerances:
    made = Tolerances(part.joints, default)
    for tolerance in given:
        made.allow(tolerance.name, tolerance.position)
    return made


def _point(elapsed: float, positions: NDArray[np.float64]) -> JointTrajectoryPoint:
    point = JointTrajectoryPoint(positions=positions.tolist())
    _set(point.time_from_start, elapsed)
    return point


def _set(time: Any, value: float) -> None:
    """Set a time or duration of ROS 2 to a value in [s]."""
    time.sec, time.nanosec = divmod(round(value * 1e9), 1_000_000_000)
