# SPDX-License-Identifier: Apache-2.0
"""The standalone wiring: devices, controllers, safety manager and robot, tick by tick.

    device -> gate -> controller -> SafetyManager -> slave

`step` is the whole of a tick. It reads no clock: the same times, requests and samples give the
same commands to the last bit.
"""

from collections.abc import Mapping, Sequence

from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule
from teleop_system.robot_side.drive import IRobotSide, SimulatedSide
from teleop_system.robot_side.engagement import EngagementStatus
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.preparation import Preparation
from teleop_system.robot_side.requests import RequestBox, Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.safety import PartCommand, SafetyManager, SafetyOutput
from teleop_system.session.modules import ModuleOutput, TeleopModule
from teleop_system.session.recorder import SessionRecorder
from teleop_system.session.signals import ISignalSource, Samples, SignalPlan
from teleop_system.session.turns import Turn
from teleop_system.settings import SessionConfig
from teleop_system.timing.stage_timer import StageTimer

_S = EngagementState


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
        core: The robot's half: engagement, safety, and the way to the actuators.
        requests: Takes what the operator asks for, from any thread.
        timer: What each stage of a tick took.
        causes: Everything that holds or limits the robot now.
        ticks: Ticks so far.
    """

    STAGES = ("simulation", "inputs", "engagement")
    LATE_STAGES = ("safety", "record")

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
        parts = frozenset(part for module in modules for part in module.parts)
        self.config = config
        self.side = side
        self.safety = safety
        self.core = RobotSide(config, side, safety, preparation, operated=parts)
        self.plan = plan
        self.recorder = recorder
        self.rate = rate
        self.clock = clock
        self.requests = RequestBox(auto_engage=config.auto_engage)
        self.turns = tuple(Turn(module, rate) for module in modules)
        stages = (*self.STAGES, *(module.name for module in modules), *self.LATE_STAGES)
        self.timer = StageTimer(stages)
        self._stages = {name: self.timer[name] for name in stages}
        self._targets: dict[str, Mapping[str, Pose6D]] = {}
        self.causes: tuple[Cause, ...] = ()
        self.ticks = 0
        self._source = source
        self._needed = tuple({row.need.signal for row in plan.rows if row.need.required})
        self._simulated = side if isinstance(side, SimulatedSide) else None
        self._last: float | None = None
        self._commands: dict[str, PartCommand] = {}
        self._base: VelocityCommand | None = None

    @property
    def status(self) -> EngagementStatus:
        """Who moves the robot, and why nobody does."""
        return self.core.status

    @property
    def output(self) -> SafetyOutput | None:
        """The commands last sent; None before the robot's state was known."""
        return self.core.output

    @property
    def targets(self) -> dict[str, Pose6D]:
        """Where end effectors should be now, by chain."""
        return {chain: found[chain] for found in self._targets.values() for chain in found}

    @property
    def follows_clock(self) -> bool:
        """Whether every device takes its time from the session."""
        return self._source.follows_clock

    @property
    def is_over(self) -> bool:
        """Whether the operator was a recording, and has come to its end."""
        return self._source.is_over

    @property
    def is_resting(self) -> bool:
        """Whether nobody moves the robot, and all that was sent last has come to rest."""
        return self.core.is_resting

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
        stages, last, core = self._stages, self._last, self.core
        self._last = self.clock.time = now
        if self._simulated is not None:
            with stages["simulation"]:
                # What was sent in the last tick has been in force since.
                self._simulated.advance(now, 0.0 if last is None else max(now - last, 0.0))
        with stages["inputs"]:
            samples = self._source.read(now)
            asked = requests or self.requests.take(ready=core.status.state is _S.READY)
        with stages["engagement"]:
            self._engage(now, samples, asked)
        causes = self._run_modules(now, samples)
        with stages["safety"]:
            core.finish(now, self._commands, self._base, asked, late=late)
        if not core.status.following:
            self._targets.clear()
        if causes:
            # That nobody has engaged is said once, by the core.
            causes = tuple(cause for cause in causes if cause.rule is not Rule.NOT_ENGAGED)
        self.causes = (*self._source.causes, *causes, *core.causes)
        if self.recorder is not None:
            with stages["record"]:
                self._record(self.recorder, now, asked, samples)
        self.timer.finish_tick()
        self.ticks += 1

    def _engage(self, now: float, samples: Samples, asked: Requests) -> None:
        before = self.status.state
        oldest = now - self.config.input_age
        fresh = [
            (sample := samples.get(name)) is not None
            and sample.valid
            and sample.timestamp >= oldest
            for name in self._needed
        ]
        # One lost tracker keeps nobody from engaging later on, but it stops only its own limb.
        enough = any(fresh) if before is _S.ENGAGED else all(fresh)
        status = self.core.begin(now, asked, inputs_fresh=enough)
        if status.changed:
            self._enter(status.state, before)
        if asked.recenter:
            for turn in self.turns:
                turn.module.recenter()

    def _enter(self, state: EngagementState, before: EngagementState) -> None:
        self._commands = {}
        self._base = None
        if state is _S.ENGAGED and before is not _S.ENGAGED:
            positions = dict(
                zip(self.safety.parts.joints, self.safety.positions.tolist(), strict=True)
            )
            for turn in self.turns:
                turn.module.reset(positions)
                turn.hurry()
            self._source.engaged()

    def _run_modules(self, now: float, samples: Samples) -> tuple[Cause, ...]:
        """Update the controllers that are due; return what all of them have to say."""
        if self.output is None:
            return ()  # Nobody can move a robot that is nowhere.
        following, commanded = self.status.following, self.output.positions
        causes: tuple[Cause, ...] = ()
        for turn in self.turns:
            if turn.is_due(self.ticks):
                with self._stages[turn.module.name]:
                    output = turn.update(samples, now=now, engaged=following, commanded=commanded)
                self._take(turn.module, output)
            causes += turn.causes
        return causes

    def _take(self, module: TeleopModule, output: ModuleOutput) -> None:
        self._commands.update(output.commands)
        if output.base is not None:
            self._base = output.base
        if module.chains:
            self._targets[module.name] = output.targets

    def _record(
        self, recorder: SessionRecorder, now: float, asked: Requests, samples: Samples
    ) -> None:
        recorder.record_inputs(now, asked, samples)
        wish = self._base or VelocityCommand()
        recorder.record_tick(
            now,
            status=self.status,
            output=self.output,
            side=self.side,
            base_wish=(wish.linear_x, wish.linear_y, wish.angular_z),
            targets=self.targets,
            # Whether somebody is engaged is recorded as the state.
            causes=[cause for cause in self.causes if cause.rule is not Rule.NOT_ENGAGED],
        )
