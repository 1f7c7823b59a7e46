# SPDX-License-Identifier: Apache-2.0
"""How simulated time keeps up with real time: due cycles, overruns, real-time factor."""

import math
from collections import deque

from teleop_system.exceptions import InvalidValueError
from teleop_system.timing.overruns import OverrunMonitor

WINDOW = 2.0
"""Time over which the real-time factor is measured in [s]."""


class Pacer:
    """Counts the cycles that are due, against absolute deadlines.

    Cycle k is due at start + k periods, however long the earlier ones took, so delays do not add
    up. After a longer pause, at most `catch_up` cycles are made up for; the rest are dropped and
    show in the real-time factor.

    Args:
        period: Simulated time of a cycle in [s].
        catch_up: Most cycles that are made up for at once.
    """

    def __init__(self, period: float, *, catch_up: int = 5) -> None:
        if not (math.isfinite(period) and period > 0.0):
            raise InvalidValueError(f"period must be positive, got {period} s")
        if catch_up < 1:
            raise InvalidValueError(f"catch_up must be at least 1, got {catch_up}")
        self.period = period
        self.dropped = 0
        """Cycles that were not made up for."""
        self._catch_up = catch_up
        self._overruns = OverrunMonitor(period, subject="simulation")
        self._samples: deque[tuple[float, float]] = deque()
        self.restart()

    @property
    def overruns(self) -> int:
        """Cycles that started more than a period late."""
        return self._overruns.total

    def restart(self) -> None:
        """Let the next cycle be due at once, as after an intended pause."""
        self._next: float | None = None
        self._overruns.reset()
        self._samples.clear()

    def owed(self, wall: float) -> int:
        """Return the number of cycles due at time `wall` [s] of a monotonic clock."""
        if self._next is None:
            self._next = wall + self.period
            return 1
        late = wall - self._next
        if late < -0.5 * self.period:
            return 0  # Woken early by up to half a period, as imprecise timers do.
        self._overruns.update(self._next, max(late, 0.0), waited=late < self.period)
        count = 1 + max(0, int(late / self.period))
        self._next += count * self.period
        if count > self._catch_up:
            self.dropped += count - self._catch_up
            count = self._catch_up
        return count

    def note(self, wall: float, simulated: float) -> None:
        """Record that `simulated` [s] had passed at time `wall` [s]."""
        self._samples.append((wall, simulated))
        while self._samples[-1][0] - self._samples[0][0] > WINDOW:
            self._samples.popleft()

    @property
    def real_time_factor(self) -> float:
        """Simulated time per real time over the last seconds; 0 before it is known."""
        if len(self._samples) < 2:
            return 0.0
        (wall, simulated), (wall_end, simulated_end) = self._samples[0], self._samples[-1]
        span = wall_end - wall
        return (simulated_end - simulated) / span if span > 0.0 else 0.0
