# SPDX-License-Identifier: Apache-2.0
"""Whether a part follows its commands or holds."""

import abc
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.command_check import CommandCheck, Fault
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.engage_ramp import EngageRamp
from teleop_system.safety.motion.commands import LONGEST_AHEAD, CommandBuffer
from teleop_system.safety.motion.joint_motion import Step
from teleop_system.safety.parts import Part
from teleop_system.safety.values import PartCommand

Array = NDArray[np.float64]

REPEATS = 3
"""Changed commands under one stamp that pass without a cause: a loop that is faster than its
input refines the last one for a cycle or two."""
NEVER = -math.inf


class HoldReason(NamedTuple):
    """Why a part, or all of them, must hold; the fields are those of a cause."""

    rule: Rule
    subject: str
    value: float = 0.0
    limit: float = 0.0
    severity: Severity = Severity.HOLD


class Cycle(NamedTuple):
    """What all parts share in one cycle.

    Attributes:
        now: Time of the cycle in [s].
        step: The present motion and the duration of the step.
        log: Where causes are reported.
    """

    now: float
    step: Step
    log: CauseLog


class PartControl(abc.ABC):
    """The commands of one part, and whether it follows them or brakes and holds.

    A part that holds follows again only when it stands still and no reason to hold is left, and
    then with a speed limit that grows from almost zero. After an emergency stop it must be seen
    disengaged first.

    Args:
        part: The part.
        config: Ages and times.

    Attributes:
        following: Whether it follows its commands.
        stamp: Stamp of the newest command in [s]; minus infinity before the first.
    """

    def __init__(self, part: Part, config: SafetyConfig) -> None:
        self._name = part.name
        self._check = CommandCheck(part)
        self._ramp = EngageRamp(config.ramp_time)
        self._ahead = config.ahead
        self._stale_after, self._dead_after = config.stale_after, config.dead_after
        self._not_engaged = HoldReason(Rule.NOT_ENGAGED, part.name)
        self._must_disengage = False
        self.reset()

    def reset(self) -> None:
        """Restart: hold, and forget every command but not an emergency stop."""
        self._forget(NEVER)
        self._speed_scale = 1.0
        self.following = False
        self._was_engaged = False
        self._reason = self._not_engaged

    def require_disengage(self) -> None:
        """Do not follow before the part has been disengaged and engaged again."""
        self._must_disengage = True

    @abc.abstractmethod
    def _is_resting(self, cycle: Cycle) -> bool:
        """Return whether the part stands still."""

    def _forget(self, now: float) -> None:
        """Forget every command; age counts from `now` [s]."""
        self.stamp = self._accepted_at = NEVER
        self._fresh_at = now
        self._last: PartCommand | None = None
        self._repeats = 0
        self._interval = 0.0
        """Time between the last two accepted commands in [s]."""

    def _accept(self, command: PartCommand, cycle: Cycle) -> Array | None:
        """Return new positions to follow in the part's order, or None where there are none."""
        if command is self._last:
            return None
        now = cycle.now
        positions = self._check.positions(command)
        if isinstance(positions, Fault):
            cycle.log.add(*positions, Severity.HOLD)
            return None
        if not self._is_in_order(command.timestamp, now, cycle.log):
            return None
        self._last = command
        if now - self._fresh_at > self._stale_after:
            return None
        if self._accepted_at > NEVER:
            self._interval = now - self._accepted_at
        self._accepted_at = now
        return positions

    def _is_in_order(self, stamp: float, now: float, log: CauseLog) -> bool:
        """Return whether a stamp may follow the last one, and take it."""
        last, name = self.stamp, self._name
        if stamp > now + self._ahead:
            log.add(Rule.TIME_ORDER, name, stamp - now, self._ahead, Severity.HOLD)
            return False
        if stamp < last:
            log.add(Rule.TIME_ORDER, name, stamp - last, 0.0, Severity.HOLD)
            return False
        if stamp == last:
            # A command may be refined under its stamp, but its age keeps counting.
            self._repeats += 1
            if self._repeats >= REPEATS:
                log.add(Rule.TIME_ORDER, name, 0.0, 0.0, Severity.INFO)
            return True
        self._repeats = 0
        self.stamp = stamp
        self._fresh_at = min(stamp, now)
        return True

    def _decide(self, cycle: Cycle, *, engaged: bool, hold: HoldReason | None) -> bool:
        """Decide whether to follow in this cycle; return whether following begins with it.

        Args:
            cycle: The cycle.
            engaged: Whether the operator has engaged the part.
            hold: Why the part must hold, reported by the caller; None where it need not.
        """
        if engaged != self._was_engaged:
            self._was_engaged = engaged
            # No command from before the operator engaged or disengaged counts.
            if self._accepted_at == cycle.now:
                self._interval, self._repeats = 0.0, 0
            else:
                self._forget(cycle.now)
        if not engaged and hold is None:
            self._must_disengage = False
        reason = hold or self._own_reason(cycle, engaged)
        if reason is not None:
            self.following = False
            self._reason = reason
            return False
        begins = not self.following and self._is_resting(cycle)
        if begins:
            self.following = True
            self._ramp.restart()
        if self.following:
            self._speed_scale = self._ramp.advance(cycle.step.duration)
        else:
            cycle.log.add(*self._reason)  # Still braking.
        return begins

    def _own_reason(self, cycle: Cycle, engaged: bool) -> HoldReason | None:
        """Return, and report, why this part must hold; None where it may follow."""
        if not engaged or self._must_disengage:
            if engaged or self.stamp > NEVER:
                cycle.log.add(*self._not_engaged)
            return self._not_engaged
        age = cycle.now - self._fresh_at
        if age <= self._stale_after and self._accepted_at > NEVER:
            return None
        if age > self._dead_after:
            reason = HoldReason(Rule.DEAD_CLIENT, self._name, age, self._dead_after)
        else:
            reason = HoldReason(Rule.STALE, self._name, age, self._stale_after)
        cycle.log.add(*reason)
        return reason


