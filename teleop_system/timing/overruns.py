# SPDX-License-Identifier: Apache-2.0
"""When a loop comes late: the rule both wirings share, whoever drives their ticks."""

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces.causes import Cause, Rule, Severity


class OverrunMonitor:
    """Report ticks that are more than a period late, and ask for a hold when they go on.

    Overruns follow *in a row* until a tick comes that the loop had to wait for: work that always
    takes 1.5 periods makes only every second tick late enough to count, yet never recovers. A
    hold ends after as many unhurried ticks in a row as overruns were tolerated, so that a loop at
    the edge of its budget does not grip and let go by turns.

    Args:
        period: Nominal period of the loop in [s].
        tolerated: Overruns in a row that do not yet ask for a hold.
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
        """Overruns ever seen."""
        self.reset()

    @property
    def streak(self) -> int:
        """Overruns in a row up to now."""
        return self._streak

    @property
    def hold(self) -> bool:
        """Whether the loop is too late too often for the robot to go on following."""
        return self._streak > self._tolerated

    def reset(self) -> None:
        """Forget the overruns in a row, as after a pause that was meant."""
        self._streak = 0
        self._unhurried = 0
        self._since = 0.0
        self._late = 0.0

    def update(self, due: float, late: float, *, waited: bool) -> Cause | None:
        """Judge one tick; return why there is something to say about it, if there is.

        Args:
            due: When it should have started in [s].
            late: How long after that it did in [s].
            waited: Whether the loop had time to spare before this tick was due.
        """
        if late > self._period:
            if self._streak == 0:
                self._since = due
            self.total += 1
            self._streak += 1
            self._unhurried = 0
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
        self._unhurried = self._unhurried + 1 if waited else 0
        if self._unhurried >= (max(self._tolerated, 1) if self.hold else 1):
            self._streak = 0
            self._unhurried = 0
