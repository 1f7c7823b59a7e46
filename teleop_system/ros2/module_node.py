# SPDX-License-Identifier: Apache-2.0
"""A controller as a lifecycle node: samples come in on topics, commands go out on topics.

The controller is the one that a standalone session runs. Callbacks store samples and ask a
`TickTrigger` whether a tick is due. The robot side reports whether it follows commands.
"""

import abc
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from teleop_system.interfaces.causes import Cause, Rule
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.ros2.joint_topics import JointWriter
from teleop_system.ros2.parameters import SettingParameters
from teleop_system.ros2.robot_link import RobotLink, TargetUse
from teleop_system.ros2.sample_topic import SampleTopic
from teleop_system.ros2.statistics import ControllerStatistics
from teleop_system.ros2.status import StatusReport, cause_values, level_of
from teleop_system.ros2.teleop_node import TeleopNode
from teleop_system.safety import RobotParts
from teleop_system.safety.staleness import FUTURE_TOLERANCE
from teleop_system.session.build import make_module
from teleop_system.session.modules import ModuleOutput, TeleopModule
from teleop_system.session.signals import Samples
from teleop_system.session.signals.needs import signal_needs
from teleop_system.settings import TeleopSettings
from teleop_system.timing.tick_trigger import TickTrigger

STATUS_RATE = 4.0
JUMP = 0.2
"""A clock that jumps back by more than this in [s] was restarted."""


