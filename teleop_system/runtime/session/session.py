# SPDX-License-Identifier: Apache-2.0
"""The standalone wiring: devices, controllers, safety manager and robot, tick by tick.

    device -> gate -> controller -> SafetyManager -> slave

`step` is the whole of a tick. It reads no clock: the same times, requests and samples give the
same commands to the last bit.
"""

import logging
import math
from collections.abc import Mapping, Sequence

import numpy as np

from teleop_system.exceptions import DeviceNotConnectedError, InvalidJointStateError
from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.runtime.causes import Cause, Rule
from teleop_system.runtime.engagement import Engagement, EngagementStatus, MotionSource
from teleop_system.runtime.engagement_table import EngagementInputs, EngagementState
from teleop_system.runtime.safety import PartCommand, SafetyManager, SafetyOutput
from teleop_system.runtime.scheduler import Tick
from teleop_system.runtime.session.config import SessionConfig
from teleop_system.runtime.session.follow_monitor import FollowMonitor
from teleop_system.runtime.session.modules import ModuleOutput, TeleopModule
from teleop_system.runtime.session.preparation import Preparation
from teleop_system.runtime.session.recorder import SessionRecorder
from teleop_system.runtime.session.requests import RequestBox, Requests
from teleop_system.runtime.session.robot_side import IRobotSide, SimulatedSide
from teleop_system.runtime.session.turns import Turn
from teleop_system.runtime.signals import ISignalSource, Samples, SignalPlan
from teleop_system.runtime.timing import StageTimer

logger = logging.getLogger(__name__)

_S = EngagementState
NO_COMMANDS: Mapping[str, PartCommand] = {}


