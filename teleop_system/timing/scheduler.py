# SPDX-License-Identifier: Apache-2.0
"""The fixed-rate schedule of a control loop: no drift, no bursts, lateness measured.

    with Scheduler(100.0) as scheduler:
        for tick in scheduler:
            step(tick.start)

Tick k is due at start + k periods, however long the earlier ones took. A loop that is late skips
the ticks that are in the past, and makes up the rest of its delay with periods at most `catch_up`
shorter than nominal: a controller should not see a period of 1 ms after one of 19 ms.
"""

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import numpy as np
from typing_extensions import Self

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces.causes import Cause
from teleop_system.timing.clocks import IClock, PreciseClock, VirtualClock
from teleop_system.timing.overruns import OverrunMonitor
from teleop_system.timing.stage_timer import DEFAULT_CAPACITY, TimingHistory, TimingSummary

SPIN_SHARE = 0.03
"""Share of a period that may be spent spinning: the CPU cost of exact wake-ups."""


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick of the loop.

    Attributes:
        index: Its number on the grid of due times, skipped ones included.
        due: Time at which it should have started in [s].
        start: Time at which it started in [s]; controllers receive this time.
        skipped: Ticks dropped since the last one, because they were in the past.
        hold: Whether there are so many overruns in a row that the robot should hold.
        cause: The overrun to report, if there is one.
    """

    index: int
    due: float
    start: float
    skipped: int = 0
    hold: bool = False
    cause: Cause | None = None

    @property
    def late(self) -> float:
        """How long after it was due it started in [s]."""
        return self.start - self.due


class RateDivider:
    """Selects the ticks of a loop on which slower work is due, such as 30 in every 100.

    The selected ticks are spread evenly and follow from the index alone, so they never drift. If a
    selected tick was skipped, its work is due on the next tick.

    Args:
        share: Selected ticks per tick of the loop, above 0 and at most 1.
        base_rate: Rate of the loop in [Hz].
    """

    def __init__(self, share: Fraction, base_rate: float) -> None:
        if not 0 < share <= 1:
            raise InvalidValueError(
                f"a divider needs a rate above 0 and at most {base_rate:g} Hz, "
                f"got {float(share) * base_rate:g} Hz"
            )
        self.rate = base_rate * float(share)
        """Mean rate of the selected ticks in [Hz]."""
        self._numerator, self._denominator = share.numerator, share.denominator
        self._count = -1

    def is_due(self, tick: Tick) -> bool:
        """Return whether to work on this tick; call it once a tick."""
        return self.is_due_at(tick.index)

    def is_due_at(self, index: int) -> bool:
        """Return whether to work on the tick with this number; call it once a tick."""
        count = index * self._numerator // self._denominator
        due = count != self._count
        self._count = count
        return due


class Scheduler:
    """Waits for the next tick and records how punctual it was.

    Use it as an iterator, with `run`, or by calling `wait`. Only one thread may wait; any thread
    may call `stop`.

    Args:
        rate: Ticks per second in [Hz].
        clock: Clock to wait on; by default the monotonic clock of the system.
        realtime: Request real-time priority while running, unless a clock is given.
        catch_up: Largest share of a period by which a late loop may shorten the next.
        tolerated_overruns: Overruns in a row that do not yet demand a hold.
        capacity: Number of ticks whose timing is kept.
        name: Name of the loop, for its causes.
        stopwatch: Measures the compute time of a tick in [s].
    """

    EXPECTED, ACTUAL, COMPUTE, LATE = COLUMNS = ("expected", "actual", "compute", "late")

    def __init__(
        self,
        rate: float,
        *,
        clock: IClock | None = None,
        realtime: bool = False,
        catch_up: float = 0.01,
        tolerated_overruns: int = 5,
        capacity: int = DEFAULT_CAPACITY,
        name: str = "loop",
        stopwatch: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not (math.isfinite(rate) and rate > 0.0):
            raise InvalidValueError(f"rate must be positive and finite, got {rate} Hz")
        if not 0.0 < catch_up <= 1.0:
            raise InvalidValueError(f"catch_up must be above 0 and at most 1, got {catch_up}")
        self.rate = rate
        self.period = 1.0 / rate
        self.history = TimingHistory(self.COLUMNS, capacity)
        """Expected and actual period, compute time and lateness of the newest ticks in [s]."""
        self.skipped = 0
        """Ticks skipped since the start."""
        self.overruns = OverrunMonitor(self.period, tolerated=tolerated_overruns, subject=name)
        self._clock = clock or PreciseClock(SPIN_SHARE * self.period, realtime=realtime)
        self._least_gap = (1.0 - catch_up) * self.period
        self._stopwatch = stopwatch
        self._resources = contextlib.ExitStack()
        self._stopped = False
        self._origin = 0.0
        self._last: Tick | None = None
        self._begun = 0.0

    @classmethod
    def simulated(cls, rate: float, *, start: float = 0.0, name: str = "loop") -> Self:
        """Return a scheduler that never sleeps: tick k starts exactly at start + k periods."""
        return cls(rate, clock=VirtualClock(start), name=name)

    @property
    def hold(self) -> bool:
        """Whether there are so many overruns in a row that the robot should hold."""
        return self.overruns.hold

    def now(self) -> float:
        """Return the time of its clock in [s]."""
        return self._clock.now()

    def wait(self) -> Tick:
        """Wait for the next tick and return it; the first is due at once."""
        worked = self._stopwatch() - self._begun
        tick = self._first() if self._last is None else self._next(self._last, worked)
        self._last = tick
        self._begun = self._stopwatch()
        return tick

    def every(self, n: int) -> RateDivider:
        """Return a divider that selects one tick in `n`."""
        if n < 1:
            raise InvalidValueError(f"n must be at least 1, got {n}")
        return RateDivider(Fraction(1, n), self.rate)

    def at(self, rate: float) -> RateDivider:
        """Return a divider that selects `rate` ticks per second [Hz], evenly spread."""
        if not math.isfinite(rate):
            raise InvalidValueError(f"rate must be finite, got {rate} Hz")
        return RateDivider(
            (Fraction(rate) / Fraction(self.rate)).limit_denominator(1_000_000), self.rate
        )

    def run(
        self, callback: Callable[[Tick], object], should_stop: Callable[[], bool] | None = None
    ) -> None:
        """Call back once a tick until `stop` is called or `should_stop` returns True."""
        with self._clock.high_resolution():
            while not (self._stopped or (should_stop is not None and should_stop())):
                callback(self.wait())

    def stop(self) -> None:
        """End `run` and iteration after the present tick."""
        self._stopped = True

    def restart(self) -> None:
        """Begin a new schedule with the next `wait`, as after an intended pause."""
        self._stopped = False
        self._last = None
        self.overruns.reset()

    def __iter__(self) -> Iterator[Tick]:
        while not self._stopped:
            yield self.wait()

    def __enter__(self) -> Self:
        self._resources.enter_context(self._clock.high_resolution())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._resources.close()

    def summary(self) -> dict[str, TimingSummary]:
        """Return the summary of the history, and of `jitter`: the error of the periods in [s]."""
        off = np.abs(self.history.column(self.ACTUAL) - self.history.column(self.EXPECTED))
        return {**self.history.summary(), "jitter": TimingSummary.of(off)}

    def write_json(self, path: Path) -> None:
        """Write the summary and the counts of skipped and late ticks to a file."""
        document = {
            "unit": "s",
            "rate": self.rate,
            "ticks": self.history.total + (self._last is not None),
            "skipped": self.skipped,
            "overruns": self.overruns.total,
            "summary": {name: asdict(figures) for name, figures in self.summary().items()},
        }
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")

    def _first(self) -> Tick:
        self._origin = self._clock.now()
        return Tick(index=0, due=self._origin, start=self._origin)

    def _next(self, last: Tick, worked: float) -> Tick:
        clock, period = self._clock, self.period
        first_due = self._origin + (last.index + 1) * period
        release = max(first_due, last.start + self._least_gap)
        waited = clock.now() < release
        clock.sleep_until(release)
        start = clock.now()
        late = start - first_due
        skipped = int(late / period) if late > period else 0
        self.skipped += skipped
        cause = self.overruns.update(first_due, late, waited=waited)
        index = last.index + 1 + skipped
        due = self._origin + index * period
        self.history.record((due - last.due, start - last.start, worked, start - due))
        return Tick(index, due, start, skipped, self.overruns.hold, cause)
