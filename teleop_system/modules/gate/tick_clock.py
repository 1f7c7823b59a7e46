# SPDX-License-Identifier: Apache-2.0
"""Checks the time that a controller is given with every tick."""

import enum
import math

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety.cause_log import CauseLog


class TickTime(enum.Enum):
    """What the time of a tick says about the loop."""

    REGULAR = "regular"
    """Time has advanced by about a period."""
    INVALID = "invalid"
    """Time is not finite, or has not advanced."""
    BACKWARDS = "backwards"
    """The clock was set back; the stamps of earlier samples mean nothing now."""
    STALLED = "stalled"
    """The loop has stood still; the robot may have come to rest."""


REGULAR, INVALID, BACKWARDS, STALLED = TickTime


class TickClock:
    """Follows the time of a controller's ticks.

    Args:
        name: What is controlled, as causes name it.
        stall_after: Longest regular time between two ticks in [s].

    Attributes:
        now: Time of the newest tick in [s]; minus infinity before the first.
    """

    def __init__(self, name: str, stall_after: float) -> None:
        self._name = name
        self._stall_after = stall_after
        self.reset()

    def reset(self) -> None:
        """Forget the time of earlier ticks."""
        self.now = -math.inf

    def begin(self, now: float, dt: float, log: CauseLog) -> TickTime:
        """Begin the log of a tick at time `now`, `dt` after the last [s]; log irregular times."""
        last = self.now
        if not (math.isfinite(now) and math.isfinite(dt)):
            log.begin(now if math.isfinite(now) else max(last, 0.0))
            self.now = now if math.isfinite(now) else last
            log.add(Rule.NON_FINITE, "clock", 0.0, 0.0, Severity.HOLD)
            return INVALID
        log.begin(now)
        self.now = now
        elapsed = max(dt, now - last) if math.isfinite(last) else dt
        if now <= last or dt <= 0.0:
            log.add(Rule.TIME_ORDER, "clock", min(now - last, dt), 0.0, Severity.HOLD)
            return BACKWARDS if now < last else INVALID
        if elapsed > self._stall_after:
            log.add(Rule.OVERRUN, self._name, elapsed, self._stall_after, Severity.HOLD)
            return STALLED
        return REGULAR
