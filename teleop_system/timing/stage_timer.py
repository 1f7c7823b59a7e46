# SPDX-License-Identifier: Apache-2.0
"""Durations: ring buffers, their summaries, and a stopwatch for the stages of a tick.

No arrays are allocated while a loop runs; summaries are computed on request.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError, UnknownNameError

DEFAULT_CAPACITY = 60_000
"""Ticks that a history keeps: ten minutes at 100 Hz, half a megabyte per column."""


@dataclass(frozen=True, slots=True)
class TimingSummary:
    """Statistics of a set of durations.

    Attributes:
        count: Number of samples.
        mean: Mean in [s].
        p50: Median in [s].
        p99: 99th percentile in [s].
        max: Largest in [s].
    """

    count: int
    mean: float
    p50: float
    p99: float
    max: float

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> "TimingSummary":
        """Summarise samples in [s], ignoring NaN; without samples all figures are zero."""
        samples = samples[~np.isnan(samples)]
        if not samples.size:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        p50, p99 = np.percentile(samples, (50.0, 99.0))
        largest = float(samples.max())
        return cls(samples.size, float(samples.mean()), float(p50), float(p99), largest)


class TimingHistory:
    """The newest rows of named columns, in a ring buffer.

    Args:
        columns: Names of the columns.
        capacity: Number of rows kept; new rows replace the oldest.
    """

    def __init__(self, columns: Iterable[str], capacity: int = DEFAULT_CAPACITY) -> None:
        self.columns = tuple(columns)
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise InvalidValueError(f"columns need distinct names, got {self.columns}")
        if capacity < 1:
            raise InvalidValueError(f"capacity must be at least 1, got {capacity}")
        self._rows = np.full((capacity, len(self.columns)), np.nan)
        self._total = 0

    def __len__(self) -> int:
        return min(self._total, len(self._rows))

    @property
    def total(self) -> int:
        """Number of rows recorded so far, replaced ones included."""
        return self._total

    def record(self, row: Sequence[float]) -> None:
        """Record one row in [s], a value per column; NaN for a missing one."""
        self._rows[self._total % len(self._rows)] = row
        self._total += 1

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a copy of one column in [s], oldest first, shape (len(self),)."""
        if name not in self.columns:
            raise UnknownNameError("column", name, self.columns)
        values = self._rows[:, self.columns.index(name)]
        if self._total <= len(values):
            return values[: self._total].copy()
        return np.roll(values, -(self._total % len(values)))

    def summary(self) -> dict[str, TimingSummary]:
        """Return the summary of every column over the rows kept."""
        return {name: TimingSummary.of(self.column(name)) for name in self.columns}

    def clear(self) -> None:
        """Forget everything recorded."""
        self._total = 0

    def to_json(self, *, samples: bool = False) -> str:
        """Return the summary, and with `samples` also the rows, as JSON in [s]."""
        document: dict[str, object] = {
            "unit": "s",
            "total": self._total,
            "summary": {name: asdict(figures) for name, figures in self.summary().items()},
        }
        if samples:
            document["samples"] = {name: _listed(self.column(name)) for name in self.columns}
        return json.dumps(document, indent=None if samples else 2, allow_nan=False)

    def write_json(self, path: Path, *, samples: bool = False) -> None:
        """Write `to_json` to a file."""
        path.write_text(self.to_json(samples=samples) + "\n", encoding="utf-8")


class StageTimer:
    """Measures every stage of a tick.

        timer = StageTimer(("inputs", "ik", "safety"))
        timer.begin_tick()
        ...
        timer.lap("inputs")
        ...
        timer.lap("ik")
        timer.finish_tick()

    A stage that ends several times in one tick counts its sum; one that did not run is NaN.

    Args:
        stages: Names of the stages, in the order a report should show them.
        capacity: Number of ticks kept.
        clock_ns: Monotonic time in [ns].
    """

    TOTAL = "total"
    """Name of the column with the sum of all stages."""

    def __init__(
        self,
        stages: Iterable[str],
        capacity: int = DEFAULT_CAPACITY,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self._stages = tuple(stages)
        self.history = TimingHistory((*self._stages, self.TOTAL), capacity)
        self._clock_ns = clock_ns
        self._elapsed: dict[str, int] = {}
        self._mark = 0

    def begin_tick(self) -> None:
        """Begin a tick and its first stage."""
        self._elapsed.clear()
        self._mark = self._clock_ns()

    def lap(self, stage: str) -> None:
        """End a stage, which began at the end of the last one.

        Raises:
            UnknownNameError: There is no such stage.
        """
        if stage not in self._stages:
            raise UnknownNameError("stage", stage, self._stages)
        now = self._clock_ns()
        self._elapsed[stage] = self._elapsed.get(stage, 0) + now - self._mark
        self._mark = now

    def finish_tick(self) -> None:
        """Record the durations of the stages of this tick."""
        elapsed, row = self._elapsed, []
        for stage in self._stages:
            row.append(elapsed[stage] * 1e-9 if stage in elapsed else np.nan)
        row.append(sum(elapsed.values()) * 1e-9)
        self.history.record(row)

    def summary(self) -> dict[str, TimingSummary]:
        """Return the summary of every stage, and of their sum, over the ticks kept."""
        return self.history.summary()


def _listed(samples: NDArray[np.float64]) -> list[float | None]:
    # JSON has no NaN; our clocks resolve no more than a nanosecond.
    return [None if np.isnan(value) else round(float(value), 9) for value in samples]
