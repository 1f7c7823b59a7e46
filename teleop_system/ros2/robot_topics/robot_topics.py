# SPDX-License-Identifier: Apache-2.0
"""Everything between the topics of a robot and its robot side, one cycle at a time."""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from std_msgs.msg import Bool

from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.estop_memory import EstopMemory
from teleop_system.robot_side.intake import ClutchMonitor, CommandIntake, OperatorModules
from teleop_system.robot_side.requests import RequestBox
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription
from teleop_system.ros2.robot_topics.command_topics import CommandTopics
from teleop_system.ros2.robot_topics.services import RobotServices
from teleop_system.ros2.robot_topics.tool_topics import ToolTopics
from teleop_system.ros2.robot_topics.trajectory_action import open_actions
from teleop_system.ros2.statistics import TrafficStatistics
from teleop_system.ros2.status import (
    ROBOT,
    StatusListener,
    StatusReport,
    cause_values,
    level_of,
)
from teleop_system.safety import SafetyOutput
from teleop_system.utils.ros2_helpers import QoSPreset, TopicNames

_S = EngagementState
NODES = "teleop/"


class RobotTopics:
    """Commands, clutch, services and the operator's modules of one robot.

    Args:
        node: The `TeleopNode` that owns the robot, with a `now()` on the clock of the stamps.
        robot: The robot.
        robot_side: Its robot side.
        auto_engage: Engage as soon as the robot is ready and inputs are fresh.
        mode: Returns the control mode: "position", "velocity" or "effort".

    Attributes:
        intake: The newest commands.
        requests: Receives the requests of operators.
    """

    def __init__(
        self,
        node: Any,
        robot: RobotDescription,
        robot_side: RobotSide,
        *,
        auto_engage: bool,
        mode: Callable[[], str] = lambda: "position",
    ) -> None:
        self._node, self._robot_side, self._robot = node, robot_side, robot
        self.intake = CommandIntake(robot_side.safety.parts, node.settings.safety, self._name_of)
        self.requests = RequestBox(auto_engage=auto_engage)
        self._clutch = ClutchMonitor()
        self._modules = OperatorModules()
        self._traffic = TrafficStatistics()
        self._topics = CommandTopics(
            node, robot, robot_side, self.intake, self._traffic, mode=mode
        )
        self._tools = ToolTopics(node, robot, robot_side, self.intake)
        self._services = RobotServices(node, robot_side, self.requests, self._can_engage)
        self._actions = open_actions(node, robot_side, self._tools, self._hold_reason)
        node.subscribe(Bool, TopicNames.CLUTCH, self._on_clutch, QoSPreset.COMMAND)
        listener = StatusListener(node, (NODES,), self._on_report)
        node.resources.callback(node.destroy_subscription, listener.subscription)
        self._causes: dict[tuple[str, str], Cause] = {}
        self._shown: tuple[object, ...] = ()
        self._memory = EstopMemory(_estop_file(node))
        if self._memory.is_latched:
            node.get_logger().warning("emergency stop latched, as when the last process ended")
            robot_side.latch_estop()
        self._must_disengage = False

    def restart(self) -> None:
        """Forget all commands and disengage, as after an interruption."""
        self.abort_tools("the robot was started again")
        self.intake.clear()
        self._must_disengage = True

    def end(self) -> None:
        """End normally: the next process starts without a latched stop."""
        self._memory.keep(False)

    def abort_tools(self, reason: str) -> None:
        """Drop the trajectories of other tools, and report the reason to their senders."""
        for action in self._actions:
            action.stop(reason)
        self._tools.clear()

    def cycle(self, now: float) -> SafetyOutput | None:
        """Run the cycle at time `now` [s]; return what was sent to the robot."""
        robot_side = self._robot_side
        fresh = self._inputs_are_fresh(now)
        requests = self.requests.take(ready=robot_side.status.state is _S.READY and fresh)
        if requests.clutch and not self._clutch.is_closed(now):
            requests = replace(requests, clutch=False)
        if self._must_disengage:
            requests = replace(requests, engage=False, disengage=True)
            self._must_disengage = False
        fresh = fresh or (requests.engage and self._may_engage_without_inputs(now))
        robot_side.begin(now, requests, inputs_fresh=fresh)
        self._tools.update(now)
        output = robot_side.finish(now, self.intake.commands, self.intake.base, requests)
        for action in self._actions:
            action.update(now)
        for cause in robot_side.causes:
            self._causes[cause.rule.id, cause.subject] = cause
        self._report_changes()
        return output

    def report(self) -> StatusReport:
        """Return the state of the robot, for the status topic."""
        robot_side, status = self._robot_side, self._robot_side.status
        now = self._node.now()
        causes = [*self._causes.values(), *self.intake.causes(now), *self._why_not_following(now)]
        # A cause that acted for a single cycle is reported once.
        self._causes.clear()
        output = robot_side.output
        holding = sorted(output.holding) if output is not None else ()
        values = {
            "state": status.state.value,
            "reason": status.reason,
            "note": status.note or self._modules.missing(now),
            "following": str(status.following).lower(),
            "estop": str(status.state is _S.ESTOPPED).lower(),
            "clutch": "closed" if self._clutch.is_closed(now) else "open",
            "holding": ",".join(holding),
            "masters": ",".join(self._modules.present(now)),
            **self._traffic.values(self._node.steady()),
            **cause_values(causes),
        }
        message = status.note or status.reason
        return StatusReport(ROBOT, level_of(causes), message, values, self._robot.name)

    def _why_not_following(self, now: float) -> Iterator[Cause]:
        """Yield why an engaged robot does not follow."""
        status = self._robot_side.status
        if status.state is not _S.ENGAGED or status.following:
            return
        if not self._clutch.is_closed(now):
            yield Cause(Rule.NOT_ENGAGED, "clutch", 0.0, 1.0, status.since, Severity.HOLD)
            return
        age, limit = self.intake.age(now), self._robot_side.config.input_age
        rule = Rule.STALE if age <= self._node.settings.safety.dead_after else Rule.DEAD_CLIENT
        yield Cause(rule, "commands", age, limit, now - age, Severity.HOLD)

    def _hold_reason(self) -> str:
        """Return why the robot does not follow, or what limits it; may be empty."""
        status = self._robot_side.status
        if status.state is not _S.ENGAGED:
            return f"{status.state.value}: {status.note or status.reason}"
        causes = (*self._why_not_following(self._node.now()), *self._robot_side.causes)
        return "; ".join(str(cause) for cause in causes[:2])

    def _inputs_are_fresh(self, now: float) -> bool:
        """Return whether an operator or a tool commands the robot, or is ready to."""
        limit = self._robot_side.config.input_age
        streams = self._tools.is_busy or self.intake.is_fresh(now, limit)
        if self._robot_side.status.state is _S.ENGAGED:
            # Modules send no commands while the clutch is open, but they are present.
            return streams or self._modules.some_are_fresh(now)
        if self._modules.present(now):
            return self._modules.are_fresh(now)
        return streams

    def _can_engage(self) -> str:
        now = self._node.now()
        fresh = self._inputs_are_fresh(now) or self._may_engage_without_inputs(now)
        refusal = self._robot_side.refusal(inputs_fresh=fresh)
        missing = self._modules.missing(now)
        return f"{refusal} ({missing})" if refusal and missing else refusal

    def _may_engage_without_inputs(self, now: float) -> bool:
        """Return whether a person may engage for a tool that has sent no command yet."""
        return not self._modules.present(now)

    def _report_changes(self) -> None:
        status = self._robot_side.status
        shown = (status.state, status.following)
        if shown != self._shown:
            if not self._shown or self._shown[0] is not status.state:
                self._memory.keep(self._robot_side.is_estopped)
                self._node.get_logger().info(f"{status.state.value}: {status.reason}")
            self._shown = shown
            self._node.publish_status()

    def _on_clutch(self, message: Bool) -> None:
        self._clutch.receive(bool(message.data), self._node.now())

    def _on_report(self, report: StatusReport) -> None:
        values = report.values
        if "module" in values and values.get("lifecycle") == "active":
            detail = values.get("inputs", "")
            self._modules.receive(
                report.name.removeprefix(NODES),
                fresh=detail == "fresh",
                detail=detail,
                now=self._node.now(),
            )

    def _name_of(self, sender: object) -> str:
        return self._topics.node_of(sender)


def _estop_file(node: Any) -> Path:
    """Return a file that is the same for every process with the same domain and prefix."""
    folder = Path(tempfile.gettempdir()) / f"teleop_system_{os.getuid()}"
    name = node.topic(TopicNames.ESTOP).strip("/").replace("/", "_")
    return folder / f"{name}_{node.context.get_domain_id()}"
