# SPDX-License-Identifier: Apache-2.0
"""The commands of one part as they come in: which are accepted, and how old they are."""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.command_check import CommandCheck, Fault
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.parts import Part
from teleop_system.safety.values import PartCommand

Array = NDArray[np.float64]

FLOAT64 = np.dtype(np.float64)
REPEATS = 3
"""Changed commands under one time stamp that pass unremarked: a loop that is faster than its
input refines the last one for a cycle or two."""


class CommandStream:
    """Judges the commands of one part, one cycle after the other.

    Args:
        part: The part.
        config: How old a command may be, and how far ahead.

    Attributes:
        stamp: Time stamp of the newest command in [s]; None before the first.
        taken_at: Time of the cycle in which one was last accepted in [s]; None before the first.
        interval: Time between the last two accepted ones in [s].
        fresh_at: Time from which the age of the newest good one counts in [s]; None at first.
    """

    def __init__(self, part: Part, config: SafetyConfig) -> None:
        self._part = part
        self._ahead, self._stale = config.ahead, config.stale_after
        self._shape = (len(part.joints),)
        self._check = CommandCheck(part)
        self.restart(None)

    def restart(self, now: float | None) -> None:
        """Forget every command; age counts from `now` [s], or from the next call that has it."""
        self.stamp: float | None = None
        self.taken_at: float | None = None
        self.interval = 0.0
        self.fresh_at = now
        self._last: PartCommand | None = None
        self._repeats = 0

    def expect(self, now: float) -> None:
        """Forget every command but the newest, from `now` [s] on."""
        keep, stamp, taken_at, fresh_at = self._last, self.stamp, self.taken_at, self.fresh_at
        self.restart(now)
        if taken_at == now:
            self._last, self.stamp, self.taken_at, self.fresh_at = keep, stamp, now, fresh_at

    def age(self, now: float) -> float:
        """Return the age of the newest good command at time `now` in [s]."""
        if self.fresh_at is None:
            self.fresh_at = now
        return now - self.fresh_at

    def take(self, command: PartCommand | None, now: float, log: CauseLog) -> Array | None:
        """Return new positions to follow in the part's order, or None where there are none."""
        if command is None or command is self._last:
            return None
        positions = self.take_on(command, now)
        if positions is not None:
            return positions
        positions = self._checked(command, log)
        if positions is None or not self._is_in_time(command, now, log):
            return None
        self._last = command
        if self.age(now) > self._stale:
            return None
        if self.taken_at is not None:
            self.interval = now - self.taken_at
        self.taken_at = now
        return positions

    def take_on(self, command: PartCommand, now: float) -> Array | None:
        """Return the positions of a command that a glance shows to be as good as those before.

        Nearly all are. Where it returns None nothing has happened, and `take` has a closer look.
        """
        given, stamp = command.positions, command.timestamp
        last, taken_at = self.stamp, self.taken_at
        # A stamp that is no finite number fails the comparisons, and a position that is none
        # spoils the sum.
        if (
            last is not None
            and taken_at is not None
            and command is not self._last
            and type(given) is np.ndarray
            and given.dtype is FLOAT64
            and given.shape == self._shape
            and command.names is None
            and type(stamp) is float
            and last < stamp <= now + self._ahead
            and now - stamp <= self._stale
            and isfinite(sum(given.tolist()))
        ):
            # As `_accept` does, which is spared a call: this runs for every part in every cycle.
            self._last, self._repeats = command, 0
            self.stamp = stamp
            self.fresh_at = stamp if stamp < now else now
            self.interval, self.taken_at = now - taken_at, now
            return given
        return None

    def _accept(self, stamp: float, now: float) -> None:
        self._repeats = 0
        self.stamp = stamp
        self.fresh_at = stamp if stamp < now else now

    def _is_in_time(self, command: PartCommand, now: float, log: CauseLog) -> bool:
        stamp, last, name = command.timestamp, self.stamp, self._part.name
        if stamp > now + self._ahead:
            log.add(Rule.TIME_ORDER, name, stamp - now, self._ahead, Severity.HOLD)
            return False
        if last is not None and stamp < last:
            log.add(Rule.TIME_ORDER, name, stamp - last, 0.0, Severity.HOLD)
            return False
        if stamp == last:
            # What was accepted under this stamp may be refined, but grows no younger.
            self._repeats += 1
            if self._repeats >= REPEATS:
                log.add(Rule.TIME_ORDER, name, 0.0, 0.0, Severity.INFO)
            return True
        self._accept(stamp, now)
        return True

    def _checked(self, command: PartCommand, log: CauseLog) -> Array | None:
        """Return finite positions in the part's order; None, and a cause, where it has none."""
        found = self._check.read(command)
        if isinstance(found, Fault):
            log.add(*found, Severity.HOLD)
            return None
        return found
