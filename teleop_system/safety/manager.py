# SPDX-License-Identifier: Apache-2.0
"""The safety manager: only its output reaches an actuator."""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.robots.description import RobotDescription
from teleop_system.safety.base_control import BaseControl
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.guards.guards import guards_for
from teleop_system.safety.motion.commands import CommandBuffer
from teleop_system.safety.motion.joint_motion import MotionLimits, MotionState, Step
from teleop_system.safety.motion.limit_report import LimitReport
from teleop_system.safety.part_control import Cycle, HoldReason, JointControl, PartControl
from teleop_system.safety.parts import BASE, RobotParts
from teleop_system.safety.staleness import STANDSTILL_TIME
from teleop_system.safety.values import PartCommand, SafetyOutput, read_only
from teleop_system.timing.overruns import OverrunMonitor

Array = NDArray[np.float64]

LOOP = "loop"
ESTOP = HoldReason(Rule.ESTOP, "robot", 1.0, 0.0, Severity.STOP)
NO_VELOCITY = VelocityCommand()


class _Verdict(NamedTuple):
    """What is decided for all parts in a cycle.

    Attributes:
        step: How long to move for [s].
        hold: Why everything must hold; None where it need not.
        has_stalled: Whether the loop stood so long that the robot has stopped.
    """

    step: float
    hold: HoldReason | None = None
    has_stalled: bool = False


