# SPDX-License-Identifier: Apache-2.0
"""The `FollowJointTrajectory` action of every arm and torso, where `control_msgs` is installed.

Goals are judged by the robot's own cycle, and nothing else is busy while one is under way.
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
from teleop_system.ros2.robot_topics.tool_doors import ToolDoors, read_trajectory, seconds
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
"""The error code of the action that tells each outcome."""


@dataclass(slots=True, eq=False)
class _Run:
    """A goal that is under way: rclpy's handle, ours, and what gets the result."""

    handle: Any
    goal: TrajectoryGoal
    done: "Future[Any]" = field(default_factory=Future)
    told_at: float = -np.inf


class TrajectoryAction:
    """The goals of one part; a new one replaces the one before it.

    Args:
        action_type: `FollowJointTrajectory`.
        name: Name of the action, which is that of the sender, too.
        part: The part.
        node: The `TeleopNode` that owns the robot.
        core: The robot's core.
        doors: Plays trajectories.
        why: Tells why the robot does not follow, or what limits it.
    """

    def __init__(
        self,
        action_type: Any,
        name: str,
        part: Part,
        *,
        node: Any,
        core: RobotSide,
        doors: ToolDoors,
        why: Callable[[], str],
    ) -> None:
        self._type, self._name, self._part = action_type, name, part
        self._node, self._core, self._doors, self._why = node, core, doors, why
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
        """Stop playing a goal at once: the part brakes, and holds."""
        if self._run is not None and self._run.handle == handle:
            self._end(Verdict(Outcome.CANCELLED))
        return CancelResponse.ACCEPT

    def stop(self, reason: str) -> None:
        """Give up the goal that is under way, if any."""
        if self._run is not None:
            self._end(Verdict(Outcome.REFUSED, reason))

    def update(self, now: float) -> None:
        """Judge the goal that is under way at time `now` [s], after what was sent was decided."""
        run, core = self._run, self._core
        if run is None or core.output is None:
            return
        measured = core.side.positions[self._part.columns]
        commanded = core.output.of(self._part.name)
        verdict = run.goal.judge(measured, commanded, following=core.is_following, why=self._why)
        if verdict is not None:
            self._end(verdict)
        elif run.goal.desired is not None and now - run.told_at >= FEEDBACK_INTERVAL:
            run.told_at = now
            self._tell(run, now, run.goal.desired, measured)

    def _begin(self, handle: Any) -> Verdict | None:
        """Begin to play a goal; return why not, if so."""
        part, request, core = self._part, handle.request, self._core
        if not self._node.is_active or core.output is None:
            return Verdict(Outcome.REFUSED, "the robot is not active")
        names = list(request.trajectory.joint_names)
        if sorted(names) != sorted(part.joints):
            words = f"{part.name} needs the joints {list(part.joints)}, got {names}"
            return Verdict(Outcome.WRONG_JOINTS, words)
        try:
            trajectory = read_trajectory(part, request.trajectory)
            path = _tolerances(part, np.inf, request.path_tolerance)
            end = _tolerances(part, GOAL_TOLERANCE, request.goal_tolerance)
            speed = core.safety.parts.velocity[part.columns]
            refuse_far_start(trajectory, part.joints, core.output.of(part.name), speed)
        except InvalidJointStateError as error:
            return Verdict(Outcome.REFUSED, str(error))
        begins_at = seconds(request.trajectory.header.stamp) or None
        if (found := start_fault(part.name, begins_at, self._node.now())) is not None:
            fault, words = found
            is_old = fault.rule is Rule.STALE
            return Verdict(Outcome.TOO_OLD if is_old else Outcome.REFUSED, words)
        self.stop("a newer goal replaced it")
        settling = seconds(request.goal_time_tolerance)
        settling = settling if settling > 0.0 else SETTLING_TIME
        player = self._doors.play(part.name, trajectory, self._name, begins_at, settling=settling)
        if player is None:
            words = f"{part.name} is commanded by {self._doors.owner(part.name)}"
            return Verdict(Outcome.REFUSED, words)
        self._run = _Run(handle, TrajectoryGoal(trajectory, player, path, end))
        return None

    def _end(self, verdict: Verdict) -> None:
        run, self._run = self._run, None
        assert run is not None
        self._doors.stop(self._part.name, self._name)
        run.done.set_result(self._close(run.handle, verdict))

    def _close(self, handle: Any, verdict: Verdict) -> Any:
        """Let a goal end as a verdict says, and return its result."""
        result = self._type.Result()
        result.error_code = getattr(result, CODES[verdict.outcome])
        result.error_string = verdict.words
        if verdict.outcome is Outcome.REACHED:
            handle.succeed()
        elif verdict.outcome is not Outcome.CANCELLED:  # That rclpy allows only a moment later.
            self._node.get_logger().warning(
                f"{self._name} {verdict.outcome.value}: {verdict.words}"
            )
            handle.abort()
        return result

    def _tell(
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
    node: Any, core: RobotSide, doors: ToolDoors, why: Callable[[], str]
) -> list[TrajectoryAction]:
    """Serve the action of every part that has a trajectory topic; none without control_msgs."""
    actions: list[TrajectoryAction] = []
    if FollowJointTrajectory is None:
        return actions
    for name, topic in doors.topics.items():
        called = node.topic(f"{topic.rpartition('/')[0]}/{ACTION}")
        action = TrajectoryAction(
            FollowJointTrajectory,
            called,
            core.safety.parts[name],
            node=node,
            core=core,
            doors=doors,
            why=why,
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
