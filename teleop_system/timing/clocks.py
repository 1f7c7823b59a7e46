# SPDX-License-Identifier: Apache-2.0
"""Clocks a loop can wait on: the wall's, to the microsecond, and one that never sleeps.

`time.sleep` wakes late: by the kernel's timer slack (50 us unless asked otherwise) and by what
it takes a sleeping core to wake up (tens to hundreds of microseconds). `PreciseClock` therefore
wakes early and spins the rest. How early is learnt from its own wake-ups, so that a quiet machine
spins little and a slow one no more than it is allowed to.
"""

import abc
import contextlib
import time
from collections.abc import Callable

from typing_extensions import override

from teleop_system.exceptions import InvalidValueError
from teleop_system.timing.thread_priority import prompt_thread


class IClock(abc.ABC):
    """Tells the time, and waits for it to come."""

    @abc.abstractmethod
    def now(self) -> float:
        """Return the time in [s]; it never runs backwards."""

    @abc.abstractmethod
    def sleep_until(self, deadline: float) -> None:
        """Return at `deadline` [s], or at once where that has passed."""

    def high_resolution(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which the calling thread wakes as promptly as can be had."""
        return contextlib.nullcontext()


class PreciseClock(IClock):
    """The monotonic clock of the system, with wake-ups exact to microseconds.

    Args:
        max_spin: Longest time spent spinning before a deadline in [s]; it bounds the CPU cost,
            and how long other threads of the process wait for the interpreter.
        realtime: Ask for real-time priority in `high_resolution`.
        now: Source of monotonic time in [s].
        sleep: Gives up the processor for about that many [s].
    """

    # Spinning more wakes no better: a thread that spins is one the kernel gives less to.
    _QUANTILE = 0.75
    """Share of wake-ups that should come before their deadline."""
    _STEP = 10e-6
    """By how much one wake-up moves the margin in [s]; an outlier counts no more than any."""

    def __init__(
        self,
        max_spin: float = 0.5e-3,
        *,
        realtime: bool = False,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not 0.0 <= max_spin < float("inf"):
            raise InvalidValueError(f"max_spin must be finite and not negative, got {max_spin}")
        self._now = now
        self._sleep = sleep
        self._realtime = realtime
        self._max_spin = max_spin
        self._margin = min(0.2e-3, max_spin)

    @property
    def margin(self) -> float:
        """How long before a deadline the thread now asks to be woken in [s]."""
        return self._margin

    @override
    def now(self) -> float:
        return self._now()

    @override
    def sleep_until(self, deadline: float) -> None:
        now = self._now
        wake_at = deadline - self._margin
        pause = wake_at - now()
        if pause > 0.0:
            self._sleep(pause)
            self._learn(now() - wake_at)
        while now() < deadline:
            pass

    @override
    def high_resolution(self) -> contextlib.AbstractContextManager[None]:
        return prompt_thread(realtime=self._realtime)

    def _learn(self, delay: float) -> None:
        # A stochastic estimate of the quantile: steps up and down balance where the wanted
        # share of wake-ups is faster than the margin.
        weight = self._QUANTILE if delay > self._margin else self._QUANTILE - 1.0
        self._margin = min(max(self._margin + weight * self._STEP, 0.0), self._max_spin)


class VirtualClock(IClock):
    """Time that passes only by waiting for it, for tests, batch runs and simulation.

    Args:
        start: The first time it shows in [s].
    """

    def __init__(self, start: float = 0.0) -> None:
        self._time = start

    @override
    def now(self) -> float:
        return self._time

    @override
    def sleep_until(self, deadline: float) -> None:
        self._time = max(self._time, deadline)

    def advance(self, duration: float) -> None:
        """Let `duration` [s] pass, as work or a stall would."""
        if not duration >= 0.0:
            raise InvalidValueError(f"time cannot run back by {duration} s")
        self._time += duration
