# SPDX-License-Identifier: Apache-2.0
"""Rates, latencies and computing times in status reports."""

import math
from collections import deque

import numpy as np

from teleop_system.timing.stage_timer import TimingHistory

KEPT = 1000
"""Number of recent ticks or messages in the percentiles."""
OLDEST = 0.5
"""Age in [s] from which a sample is a held one, and does not measure latency."""


class ControllerStatistics:
    """Statistics of one controller; recording a tick allocates no arrays."""

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
        """Record a tick: age of the newest sample at sending, and computing time, in [s]."""
        self._row[0] = latency if 0.0 <= latency <= OLDEST else math.nan
        self._row[1] = compute
        self._history.record(self._row)

    def values(self, now: float) -> dict[str, str]:
        """Return the statistics for a status report at time `now` [s]; durations in [ms]."""
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


class TrafficStatistics:
    """Rate of messages by name, and latency of all; counted from one report to the next."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._latencies: deque[float] = deque(maxlen=KEPT)
        self._since: float | None = None

    def note(self, name: str, latency: float | None = None) -> None:
        """Count a message, and its `latency` [s] if it has a stamp."""
        self._counts[name] = self._counts.get(name, 0) + 1
        if latency is not None:
            self._latencies.append(latency)

    def values(self, steady: float) -> dict[str, str]:
        """Return rates in [Hz] since the last call and latencies in [ms], for a report."""
        span = 0.0 if self._since is None else steady - self._since
        self._since = steady
        found: dict[str, str] = {}
        for name, count in self._counts.items():
            if span > 0.0:
                found[f"rate.{name}"] = f"{count / span:.1f}"
            self._counts[name] = 0
        if self._latencies:
            p50, p99 = np.percentile(np.array(self._latencies), (50.0, 99.0))
            found["latency"] = f"p50 {p50 * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms"
        return found
