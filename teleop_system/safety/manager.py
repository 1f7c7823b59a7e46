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
from teleop_system.safety.guards.guards import Guards
from teleop_system.safety.joint_control import JointControl
from teleop_system.safety.motion.commands import CommandBuffer
from teleop_system.safety.motion.limit_report import LimitReport
from teleop_system.safety.motion.limits import MotionLimits
from teleop_system.safety.motion.state import MotionState
from teleop_system.safety.motion.step import Step
from teleop_system.safety.part_control import HoldReason
from teleop_system.safety.parts import BASE, RobotParts
from teleop_system.safety.staleness import STANDSTILL_TIME
from teleop_system.safety.values import PartCommand, SafetyOutput, read_only
from teleop_system.timing.overruns import OverrunMonitor

Array = NDArray[np.float64]

LOOP = "loop"
ESTOP = HoldReason(Rule.ESTOP, "robot", 1.0, 0.0, Severity.STOP)
CALLER = HoldReason(Rule.NOT_ENGAGED, "caller")
NO_VELOCITY = VelocityCommand()


class _Cycle(NamedTuple):
    """What is decided for a whole cycle.

    Attributes:
        step: How long to move for [s].
        hold: Why everything must hold; None where it need not.
        elapsed: Time since the last cycle in [s], if it was so long that the loop had stalled.
    """

    step: float
    hold: HoldReason | None = None
    elapsed: float | None = None


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
        self.parts = parts = RobotParts(robot)
        self._limits = MotionLimits(parts.velocity, parts.acceleration, parts.jerk)
        self._guards = Guards(robot, parts, self._limits, config)
        self._commands = CommandBuffer(parts, config.command_smoothing, 0.1 * config.period)
        self._holding = np.ones(parts.size, dtype=bool)
        self._joints = {
            name: JointControl(part, self._commands, self._limits, self._holding, config)
            for name, part in parts.items()
        }
        self._base = BaseControl(robot.base, config) if robot.base is not None else None
        self._controls = [joints.control for joints in self._joints.values()]
        if self._base is not None:
            self._controls.append(self._base.control)
        self._overruns = OverrunMonitor(
            config.period, tolerated=config.tolerated_overruns, subject=LOOP
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
        self._state = state = MotionState.at_rest(positions)
        self._guards.reset(positions)
        for joints in self._joints.values():
            joints.reset(state)
        if self._base is not None:
            self._base.reset()
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
        holds: Collection[str] = (),
    ) -> SafetyOutput:
        """Return the motion of one cycle.

        Args:
            commands: The newest command of each part that has one; the same object may be given
                again and again.
            base: The newest velocity command of the base, or None.
            now: Time of the cycle in [s], on the clock of the stamps.
            engaged: Parts that the operator has engaged; "base" is one of them.
            estop: Whether an emergency stop is pressed.
            holds: Parts to hold for a reason that the caller reports itself.

        Raises:
            InvalidJointStateError: `reset` has not been called.
        """
        self._known_state()
        log, clock = self._log, now
        # A NaN clock reading must not become the age of anything.
        now = now if math.isfinite(now) else self._now or 0.0
        log.begin(now)
        cycle = self._judge_cycle(clock, estop)
        if cycle.hold is not None:
            log.add(*cycle.hold)
        if cycle.elapsed is not None:
            self._finish_stall(cycle.elapsed)
        step = Step(self._limits, self._known_state(), cycle.step)
        for name, joints in self._joints.items():
            joints.update(
                commands.get(name),
                engaged=name in engaged,
                hold=_hold(cycle, name, holds),
                now=now,
                step=step,
                log=log,
            )
        self._reject_unknown(commands)
        self._state = self._move(step)
        velocity = NO_VELOCITY
        if self._base is not None:
            velocity = self._base.update(
                base,
                engaged=BASE in engaged,
                hold=_hold(cycle, BASE, holds),
                now=now,
                step=cycle.step,
                log=log,
            )
        return self._output(velocity)

    def _known_state(self) -> MotionState:
        if self._state is None:
            raise InvalidJointStateError("the robot's positions are unknown; call reset() first")
        return self._state

    def _judge_cycle(self, now: float, estop: bool) -> _Cycle:
        """Judge the emergency stop and the clock."""
        self._pressed = bool(estop)
        self._estopped = self._estopped or self._pressed
        cycle = self._judge_clock(now)
        if not self._estopped:
            return cycle
        for control in self._controls:
            control.require_disengage()
        return cycle._replace(hold=ESTOP)

    def _judge_clock(self, now: float) -> _Cycle:
        period, last, stall_after = self._config.period, self._now, self._config.stall_after
        elapsed = period if last is None else now - last
        if not (math.isfinite(now) and elapsed > 0.0):
            # Brake as if time passed: a broken clock must not keep anything moving.
            return _Cycle(period, HoldReason(Rule.TIME_ORDER, LOOP, elapsed, 0.0))
        self._now = now
        late = elapsed - period
        cause = self._overruns.update(now - late, late, waited=late < 0.1 * period)
        step = min(elapsed, period)
        if elapsed > stall_after:
            return _Cycle(step, HoldReason(Rule.OVERRUN, LOOP, elapsed, stall_after), elapsed)
        if cause is not None and cause.severity >= Severity.HOLD:
            return _Cycle(step, HoldReason(Rule.OVERRUN, LOOP, cause.value, cause.limit))
        if cause is not None:
            self._log.add(Rule.OVERRUN, LOOP, cause.value, cause.limit, cause.severity)
        return _Cycle(step)

    def _finish_stall(self, elapsed: float) -> None:
        """Start from rest: without commands for so long, the robot has stopped."""
        self._state = MotionState.at_rest(self._known_state().position)
        if self._base is not None and elapsed > STANDSTILL_TIME:
            self._base.come_to_rest()

    def _reject_unknown(self, commands: Mapping[str, PartCommand]) -> None:
        for name in commands.keys() - self._columns.keys():
            self._log.add(Rule.WRONG_SHAPE, str(name), math.nan, 0.0, Severity.HOLD)

    def _move(self, step: Step) -> MotionState:
        """Return the motion after the step."""
        targets = self._commands.find_targets(self._limits)
        wanted = self._limits.stepped(step.state, targets, self._holding, step.duration)
        state = self._guards.limit(step, wanted, self._log)
        self._report.report(step, state, self._commands, self._holding, self._log)
        return state

    def _output(self, velocity: VelocityCommand) -> SafetyOutput:
        state, controls = self._known_state(), self._controls
        return SafetyOutput(
            names=self.parts.joints,
            positions=read_only(state.position),
            velocities=read_only(state.velocity),
            accelerations=read_only(state.acceleration),
            base=velocity,
            causes=self._log.causes,
            holding=frozenset(each.part.name for each in controls if not each.following),
            stamps={
                each.part.name: each.stream.stamp
                for each in controls
                if each.following and each.stream.stamp is not None
            },
            commanded=self._commands.position.copy(),
            columns=self._columns,
        )


def _hold(cycle: _Cycle, part: str, holds: Collection[str]) -> HoldReason | None:
    """Return why a part must hold, apart from reasons of its own."""
    return cycle.hold or (CALLER if part in holds else None)
