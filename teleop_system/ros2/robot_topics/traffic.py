# SPDX-License-Identifier: Apache-2.0
"""Rate and latency of received commands."""

from collections import deque

import numpy as np

KEPT = 1000
"""Number of latencies kept for the percentiles."""


class Traffic:
    """Counts messages by name from one report to the next."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._latencies: deque[float] = deque(maxlen=KEPT)
        self._since: float | None = None

    def note(self, name: str, latency: float | None = None) -> None:
        """Count a message and its `latency` [s], where that is known."""
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
