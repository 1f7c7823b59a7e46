# SPDX-License-Identifier: Apache-2.0
"""The commands of one part as they arrive: which are accepted, and how old they are."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.command_check import CommandCheck, Fault
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.parts import Part
from teleop_system.safety.staleness import is_stale
from teleop_system.safety.values import PartCommand

Array = NDArray[np.float64]

REPEATS = 3
"""Changed commands under one stamp that pass without a cause: a loop that is faster than its
input refines the last one for a cycle or two."""


class CommandStream:
    """Judges the commands of one part, one cycle after the other.

    Args:
        part: The part.
        config: How old a command may be, and how far in the future.

    Attributes:
        stamp: Stamp of the newest command in [s]; None before the first.
        accepted_at: Time of the cycle that last accepted one in [s]; None before the first.
        interval: Time between the last two accepted ones in [s].
    """

    def __init__(self, part: Part, config: SafetyConfig) -> None:
        self._name = part.name
        self._ahead, self._stale_after = config.ahead, config.stale_after
        self._check = CommandCheck(part)
        self.restart(None)

    def restart(self, now: float | None) -> None:
        """Forget every command; age counts from `now` [s], or from the next call of `age`."""
        self.stamp: float | None = None
        self.accepted_at: float | None = None
        self.interval = 0.0
        self._fresh_at = now
        self._last: PartCommand | None = None
        self._repeats = 0

    def keep_newest(self, now: float) -> None:
        """Forget every command but one that was accepted in this cycle, at time `now` [s]."""
        last, stamp, accepted_at = self._last, self.stamp, self.accepted_at
        fresh_at = self._fresh_at
        self.restart(now)
        if accepted_at == now:
            self._last, self.stamp, self.accepted_at = last, stamp, now
            self._fresh_at = fresh_at

    def age(self, now: float) -> float:
        """Return the age of the newest good command at time `now` in [s]."""
        if self._fresh_at is None:
            self._fresh_at = now
        return now - self._fresh_at

    def accept(self, command: PartCommand | None, now: float, log: CauseLog) -> Array | None:
        """Return new positions to follow in the part's order, or None where there are none."""
        if command is None or command is self._last:
            return None
        checked = self._check.read(command)
        if isinstance(checked, Fault):
            log.add(*checked, Severity.HOLD)
            return None
        if not self._is_in_order(checked.timestamp, now, log):
            return None
        self._last = command
        if is_stale(self.age(now), self._stale_after):
            return None
        if self.accepted_at is not None:
            self.interval = now - self.accepted_at
        self.accepted_at = now
        return checked.positions

    def _is_in_order(self, stamp: float, now: float, log: CauseLog) -> bool:
        last, name = self.stamp, self._name
        if stamp > now + self._ahead:
            log.add(Rule.TIME_ORDER, name, stamp - now, self._ahead, Severity.HOLD)
            return False
        if last is not None and stamp < last:
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