class JointControl(PartControl):
    """A part of joints: takes its commands to the buffer of all joints.

    Args:
        part: The part.
        index: Its index among the parts.
        commands: The commanded motion of all joints; this part's is kept up to date.
        config: Ages and times.
    """

    def __init__(
        self, part: Part, index: int, commands: CommandBuffer, config: SafetyConfig
    ) -> None:
        super().__init__(part, config)
        self._columns = part.columns
        self._index = index
        self._commands = commands
        self._requested = commands.requested[part.columns]
        self._jump = config.jump

    def update(
        self,
        command: PartCommand | None,
        cycle: Cycle,
        *,
        engaged: bool,
        hold: HoldReason | None,
    ) -> None:
        """Take the newest command of the part, and decide whether to follow it; see `_decide`."""
        positions = None if command is None else self._accept(command, cycle)
        begins = self._decide(cycle, engaged=engaged, hold=hold)
        if positions is not None:
            self._requested[:] = positions
        commands, index = self._commands, self._index
        commands.is_new[index] = positions is not None
        commands.holds[index] = not self.following
        if positions is None and not self.following:
            return  # The rest counts only for new positions and for joints that follow.
        interval = self._interval
        commands.interval[index] = 0.0 if begins else interval
        commands.ahead[index] = min(cycle.now - self._accepted_at, interval, LONGEST_AHEAD)
        commands.speed_scale[index] = self._speed_scale
        if begins:
            self._report_jump(cycle)

    @override
    def _is_resting(self, cycle: Cycle) -> bool:
        return cycle.step.state.is_resting(self._columns)

    def _report_jump(self, cycle: Cycle) -> None:
        commanded = self._commands.within_limits(self._columns)
        jump = float(np.abs(commanded - cycle.step.state.position[self._columns]).max())
        if jump > self._jump:
            cycle.log.add(Rule.ENGAGE_JUMP, self._name, jump, self._jump)