class SafetyManager:
    """Turns commands into motion that keeps every limit, whatever the commands are.

    Call `reset` with the measured joint positions, then `update` once a cycle. The manager reads
    no clock and logs nothing; equal inputs give equal outputs to the last bit. Bad input raises
    nothing: it becomes a cause.

    Args:
        robot: The robot with its limits.
        config: Further limits and times.

    Attributes:
        parts: The parts that can be commanded, by name.

    Raises:
        MissingExtraError: The robot has links to be kept apart, and Pinocchio is not installed.
        UnknownNameError: A workspace is configured for a chain that the robot does not have.
    """

    def __init__(self, robot: RobotDescription, config: SafetyConfig | None = None) -> None:
        self._config = config = config or SafetyConfig()
        self._period = config.period
        self.parts = parts = RobotParts(robot)
        self._limits = MotionLimits(parts.velocity, parts.acceleration, parts.jerk)
        self._guards = guards_for(robot, parts, self._limits, config)
        self._commands = CommandBuffer(
            parts, self._limits, config.command_smoothing, 0.1 * self._period
        )
        self._joints = {
            part.name: JointControl(part, index, self._commands, config)
            for index, part in enumerate(parts.values())
        }
        self._controls: dict[str, PartControl] = dict(self._joints)
        self._base = BaseControl(robot.base, config) if robot.base is not None else None
        if self._base is not None:
            self._controls[BASE] = self._base
        self._overruns = OverrunMonitor(
            self._period, tolerated=config.tolerated_overruns, subject=LOOP
        )
        self._report = LimitReport(robot, parts, self._limits, config.lag)
        self._columns = {name: part.columns for name, part in parts.items()}
        self._log = CauseLog()
        self._state: MotionState | None = None
        self._now: float | None = None
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
        return read_only(self._known_state().position)

    def reset(self, measured: Mapping[str, float]) -> None:
        """Restart from rest at the measured positions; an emergency stop stays latched.

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
        self._commands.start(positions)
        for guard in self._guards:
            guard.reset(positions)
        for control in self._controls.values():
            control.reset()
        self._overruns.reset()
        self._log.clear()
        self._now = None

    def reset_estop(self) -> bool:
        """Release the emergency stop; False, and still latched, while its button is pressed.

        No part moves before it has been seen disengaged and then engaged again.
        """
        if not self._pressed:
            self._estopped = False
        return not self._estopped

    def come_to_rest(self) -> None:
        """Take the robot to stand still where it was sent, as after its commands ceased."""
        if self._state is not None:
            self._state = MotionState.at_rest(self._state.position)
        if self._base is not None:
            self._base.come_to_rest()

    def update(
        self,
        commands: Mapping[str, PartCommand],
        base: VelocityCommand | None = None,
        *,
        now: float,
        engaged: Collection[str],
        estop: bool = False,
    ) -> SafetyOutput:
        """Return the motion of one cycle.

        Args:
            commands: The newest command of each part that has one; the same object may be given
                again and again.
            base: The newest velocity command of the base, or None.
            now: Time of the cycle in [s], on the clock of the stamps.
            engaged: Parts that the operator has engaged; "base" is one of them.
            estop: Whether an emergency stop is pressed.

        Raises:
            InvalidJointStateError: `reset` has not been called.
        """
        state, log, clock = self._known_state(), self._log, now
        # A NaN clock reading must not become the age of anything.
        now = now if math.isfinite(now) else self._now or 0.0
        log.begin(now)
        verdict = self._judge_cycle(clock, estop)
        if verdict.hold is not None:
            log.add(*verdict.hold)
        if verdict.has_stalled:
            # Without commands for so long, the robot has stopped.
            state = MotionState.at_rest(state.position)
        cycle = Cycle(now, Step(self._limits, state, verdict.step), log)
        for name, joints in self._joints.items():
            joints.update(commands.get(name), cycle, engaged=name in engaged, hold=verdict.hold)
        for name in commands:
            if name not in self._columns:
                log.add(Rule.WRONG_SHAPE, str(name), math.nan, 0.0, Severity.HOLD)
        state = self._state = self._move(cycle.step)
        velocity = NO_VELOCITY
        if self._base is not None:
            velocity = self._base.update(base, cycle, engaged=BASE in engaged, hold=verdict.hold)
        return self._output(state, velocity)

    def _known_state(self) -> MotionState:
        if self._state is None:
            raise InvalidJointStateError("the robot's positions are unknown; call reset() first")
        return self._state

    def _judge_cycle(self, now: float, estop: bool) -> _Verdict:
        """Judge the emergency stop and the clock."""
        self._pressed = bool(estop)
        self._estopped = self._estopped or self._pressed
        verdict = self._judge_clock(now)
        if not self._estopped:
            return verdict
        for control in self._controls.values():
            control.require_disengage()
        return verdict._replace(hold=ESTOP)

    def _judge_clock(self, now: float) -> _Verdict:
        period, last, stall_after = self._period, self._now, self._config.stall_after
        elapsed = period if last is None else now - last
        if not (math.isfinite(now) and elapsed > 0.0):
            # Brake as if time passed: a broken clock must not keep anything moving.
            return _Verdict(period, HoldReason(Rule.TIME_ORDER, LOOP, elapsed, 0.0))
        self._now = now
        late = elapsed - period
        cause = self._overruns.update(now - late, late, waited=late < 0.1 * period)
        step = min(elapsed, period)
        if elapsed > stall_after:
            if self._base is not None and elapsed > STANDSTILL_TIME:
                self._base.come_to_rest()
            hold = HoldReason(Rule.OVERRUN, LOOP, elapsed, stall_after)
            return _Verdict(step, hold, has_stalled=True)
        if cause is not None and cause.severity >= Severity.HOLD:
            return _Verdict(step, HoldReason(Rule.OVERRUN, LOOP, cause.value, cause.limit))
        if cause is not None:
            self._log.add(Rule.OVERRUN, LOOP, cause.value, cause.limit, cause.severity)
        return _Verdict(step)

    def _move(self, step: Step) -> MotionState:
        """Return the motion after the step."""
        commands = self._commands
        commands.follow()
        state = self._limits.stepped(step.state, commands.target, commands.is_held, step.duration)
        for guard in self._guards:
            state = guard.limit(step, state, self._log)
        self._report.report(step, state, commands, self._log)
        return state

    def _output(self, state: MotionState, velocity: VelocityCommand) -> SafetyOutput:
        holding, stamps = [], {}
        for name, control in self._controls.items():
            if control.following:
                stamps[name] = control.stamp
            else:
                holding.append(name)
        return SafetyOutput(
            names=self.parts.joints,
            positions=read_only(state.position),
            velocities=read_only(state.velocity),
            accelerations=read_only(state.acceleration),
            base=velocity,
            causes=self._log.causes,
            holding=frozenset(holding),
            stamps=stamps,
            commanded=self._commands.position.copy(),
            columns=self._columns,
        )