class ModuleNode(TeleopNode, abc.ABC):
    """One controller on its topics.

    It sends commands only while the node is active and the robot follows.

    Attributes:
        module_name: Name of the controller.
        sections: Sections of the settings that are parameters of the node.
        fixed: Keys that cannot be changed while the node runs.
        targets: When the controller needs the last commanded joint positions.
        module: The controller, while the node is configured.
        robot: The robot, while the node is configured.
    """

    module_name: ClassVar[str]
    sections: ClassVar[Sequence[str]]
    fixed: ClassVar[Sequence[str]]
    targets: ClassVar[TargetUse] = TargetUse.ALWAYS
    module: TeleopModule
    robot: RobotDescription

    def __init__(self, name: str, **keywords: Any) -> None:
        super().__init__(name, status_rate=STATUS_RATE, **keywords)
        self._tuning = SettingParameters(
            self,
            self.sections,
            fixed=self.fixed,
            refuse=self._refusal,
            check=self._prepare,
            apply=self._use_settings,
        )

    @abc.abstractmethod
    def open_input(self, signal: str, *, wakes: bool = True) -> SampleTopic[Any]:
        """Return the topic of a signal of the operator; it may still be closed.

        Args:
            signal: One of `SIGNALS`.
            wakes: Whether its samples call `on_sample`, which may start a tick.
        """

    @abc.abstractmethod
    def open_writers(self) -> Mapping[str, JointWriter]:
        """Return the command topics of the parts that the controller moves."""

    def send_base(self, output: ModuleOutput) -> None:
        """Send the base command of a controller that has one."""

    def observe(self, samples: Samples) -> None:
        """Use the samples of a tick in which the robot does not follow."""

    def extra_signals(self) -> Sequence[str]:
        """Return signals that the node reads, but that never start a tick."""
        return ()

    @override
    def configure(self) -> None:
        self.robot = load_robot(self.settings.robot.name)
        self.parts = RobotParts(self.robot)
        self.resources.callback(self._tuning.close)
        self.settings = self._tuning.open(self.settings)
        self.module = self._build(self.settings)
        self._open_inputs()
        self._writers = self.open_writers()
        self._link = RobotLink(self, self.parts.joints, self.targets)
        self.resources.callback(self._link.close)
        self._stats = ControllerStatistics()
        period, steady = self._trigger.period, not self.is_simulated
        self._timer = self.every(period, self._on_timer, steady=steady)
        self._timer.cancel()
        self._restart()

    @override
    def activate(self) -> None:
        self._restart()
        self._link.subscribe_targets()
        self._timer.reset()

    @override
    def deactivate(self) -> None:
        self._timer.cancel()

    @override
    def report(self) -> StatusReport:
        if not hasattr(self, "_link"):
            return super().report()
        stale = self._stale(self._time())
        waiting = f"waiting for input: {', '.join(stale)}" if stale else ""
        following = self.is_active and self._link.is_following
        robot = "" if following else self._link.reason
        return StatusReport(
            f"teleop/{self.get_name()}",
            level_of(self._causes),
            waiting or robot or "following",
            {
                "module": self.module_name,
                "robot": self._link.state,
                "following": str(following).lower(),
                "inputs": f"stale: {', '.join(stale)}" if stale else "fresh",
                "rejected": str(sum(topic.rejected for topic in self._inputs.values())),
                **self._stats.values(self.steady()),
                **cause_values(self._all_causes()),
            },
            self.robot.name,
        )

    def on_sample(self, signal: str) -> None:
        """Run a tick if the new sample completes a set."""
        if self.is_active:
            now = self._time()
            if self._trigger.offer(signal, now):
                self._tick(now)
                self._set_timer(now)

    def _open_inputs(self) -> None:
        tips = self.settings.hand.retargeter == "fingertips"
        needs = signal_needs(self.robot, (self.module_name,), finger_tips=tips)
        self._needed = tuple(need.signal for need in needs if need.required)
        optional = tuple(need.signal for need in needs if not need.required)
        self._trigger = TickTrigger(self._needed, optional, rate=self.module.rate)
        waking = (*self._needed, *optional)
        extra = tuple(name for name in self.extra_signals() if name not in waking)
        self._inputs = {
            signal: self.open_input(signal, wakes=signal in waking) for signal in (*waking, *extra)
        }
        for topic in self._inputs.values():
            topic.open()
            self.resources.callback(topic.close)

    def _restart(self) -> None:
        """Discard old samples; samples from before the activation do not count."""
        self._trigger.reset()
        self._causes: tuple[Cause, ...] = ()
        self._samples: Samples = {}
        self._last: float | None = None
        self._was_engaged = False
        self._was_fresh = False
        for topic in self._inputs.values():
            topic.forget()

    def _time(self) -> float:
        """Return the present time in [s]; newer stamps refine a coarse simulated clock."""
        now = self.now()
        if self.is_simulated:
            stamps = [t.latest.timestamp for t in self._inputs.values() if t.latest is not None]
            now = max(now, min(max(stamps, default=now), now + FUTURE_TOLERANCE))
        return now

    def _on_timer(self) -> None:
        now = self._time()
        if self._last is not None and now < self._last - JUMP:
            self._restart()
        if self._trigger.poll(now):
            self._tick(now)
        self._set_timer(now)

    def _set_timer(self, now: float) -> None:
        """Set the timer to the end of the period."""
        wait = max(self._trigger.deadline - now, 1e-4)
        self._timer.timer_period_ns = int(wait * 1e9)
        self._timer.reset()

    def _tick(self, now: float) -> None:
        begin = time.perf_counter()
        self._note_freshness(now)
        following, samples = self._link.is_following, self._samples
        for signal, topic in self._inputs.items():
            samples[signal] = topic.latest
        if not following:
            self.observe(samples)
        commanded = self._link.positions
        if commanded is None or (self._last is not None and now <= self._last):
            return  # The joint positions are unknown, or no time has passed.
        self._note_engagement()
        dt = now - self._last if self._last is not None else self._trigger.period
        self._last = now
        output = self.module.update(
            samples, now=now, dt=dt, engaged=following, commanded=commanded
        )
        self._causes = output.causes
        latency = float("nan")
        if following:
            self._send(output)
            latency = self.now() - self._newest_stamp()
        self._stats.record(latency, time.perf_counter() - begin)

    def _note_freshness(self, now: float) -> None:
        is_fresh = not self._stale(now)
        if is_fresh is not self._was_fresh:
            self._was_fresh = is_fresh
            self.publish_status()

    def _note_engagement(self) -> None:
        """Reset the controller to the robot's positions when the robot is engaged."""
        engaged = self._link.is_engaged
        if engaged and not self._was_engaged:
            self.module.reset(self._link.by_name)
            self._link.release_targets()
        elif self._was_engaged and not engaged:
            self._link.subscribe_targets()
        self._was_engaged = engaged

    def _send(self, output: ModuleOutput) -> None:
        for part, command in output.commands.items():
            self._writers[part].send(command.positions, command.timestamp)
        if output.base is not None:
            self.send_base(output)

    def _newest_stamp(self) -> float:
        return max(
            (sample.timestamp for name in self._needed if (sample := self._samples[name])),
            default=float("nan"),
        )

    def _stale(self, now: float) -> list[str]:
        """Return the required signals that have no fresh sample."""
        oldest, found = now - self.settings.session.input_age, []
        for signal in self._needed:
            sample = self._inputs[signal].latest
            if sample is None or not sample.valid or sample.timestamp < oldest:
                found.append(signal)
        return found

    def _all_causes(self) -> list[Cause]:
        inputs = [topic.cause for topic in self._inputs.values() if topic.cause is not None]
        return inputs + [cause for cause in self._causes if cause.rule is not Rule.NOT_ENGAGED]

    def _refusal(self) -> str:
        follows = self.is_active and self._link.is_following
        return "the robot is following; disengage first" if follows else ""

    def _build(self, settings: TeleopSettings) -> TeleopModule:
        return make_module(self.module_name, settings, self.robot, self.parts)

    def _prepare(self, settings: TeleopSettings) -> None:
        self._next = self._build(settings)

    def _use_settings(self, settings: TeleopSettings) -> None:
        """Replace the controller by the one built from the changed parameters."""
        self.settings = settings
        self.module = self._next
        self._restart()
        self._link.subscribe_targets()
