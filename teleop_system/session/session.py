# SPDX-License-Identifier: Apache-2.0
"""The standalone wiring: devices, controllers and the robot side in one loop.

    device -> gate -> controller -> RobotSide -> slave

`step` is one tick. It reads no clock: the same times, requests and samples give the same commands
to the last bit.
"""

from collections.abc import Sequence

from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule
from teleop_system.robot_side.engagement import EngagementStatus
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import RequestBox, Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.safety import PartCommand, SafetyOutput
from teleop_system.session.modules import ModuleSchedule, TeleopModule
from teleop_system.session.recorder import SessionRecorder
from teleop_system.session.signals import ISignalSource, Samples, SignalPlan
from teleop_system.settings import SessionConfig
from teleop_system.simulators.simulated_robot import SimulatedRobot
from teleop_system.timing.stage_timer import StageTimer

_S = EngagementState

STANDSTILL = VelocityCommand()


class SessionClock:
    """Returns the time of the present tick in [s], for devices without a clock of their own."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        """Return the time in [s]."""
        return self.time


class TeleopSession:
    """One operator, one robot.

    Args:
        config: Parameters of the session.
        robot_side: Engagement, safety and drive of the robot.
        source: The operator's samples.
        modules: The controllers, in the order in which they run.
        plan: Where the samples come from; the required ones have to be fresh to engage.
        simulated: The simulated robot, which every tick advances; None for a real one.
        rate: Ticks per second in [Hz].
        clock: Gives the devices the time of the tick.
        recorder: Records every tick, or None.

    Attributes:
        requests: Receives the operator's requests, from any thread.
        timer: Duration of each stage of a tick.
        targets: Present target of every end effector, by chain.
        causes: Everything that holds or limits the robot now.
        ticks: Ticks so far.
    """

    STAGES = ("simulation", "inputs", "engagement")
    LATE_STAGES = ("safety", "record")

    def __init__(
        self,
        config: SessionConfig,
        robot_side: RobotSide,
        source: ISignalSource,
        modules: Sequence[TeleopModule],
        plan: SignalPlan,
        *,
        simulated: SimulatedRobot | None,
        rate: float,
        clock: SessionClock,
        recorder: SessionRecorder | None = None,
    ) -> None:
        self.config = config
        self.robot_side = robot_side
        self.plan = plan
        self.recorder = recorder
        self.rate = rate
        self.clock = clock
        self.requests = RequestBox(auto_engage=config.auto_engage)
        self.schedules = tuple(ModuleSchedule(module, rate) for module in modules)
        stages = (*self.STAGES, *(module.name for module in modules), *self.LATE_STAGES)
        self.timer = StageTimer(stages)
        self.targets: dict[str, Pose6D] = {}
        self.causes: tuple[Cause, ...] = ()
        self.ticks = 0
        self._source = source
        self._needed = tuple({row.need.signal for row in plan.rows if row.need.required})
        self._simulated = simulated
        self._last: float | None = None
        self._commands: dict[str, PartCommand] = {}
        self._base: VelocityCommand | None = None

    @property
    def status(self) -> EngagementStatus:
        """Who moves the robot, or why it holds."""
        return self.robot_side.status

    @property
    def output(self) -> SafetyOutput | None:
        """The commands last sent; None before the robot's state was known."""
        return self.robot_side.output

    @property
    def follows_clock(self) -> bool:
        """Whether every device takes its time from the session."""
        return self._source.follows_clock

    @property
    def is_over(self) -> bool:
        """Whether the operator was a recording that has ended."""
        return self._source.is_over

    @property
    def is_resting(self) -> bool:
        """Whether nothing moves the robot, and its last commands have come to rest."""
        return self.robot_side.is_resting

    def start(self) -> None:
        """Connect to the operator's devices.

        Raises:
            MissingSignalError: A device that is needed did not start.
        """
        self._source.connect()

    def close(self) -> None:
        """Release the robot, which holds its pose, and all devices; safe to call twice."""
        self.robot_side.drive.close()
        self._source.close()
        if self.recorder is not None:
            self.recorder.close()

    def step(
        self, now: float, requests: Requests | None = None, *, late: Cause | None = None
    ) -> None:
        """Run the tick at time `now` [s].

        Args:
            now: Time on the clock of the samples' stamps.
            requests: The operator's requests; None takes those of `self.requests`.
            late: The cause of a tick that started late, if any.
        """
        timer, last, robot_side = self.timer, self._last, self.robot_side
        self._last = self.clock.time = now
        timer.begin_tick()
        if self._simulated is not None:
            # The commands of the last tick applied until now.
            self._simulated.advance(now, 0.0 if last is None else max(now - last, 0.0))
            timer.lap("simulation")
        samples = self._source.read(now)
        taken = requests or self.requests.take(ready=robot_side.status.state is _S.READY)
        timer.lap("inputs")
        self._engage(now, samples, taken)
        timer.lap("engagement")
        causes = self._run_modules(now, samples)
        robot_side.finish(now, self._commands, self._base, taken, late=late)
        timer.lap("safety")
        if not robot_side.status.following:
            self.targets.clear()
        if causes:
            # The engagement already reports that the robot is not engaged.
            causes = tuple(cause for cause in causes if cause.rule is not Rule.NOT_ENGAGED)
        self.causes = (*self._source.causes, *causes, *robot_side.causes)
        if self.recorder is not None:
            base = self._base or STANDSTILL
            self.recorder.record(now, taken, samples, robot_side, base, self.targets, self.causes)
            timer.lap("record")
        timer.finish_tick()
        self.ticks += 1

    def _engage(self, now: float, samples: Samples, requests: Requests) -> None:
        before = self.robot_side.status.state
        oldest, fresh = now - self.config.input_age, 0
        for name in self._needed:
            sample = samples.get(name)
            if sample is not None and sample.valid and sample.timestamp >= oldest:
                fresh += 1
        # Engaging needs every input; afterwards a lost tracker stops only its own limb.
        enough = fresh > 0 if before is _S.ENGAGED else fresh == len(self._needed)
        status = self.robot_side.begin(now, requests, inputs_fresh=enough)
        if status.changed:
            self._enter(status.state, before)
        if requests.recenter:
            for schedule in self.schedules:
                schedule.module.recenter()

    def _enter(self, state: EngagementState, before: EngagementState) -> None:
        self._commands = {}
        self._base = None
        if state is _S.ENGAGED and before is not _S.ENGAGED:
            safety = self.robot_side.safety
            positions = dict(zip(safety.parts.joints, safety.positions.tolist(), strict=True))
            for schedule in self.schedules:
                schedule.module.reset(positions)
                schedule.run_next_tick()
            self._source.engaged()

    def _run_modules(self, now: float, samples: Samples) -> tuple[Cause, ...]:
        """Update the controllers that are due; return the latest causes of all."""
        if self.robot_side.output is None:
            return ()  # The state of the robot is unknown.
        following = self.robot_side.status.following
        commanded = self.robot_side.output.positions
        causes: tuple[Cause, ...] = ()
        for schedule in self.schedules:
            output = schedule.update(
                self.ticks, samples, now=now, engaged=following, commanded=commanded
            )
            causes += schedule.causes
            if output is None:
                continue
            self._commands.update(output.commands)
            if output.base is not None:
                self._base = output.base
            for chain in schedule.module.chains:
                self.targets.pop(chain, None)
            self.targets.update(output.targets)
            self.timer.lap(schedule.module.name)
        return causes
