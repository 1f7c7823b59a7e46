# SPDX-License-Identifier: Apache-2.0
"""The one writer: nothing reaches an actuator but what comes out of here."""

import math
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.robots.description import RobotDescription
from teleop_system.safety.base_control import BaseControl
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.guards.guards import Guards
from teleop_system.safety.motion.limit_report import LimitReport
from teleop_system.safety.motion.motion_state import MotionState
from teleop_system.safety.motion.step import Step
from teleop_system.safety.motion.trajectories import Trajectories
from teleop_system.safety.motion.wishes import LONGEST_AHEAD, PartWishes, Wishes
from teleop_system.safety.part_control import PartControl, Reason
from teleop_system.safety.parts import BASE, RobotParts
from teleop_system.safety.staleness import STANDSTILL_TIME
from teleop_system.safety.values import PartCommand, SafetyOutput
from teleop_system.timing.overruns import OverrunMonitor

Array = NDArray[np.float64]

ROBOT = "robot"
LOOP = "loop"
ESTOP = Reason(Rule.ESTOP, ROBOT, 1.0, 0.0, Severity.STOP)
NO_VELOCITY = VelocityCommand()
HELD = Reason(Rule.NOT_ENGAGED, "caller")


class SafetyManager:
    """Turns wishes into commands that keep every limit, whatever the wishes are.

    Call `reset` with the measured joint positions, then `update` once a cycle. It reads no clock
    and logs nothing; equal inputs give equal outputs to the last bit. Bad input raises nothing:
    it becomes a cause.

    Args:
        robot: The robot with its limits.
        config: What is allowed besides.

    Attributes:
        parts: The parts that can be commanded, by name.

    Raises:
        MissingExtraError: The robot has links to be kept apart, and Pinocchio is not installed.
        UnknownNameError: A workspace is configured for a chain that the robot does not have.
    """

    def __init__(self, robot: RobotDescription, config: SafetyConfig | None = None) -> None:
        self._config = config = config or SafetyConfig()
        self.parts = RobotParts(robot)
        self._trajectories = Trajectories(self.parts.acceleration, self.parts.jerk)
        self._guards = Guards(robot, self.parts, self._trajectories, config)
        self._period, self._stall_after = config.period, config.stall_after
        self._wishes = Wishes(
            self.parts, self._trajectories, config.command_smoothing, 0.1 * config.period
        )
        self._controls = tuple(PartControl(part, config) for part in self.parts.values())
        self._base = BaseControl(robot.base, config) if robot.base is not None else None
        self._followers = tuple(
            (control.part.name, control, self._wishes.parts[control.part.name])
            for control in self._controls
        )
        self._all_controls = self._controls
        if self._base is not None:
            self._all_controls += (self._base.control,)
        self._overruns = OverrunMonitor(
            config.period, tolerated=config.tolerated_overruns, subject=LOOP
        )
        self._columns = {name: part.columns for name, part in self.parts.items()}
        self._log = CauseLog()
        self._holding = np.ones(self.parts.size, dtype=bool)
        self._held_count = len(self.parts)
        self._held_names: frozenset[str] = frozenset()
        self._held_at_rest = False
        self._speeds = self.parts.velocity.copy()
        self._report = LimitReport(robot, self.parts.joints, self._speeds, config.lag)
        self._state: MotionState | None = None
        self._now: float | None = None
        self._gap = 0.0
        self._estopped = False
        self._pressed = False

    @property
    def estopped(self) -> bool:
        """Whether the emergency stop is latched."""
        return self._estopped

    @property
    def positions(self) -> Array:
        """The positions last commanded in [rad] or [m], shape (N,), read-only.

        Raises:
            InvalidJointStateError: The robot's own positions are not known yet.
        """
        return self._known_state().position

    def reset(self, measured: Mapping[str, float]) -> None:
        """Start anew from rest at the measured positions; an emergency stop stays latched.

        Args:
            measured: Position in [rad] or [m] of every joint of `parts.joints`; more may be given.

        Raises:
            InvalidJointStateError: A joint is missing or its position is not finite.
        """
        missing = [joint for joint in self.parts.joints if joint not in measured]
        if missing:
            raise InvalidJointStateError(f"the measured state lacks {', '.join(missing)}")
        positions = np.array([measured[joint] for joint in self.parts.joints], dtype=np.float64)
        if not np.isfinite(positions).all():
            raise InvalidJointStateError(f"measured positions must be finite, got {positions}")
        self._state = MotionState.at_rest(positions)
        self._guards.reset(positions)
        for _, control, wishes in self._followers:
            control.reset()
            wishes.start(positions[control.part.columns])
        self._holding[:] = True
        self._held_count, self._held_at_rest = len(self._controls), True
        if self._base is not None:
            self._base.reset()
        self._note_held()
        self._overruns.reset()
        self._log.clear()
        self._now = None

    def reset_estop(self) -> bool:
        """Release the emergency stop; False, and still latched, while its button is pressed.

        No part moves before it has been seen disengaged and then engaged anew.
        """
        if not self._pressed:
            self._estopped = False
        return not self._estopped

    def update(
        self,
        commands: Mapping[str, PartCommand],
        base: VelocityCommand | None = None,
        *,
        now: float,
        engaged: Collection[str],
        estop: bool = False,
        holds: Collection[str] = (),
    ) -> SafetyOutput:
        """Return the commands of one cycle.

        Args:
            commands: The newest command of each part that has one; one may come again and again.
            base: The newest velocity wish for the base, or None.
            now: Time of the cycle in [s], on the clock of the time stamps.
            engaged: Parts that the operator has engaged; "base" is one of them.
            estop: Whether an emergency stop is pressed.
            holds: Parts to hold for a reason that the caller reports itself.

        Raises:
            InvalidJointStateError: `reset` has not been called.
        """
        state, log = self._known_state(), self._log
        # A time that is none must not become the age of anything.
        clock, now = now, now if math.isfinite(now) else self._now or 0.0
        log.begin(now)
        duration, stalled, block = self._judge_cycle(clock, estop)
        if block is not None:
            block.report(log)
        if stalled:
            # Without commands for so long, the robot has come to rest where it was sent.
            state = MotionState.at_rest(state.position)
            if self._base is not None and self._gap > STANDSTILL_TIME:
                self._base.come_to_rest()
        step = Step(self._trajectories, state, duration)
        stamps: dict[str, float] = {}
        known, is_free = 0, block is None and not holds
        for name, control, wishes in self._followers:
            command, is_engaged = commands.get(name), name in engaged
            if command is not None:
                known += 1
                # By far most cycles: it follows, and goes on with a new command.
                if is_free and is_engaged and control.is_steady:
                    stream = control.stream
                    taken = stream.take_on(command, now)
                    if taken is not None:
                        wishes.take(taken, stream.interval)
                        stamps[name] = command.timestamp
                        continue
            elif not is_engaged and control.is_idle:
                continue
            reason = HELD if block is None and name in holds else block
            self._follow(control, wishes, command, step, is_engaged, reason, now)
            if control.following and (stamp := control.stream.stamp) is not None:
                stamps[name] = stamp
        if known != len(commands):
            self._reject_unknown(commands)
        self._state = state = self._move(step)
        velocity = NO_VELOCITY
        if self._base is not None:
            reason = HELD if block is None and BASE in holds else block
            velocity = self._follow_base(base, stamps, duration, BASE in engaged, reason, now)
        return SafetyOutput(
            self.parts.joints,
            state.position,
            velocity,
            log.causes,
            self._held_names,
            stamps,
            self._wishes.positions.copy(),
            state,
            self._columns,
        )

    def come_to_rest(self) -> None:
        """Take the robot to stand where it was sent, as after its commands were taken away."""
        if self._state is not None:
            self._state = MotionState.at_rest(self._state.position)
        if self._base is not None:
            self._base.come_to_rest()

    def _known_state(self) -> MotionState:
        if self._state is None:
            raise InvalidJointStateError("the robot's positions are unknown; call reset() first")
        return self._state

    def _judge_cycle(self, now: float, estop: bool) -> tuple[float, bool, Reason | None]:
        """Return how long to move for [s], whether the loop had stalled, and what blocks all."""
        self._pressed = bool(estop)
        if not (self._pressed or self._estopped):
            return self._judge_clock(now)
        self._estopped = True
        for control in self._all_controls:
            control.demand_release()
        duration, stalled, _ = self._judge_clock(now)
        return duration, stalled, ESTOP

    def _judge_clock(self, now: float) -> tuple[float, bool, Reason | None]:
        period, last = self._period, self._now
        elapsed = period if last is None else now - last
        if not (math.isfinite(now) and elapsed > 0.0):
            # Brake as if time went on: a broken clock must not keep anything moving.
            return period, False, Reason(Rule.TIME_ORDER, LOOP, elapsed, 0.0)
        self._now, self._gap = now, elapsed
        late = elapsed - period
        cause = self._overruns.update(now - late, late, waited=late < 0.1 * period)
        reason = None
        stalled = elapsed > self._stall_after
        if stalled:
            reason = Reason(Rule.OVERRUN, LOOP, elapsed, self._stall_after)
        elif cause is not None and cause.severity >= Severity.HOLD:
            reason = Reason(Rule.OVERRUN, LOOP, cause.value, cause.limit)
        elif cause is not None:
            self._log.add(Rule.OVERRUN, LOOP, cause.value, cause.limit, cause.severity)
        return elapsed if elapsed < period else period, stalled, reason

    def _reject_unknown(self, commands: Mapping[str, PartCommand]) -> None:
        if not commands.keys() <= self._columns.keys():
            for name in commands.keys() - self._columns.keys():
                self._log.add(Rule.WRONG_SHAPE, str(name), math.nan, 0.0, Severity.HOLD)

    def _follow(
        self,
        control: PartControl,
        wishes: PartWishes,
        command: PartCommand | None,
        step: Step,
        engaged: bool,
        block: Reason | None,
        now: float,
    ) -> None:
        """Take the command of a part, decide whether to follow it, and say where it leads."""
        control.is_idle = False
        stream = control.stream
        taken = stream.take(command, now, self._log)
        begins = False
        if not (engaged and block is None and control.goes_on(now)):
            begins = self._decide(control, step, engaged, block, now)
        if taken is None:
            wishes.pass_over()
            if stream.taken_at is not None:
                wishes.extend(min(now - stream.taken_at, stream.interval, LONGEST_AHEAD))
        elif begins or stream.interval == 0.0:
            wishes.start(taken)
        else:
            wishes.take(taken, stream.interval)
        if begins:
            self._note_jump(control, wishes, step.state)
        if control.following and not control.is_steady:
            control.advance(step.duration)
            columns = control.part.columns
            speeds = self.parts.velocity[columns] * control.scale
            self._speeds[columns] = speeds
            self._trajectories.set_speeds(columns, speeds)

    def _follow_base(
        self,
        wish: VelocityCommand | None,
        stamps: dict[str, float],
        duration: float,
        engaged: bool,
        block: Reason | None,
        now: float,
    ) -> VelocityCommand:
        """Do the same for the base, and return its velocity."""
        assert self._base is not None
        control = self._base.control
        if wish is None and not engaged and control.is_idle:
            return NO_VELOCITY
        control.is_idle = False
        was_following = control.following
        velocity = self._base.update(
            wish, engaged=engaged, block=block, now=now, step=duration, log=self._log
        )
        if control.following is not was_following:
            self._note_held()
        if control.following and (stamp := control.stream.stamp) is not None:
            stamps[BASE] = stamp
        return velocity

    def _decide(
        self,
        control: PartControl,
        step: Step,
        engaged: bool,
        block: Reason | None,
        now: float,
    ) -> bool:
        """Decide whether a part follows; tell whether it begins to in this cycle."""
        columns, was_held = control.part.columns, not control.following
        begins = control.decide(
            engaged=engaged,
            block=block,
            now=now,
            resting=not was_held or self._held_at_rest or step.state.is_resting(columns),
            log=self._log,
        )
        if control.following is was_held:
            self._holding[columns] = not control.following
            self._held_count += -1 if control.following else 1
            self._held_at_rest = False
            self._note_held()
        return begins

    def _note_held(self) -> None:
        held = (control.part.name for control in self._all_controls if not control.following)
        self._held_names = frozenset(held)

    def _note_jump(self, control: PartControl, wishes: PartWishes, state: MotionState) -> None:
        present = state.position[control.part.columns]
        jump = float(np.abs(wishes.positions - present).max())
        if jump > self._config.jump:
            name = control.part.name
            self._log.add(Rule.ENGAGE_JUMP, name, jump, self._config.jump)

    def _move(self, step: Step) -> MotionState:
        """Return the motion after the step."""
        state = step.state
        if self._held_count == len(self._controls):
            self._held_at_rest = state.is_resting()
            if self._held_at_rest:
                return state
            return self._guards.limit(step, step.braked, self._log)
        wanted, is_moving = self._wishes.pursue(step, self._holding)
        self._held_at_rest = not is_moving
        limited = self._guards.limit(step, wanted, self._log)
        if limited is not wanted or self._report.is_due(self._wishes):
            self._report.report(step, limited, self._wishes, self._holding, self._log)
        return limited
