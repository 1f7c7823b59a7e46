# SPDX-License-Identifier: Apache-2.0
"""The rule for late ticks, which sessions and ROS nodes share."""

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces.causes import Cause, Rule, Severity


class OverrunMonitor:
    """Reports ticks that are more than a period late, and demands a hold after several in a row.

    Overruns count as *in a row* until a tick for which the loop had to wait: work that always
    takes 1.5 periods makes only every second tick late enough to count, yet never recovers. A
    hold ends after as many punctual ticks in a row as overruns were tolerated, so that a loop at
    the edge of its budget does not alternate between following and holding.

    Args:
        period: Nominal period of the loop in [s].
        tolerated: Overruns in a row that do not yet demand a hold.
        subject: Name of the loop, for its causes.
    """

    def __init__(self, period: float, *, tolerated: int = 5, subject: str = "loop") -> None:
        if not 0.0 < period < float("inf"):
            raise InvalidValueError(f"period must be positive and finite, got {period}")
        if tolerated < 0:
            raise InvalidValueError(f"tolerated must not be negative, got {tolerated}")
        self._period = period
        self._tolerated = tolerated
        self._subject = subject
        self.total = 0
        """Overruns since the start."""
        self.hold = False
        """Whether the loop is late too often for the robot to follow."""
        self.reset()

    def reset(self) -> None:
        """Forget the overruns in a row, as after an intended pause."""
        self._streak = 0
        self.hold = False
        self._punctual = 0
        self._since = 0.0
        self._late = 0.0

    def update(self, due: float, late: float, *, waited: bool) -> Cause | None:
        """Judge one tick; return the cause to report, if there is one.

        Args:
            due: Time at which it should have started in [s].
            late: How long after that it started in [s].
            waited: Whether the loop had time to spare before this tick was due.
        """
        if late > self._period:
            if self._streak == 0:
                self._since = due
            self.total += 1
            self._streak += 1
            self.hold = self._streak > self._tolerated
            self._punctual = 0
            self._late = late
        elif self._streak == 0:
            return None
        else:
            self._recover(waited)
            if not self.hold:
                return None
        severity = Severity.HOLD if self.hold else Severity.INFO
        return Cause(Rule.OVERRUN, self._subject, self._late, self._period, self._since, severity)

    def _recover(self, waited: bool) -> None:
        self._punctual = self._punctual + 1 if waited else 0
        if self._punctual >= (max(self._tolerated, 1) if self.hold else 1):
            self._streak = 0
            self.hold = False
            self._punctual = 0
