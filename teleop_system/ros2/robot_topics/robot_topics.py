# SPDX-License-Identifier: Apache-2.0
"""Everything between the topics of a robot and its core, one cycle at a time."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Bool

from teleop_system.interfaces.causes import Cause, Rule, Severity
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.intake import ClutchWatch, CommandIntake, MasterWatch
from teleop_system.robot_side.requests import RequestBox
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription
from teleop_system.ros2.robot_topics.command_topics import CommandTopics
from teleop_system.ros2.robot_topics.estop_memory import EstopMemory
from teleop_system.ros2.robot_topics.services import RobotServices
from teleop_system.ros2.robot_topics.tool_doors import ToolDoors
from teleop_system.ros2.robot_topics.traffic import Traffic
from teleop_system.ros2.robot_topics.trajectory_action import open_actions
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
        core: Its core.
        auto_engage: Take control by itself once somebody's inputs are fresh.
        mode: Tells the control mode: "position", "velocity" or "effort".
        extra: Takes the part, the stamp and the efforts of each command in effort mode.

    Attributes:
        intake: The newest commands.
        requests: Takes what people ask for.
    """

    def __init__(
        self,
        node: Any,
        robot: RobotDescription,
        core: RobotSide,
        *,
        auto_engage: bool,
        mode: Callable[[], str] = lambda: "position",
        extra: Callable[[str, float, NDArray[np.float64]], None] = lambda *command: None,
    ) -> None:
        self._node, self._core, self._robot = node, core, robot
        self.intake = CommandIntake(core.safety.parts, node.settings.safety, self._name_of)
        self.requests = RequestBox(auto_engage=auto_engage)
        self._clutch = ClutchWatch()
        self._masters = MasterWatch()
        self._traffic = Traffic()
        self._topics = CommandTopics(
            node, robot, core, self.intake, self._traffic, mode=mode, extra=extra
        )
        self._doors = ToolDoors(node, robot, core, self.intake)
        self._services = RobotServices(node, core, self.requests, self._can_engage)
        self._actions = open_actions(node, core, self._doors, self._why_it_holds)
        node.subscribe(Bool, TopicNames.CLUTCH, self._on_clutch, QoSPreset.COMMAND)
        listener = StatusListener(node, (NODES,), self._on_report)
        node.resources.callback(node.destroy_subscription, listener.subscription)
        self._causes: dict[tuple[str, str], Cause] = {}
        self._shown: tuple[object, ...] = ()
        self._memory = EstopMemory(node)
        if self._memory.is_latched:
            node.get_logger().warning("begins stopped, as the process before it ended")
            core.latch_estop()
        self._lets_go = False

    def begin_anew(self) -> None:
        """Forget all commands and let go of the robot, as after it stood still for a while."""
        self.let_go("the robot began anew")
        self.intake.clear()
        self._lets_go = True

    def end(self) -> None:
        """End for good, and as one should: who comes next finds nothing latched."""
        self._memory.keep(False)

    def let_go(self, reason: str) -> None:
        """Drop what other tools asked for, and tell those who wait why."""
        for action in self._actions:
            action.stop(reason)
        self._doors.clear()

    def cycle(self, now: float) -> SafetyOutput | None:
        """Do everything that is due at time `now` [s]; return what was sent to the robot."""
        core = self._core
        fresh = self._inputs_are_fresh(now)
        asked = self.requests.take(ready=core.status.state is _S.READY and fresh)
        if asked.clutch and not self._clutch.is_closed(now):
            asked = replace(asked, clutch=False)
        if self._lets_go:
            asked = replace(asked, engage=False, disengage=True)
            self._lets_go = False
        fresh = fresh or (asked.engage and self._may_ask_without_inputs(now))
        core.begin(now, asked, inputs_fresh=fresh)
        self._doors.update(now)
        output = core.finish(now, self.intake.commands, self.intake.base, asked)
        for action in self._actions:
            action.update(now)
        for cause in core.causes:
            self._causes[cause.rule.id, cause.subject] = cause
        self._tell_changes()
        return output

    def report(self) -> StatusReport:
        """Return how the robot is, for the status topic."""
        core, status = self._core, self._core.status
        now = self._node.now()
        causes = [*self._causes.values(), *self.intake.causes(now), *self._why_not_following(now)]
        # What acted only for a cycle since the last report should be seen once, and no longer.
        self._causes.clear()
        holding = sorted(core.output.holding) if core.output is not None else ()
        values = {
            "state": status.state.value,
            "reason": status.reason,
            "note": status.note or self._masters.missing(now),
            "following": str(status.following).lower(),
            "estop": str(status.state is _S.ESTOPPED).lower(),
            "clutch": "closed" if self._clutch.is_closed(now) else "open",
            "holding": ",".join(holding),
            "masters": ",".join(self._masters.present(now)),
            **self._traffic.values(self._node.steady()),
            **cause_values(causes),
        }
        message = status.note or status.reason
        return StatusReport(ROBOT, level_of(causes), message, values, self._robot.name)

    def _why_not_following(self, now: float) -> Iterator[Cause]:
        """Yield why a robot that is engaged does not follow."""
        status = self._core.status
        if status.state is not _S.ENGAGED or status.following:
            return
        if not self._clutch.is_closed(now):
            yield Cause(Rule.NOT_ENGAGED, "clutch", 0.0, 1.0, status.since, Severity.HOLD)
            return
        age, limit = self.intake.age(now), self._core.config.input_age
        rule = Rule.STALE if age <= self._node.settings.safety.dead_after else Rule.DEAD_CLIENT
        yield Cause(rule, "commands", age, limit, now - age, Severity.HOLD)

    def _why_it_holds(self) -> str:
        """Return in words why the robot does not follow, or what limits it; often empty."""
        status = self._core.status
        if status.state is not _S.ENGAGED:
            return f"{status.state.value}: {status.note or status.reason}"
        causes = (*self._why_not_following(self._node.now()), *self._core.causes)
        return "; ".join(str(cause) for cause in causes[:2])

    def _inputs_are_fresh(self, now: float) -> bool:
        """Tell whether somebody moves the robot, or could."""
        streams = self._doors.is_busy or self.intake.is_fresh(now, self._core.config.input_age)
        if self._core.status.state is _S.ENGAGED:
            # Masters send nothing while the clutch is open, and are there all the same.
            return streams or self._masters.some_are_fresh(now)
        if self._masters.present(now):
            return self._masters.are_fresh(now)
        return streams

    def _can_engage(self) -> str:
        now = self._node.now()
        fresh = self._inputs_are_fresh(now) or self._may_ask_without_inputs(now)
        refusal = self._core.refusal(inputs_fresh=fresh)
        missing = self._masters.missing(now)
        return f"{refusal} ({missing})" if refusal and missing else refusal

    def _may_ask_without_inputs(self, now: float) -> bool:
        """Tell whether a person may take control for a tool that has sent nothing yet."""
        return not self._masters.present(now)

    def _tell_changes(self) -> None:
        status = self._core.status
        shown = (status.state, status.following)
        if shown != self._shown:
            if not self._shown or self._shown[0] is not status.state:
                self._memory.keep(self._core.is_estopped)
                self._node.get_logger().info(f"{status.state.value}: {status.reason}")
            self._shown = shown
            self._node.publish_status()

    def _on_clutch(self, message: Bool) -> None:
        self._clutch.hear(bool(message.data), self._node.now())

    def _on_report(self, report: StatusReport) -> None:
        values = report.values
        if "module" in values and values.get("lifecycle") == "active":
            detail = values.get("inputs", "")
            self._masters.hear(
                report.name.removeprefix(NODES),
                fresh=detail == "fresh",
                detail=detail,
                now=self._node.now(),
            )

    def _name_of(self, sender: object) -> str:
        return self._topics.node_of(sender)