class SessionClock:
    """Shows the time of the present tick in [s], to devices that have no clock of their own."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        """Return the time in [s]."""
        return self.time


class TeleopSession:
    """One operator, one robot.

    Args:
        config: What to wait for, and when something counts as wrong.
        side: The robot.
        source: The operator's samples.
        modules: The controllers, in the order in which they run.
        safety: The one writer.
        preparation: What the robot does by itself before.
        plan: Where the samples come from; the required ones have to be fresh to engage.
        rate: Ticks per second in [Hz].
        clock: Shows the devices the time of the tick.
        recorder: Keeps what happens, or None.

    Attributes:
        requests: Takes what the operator asks for, from any thread.
        timer: What each stage of a tick took.
        output: The commands last sent; None before the robot's state was known.
        targets: Where end effectors should be now, by chain.
        causes: Everything that holds or limits the robot now.
        ticks: Ticks so far.
    """

    STAGES = ("simulation", "inputs", "state", "engagement")
    LATE_STAGES = ("safety", "send", "record")

    def __init__(
        self,
        config: SessionConfig,
        side: IRobotSide,
        source: ISignalSource,
        modules: Sequence[TeleopModule],
        safety: SafetyManager,
        preparation: Preparation,
        plan: SignalPlan,
        *,
        rate: float,
        clock: SessionClock,
        recorder: SessionRecorder | None = None,
    ) -> None:
        self.config = config
        self.side = side
        self.safety = safety
        self.plan = plan
        self.recorder = recorder
        self.rate = rate
        self.clock = clock
        self.requests = RequestBox(auto_engage=config.auto_engage)
        self.engagement = Engagement(config.engagement)
        self.turns = tuple(Turn(module, rate) for module in modules)
        stages = (*self.STAGES, *(module.name for module in modules), *self.LATE_STAGES)
        self.timer = StageTimer(stages)
        self.output: SafetyOutput | None = None
        self.targets: dict[str, Pose6D] = {}
        self.causes: tuple[Cause, ...] = ()
        self.status = EngagementStatus(_S.STARTING, "power-up", 0.0)
        self.ticks = 0
        self._source = source
        self._preparation = preparation
        self._parts = frozenset(part for module in modules for part in module.parts)
        self._everything = frozenset(safety.parts)
        self._needed = tuple({row.need.signal for row in plan.rows if row.need.required})
        self._monitor = FollowMonitor(safety.parts, config)
        self._simulated = side if isinstance(side, SimulatedSide) else None
        self._last: float | None = None
        self._tried_at = -math.inf
        self._commands: dict[str, PartCommand] = {}
        self._base: VelocityCommand | None = None

    @property
    def follows_clock(self) -> bool:
        """Whether every device takes its time from the session."""
        return self._source.follows_clock

    @property
    def is_resting(self) -> bool:
        """Whether nobody moves the robot, and all that was sent last has come to rest."""
        output = self.output
        if self.status.motion is not MotionSource.NOBODY or output is None:
            return output is None
        base = output.base
        rolls = base.linear_x or base.linear_y or base.angular_z
        return not (rolls or output.joints.velocities.any())

    def start(self) -> None:
        """Connect to the operator's devices.

        Raises:
            MissingSignalError: A device that is needed did not start.
        """
        self._source.connect()

    def close(self) -> None:
        """Let the robot hold its pose, and let go of everything; safe to call twice."""
        self.side.close()
        self._source.close()
        if self.recorder is not None:
            self.recorder.close()

    def step(
        self, now: float, requests: Requests | None = None, *, late: Cause | None = None
    ) -> None:
        """Do everything that is due at time `now` [s].

        Args:
            now: Time on the clock of the samples' stamps.
            requests: What the operator asks for; None takes what was put into `requests`.
            late: The cause that the loop has to report for coming late, if any.
        """
        timer, last = self.timer, self._last
        self._last = self.clock.time = now
        if self._simulated is not None:
            with timer["simulation"]:
                # What was sent in the last tick has been in force since.
                self._simulated.advance(now, 0.0 if last is None else max(now - last, 0.0))
        with timer["inputs"]:
            samples = self._source.read(now)
            asked = requests or self.requests.take(ready=self.status.state is _S.READY)
        with timer["state"]:
            self._meet_robot(now)
        with timer["engagement"]:
            self._engage(now, samples, asked)
        causes = self._run_modules(now, samples)
        with timer["safety"]:
            self.output = self._secure(now, asked)
        with timer["send"]:
            self._send()
        self.causes = self._all_causes(causes, late)
        with timer["record"]:
            self._record(now, asked, samples)
        timer.finish_tick()
        self.ticks += 1

    def _meet_robot(self, now: float) -> None:
        """Connect to the robot where need be, and read its state."""
        if self.side.is_connected():
            self.side.measure()
        elif now - self._tried_at >= 1.0:
            self._tried_at = now
            self.side.connect()

    def _engage(self, now: float, samples: Samples, asked: Requests) -> None:
        before = self.status.state
        if before is _S.SYNCING:
            self._synchronise()
        fault = self._monitor.update(now, self.side.positions, self.output)
        self.status = self.engagement.update(now, self._inputs(now, samples, asked, fault))
        if asked.reset_estop:
            self.safety.reset_estop()
        if self.status.changed:
            self._enter(self.status.state, before)
        if asked.recenter:
            for turn in self.turns:
                turn.module.recenter()

    def _inputs(
        self, now: float, samples: Samples, asked: Requests, fault: str
    ) -> EngagementInputs:
        state = self.status.state
        fresh = [self._is_fresh(now, samples, name) for name in self._needed]
        # One lost tracker keeps nobody from engaging later on, but it stops only its own limb.
        enough = any(fresh) if state is _S.ENGAGED else all(fresh)
        return EngagementInputs(
            robot_connected=self.side.is_connected(),
            state_fresh=now - self.side.measured_at <= self.config.state_age,
            # Each is looked at in one state only, and would cost its time in all of them.
            synced=state is _S.SYNCING and self._is_synced(),
            at_home=state is _S.HOMING and self._preparation.is_home(self.side.positions),
            self_test_passed=self._preparation.passed,
            inputs_fresh=enough,
            clutch_closed=asked.clutch,
            engage_requested=asked.engage,
            disengage_requested=asked.disengage,
            fault=bool(fault),
            detail=fault,
            restart_requested=asked.restart,
            estop_pressed=asked.estop,
            estop_reset_requested=asked.reset_estop,
        )

    def _is_fresh(self, now: float, samples: Samples, signal: str) -> bool:
        sample = samples.get(signal)
        return (
            sample is not None and sample.valid and now - sample.timestamp <= self.config.input_age
        )

    def _is_synced(self) -> bool:
        try:
            commanded = self.safety.positions
        except InvalidJointStateError:
            return False
        return self._monitor.agrees(commanded, self.side.positions)

    def _synchronise(self) -> None:
        """Start from where the robot is, unless it is where it was last told to be."""
        if not self._is_synced() and np.isfinite(self.side.positions).all():
            self.safety.reset(self.side.measured())

    def _enter(self, state: EngagementState, before: EngagementState) -> None:
        logger.debug("%s: %s", state.value, self.status.reason)
        self._commands = {}
        self._base = None
        self._monitor.reset()
        if state is _S.SELF_TEST:
            self._preparation.restart()
        if state is _S.ENGAGED and before is not _S.ENGAGED:
            positions = dict(
                zip(self.safety.parts.joints, self.safety.positions.tolist(), strict=True)
            )
            for turn in self.turns:
                turn.module.reset(positions)
                turn.hurry()

    def _run_modules(self, now: float, samples: Samples) -> tuple[Cause, ...]:
        """Update the controllers that are due; return what all of them have to say."""
        if self.output is None:
            return ()  # Nobody can move a robot that is nowhere.
        following, tick = self.status.following, Tick(self.ticks, now, now)
        commanded = self.output.positions
        for turn in self.turns:
            if turn.is_due(tick):
                with self.timer[turn.module.name]:
                    output = turn.update(samples, now=now, engaged=following, commanded=commanded)
                self._take(turn.module, output)
        return tuple(cause for turn in self.turns for cause in turn.causes)

    def _take(self, module: TeleopModule, output: ModuleOutput) -> None:
        self._commands.update(output.commands)
        if output.base is not None:
            self._base = output.base
        for chain in module.chains:
            self.targets.pop(chain, None)
        self.targets.update(output.targets)

    def _secure(self, now: float, asked: Requests) -> SafetyOutput | None:
        """Return what the robot may do; None while nobody knows where it is."""
        status = self.status
        commands: Mapping[str, PartCommand] = NO_COMMANDS
        engaged: frozenset[str] = frozenset()
        if status.motion is MotionSource.OPERATOR:
            commands = self._commands
            engaged = self._parts if status.following else engaged
        elif status.motion is MotionSource.SYSTEM:
            commands = self._preparation.wishes(status.state, self.side.positions, now)
            engaged = self._everything
        if not status.following:
            self.targets.clear()
        try:
            return self.safety.update(
                commands, self._base, now=now, engaged=engaged, estop=asked.estop
            )
        except InvalidJointStateError:
            return None  # Nobody has told it yet where the robot is.

    def _send(self) -> None:
        if self.output is None or not self.side.is_connected():
            return
        try:
            self.side.send(self.output)
        except DeviceNotConnectedError as error:
            logger.warning("%s", error)  # The engagement meets it with the next tick.

    def _all_causes(self, modules: tuple[Cause, ...], late: Cause | None) -> tuple[Cause, ...]:
        found: list[Cause] = list(self._source.causes)
        if self.status.cause is not None:
            found.append(self.status.cause)
        safety = self.output.causes if self.output is not None else ()
        # That nobody has engaged is said once, by the engagement.
        found += [c for c in (*modules, *safety) if c.rule is not Rule.NOT_ENGAGED]
        if late is not None:
            found.append(late)
        return tuple(found)

    def _record(self, now: float, asked: Requests, samples: Samples) -> None:
        if self.recorder is None:
            return
        self.recorder.record_inputs(now, asked, samples)
        wish = self._base or VelocityCommand()
        self.recorder.record_tick(
            now,
            status=self.status,
            output=self.output,
            side=self.side,
            base_wish=(wish.linear_x, wish.linear_y, wish.angular_z),
            targets=self.targets,
            # Whether somebody is engaged is recorded as the state.
            causes=[cause for cause in self.causes if cause.rule is not Rule.NOT_ENGAGED],
        )
