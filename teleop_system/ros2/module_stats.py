# SPDX-License-Identifier: Apache-2.0
"""How fast a controller runs on its topics: rate, latency and what a tick takes."""

import math

from teleop_system.timing.stage_timer import TimingHistory

KEPT = 1000
"""Ticks that the figures are about."""
OLDEST = 0.5
"""Age in [s] past which a sample was held rather than followed, and says nothing of latency."""


class ModuleStats:
    """The figures of one controller; recording a tick makes no arrays."""

    def __init__(self) -> None:
        self._history = TimingHistory(("latency", "compute"), KEPT)
        self._row = [math.nan, 0.0]
        self._counted = 0
        self._counted_at: float | None = None
        self._rate = 0.0

    @property
    def ticks(self) -> int:
        """Ticks so far."""
        return self._history.total

    def record(self, latency: float, compute: float) -> None:
        """Note a tick: age of the newest sample when its command was sent, and its work, [s]."""
        self._row[0] = latency if 0.0 <= latency <= OLDEST else math.nan
        self._row[1] = compute
        self._history.record(self._row)

    def values(self, now: float) -> dict[str, str]:
        """Return the figures for a status report at time `now` [s], for people in [ms]."""
        if self._counted_at is not None and now > self._counted_at:
            self._rate = (self.ticks - self._counted) / (now - self._counted_at)
        self._counted, self._counted_at = self.ticks, now
        figures = self._history.summary()
        latency, compute = figures["latency"], figures["compute"]
        return {
            "rate": f"{self._rate:.1f}",
            "latency_p50_ms": f"{1e3 * latency.p50:.2f}" if latency.count else "",
            "latency_p99_ms": f"{1e3 * latency.p99:.2f}" if latency.count else "",
            "compute_p50_ms": f"{1e3 * compute.p50:.2f}",
            "compute_p99_ms": f"{1e3 * compute.p99:.2f}",
            "ticks": str(self.ticks),
        }
