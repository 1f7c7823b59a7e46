# SPDX-License-Identifier: Apache-2.0
"""Clocks a loop can wait on: real time to the microsecond, and virtual time that never sleeps.

`time.sleep` wakes late: by the kernel's timer slack (50 us by default) and by the time a sleeping
core needs to wake up (tens to hundreds of microseconds). `PreciseClock` therefore wakes early and
spins for the rest. It learns how early from its own wake-ups, so it spins little on a quiet
machine and never longer than `max_spin`.
"""

import abc
import contextlib
import time
from collections.abc import Callable

from typing_extensions import override

from teleop_system.exceptions import InvalidValueError
from teleop_system.timing.thread_priority import prompt_thread


class IClock(abc.ABC):
    """A clock that can be read and waited on."""

    @abc.abstractmethod
    def now(self) -> float:
        """Return the time in [s]; it never runs backwards."""

    @abc.abstractmethod
    def sleep_until(self, deadline: float) -> None:
        """Return at `deadline` [s], or at once if it has passed."""

    def high_resolution(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which the calling thread wakes as promptly as possible."""
        return contextlib.nullcontext()


class PreciseClock(IClock):
    """The monotonic clock of the system, with wake-ups accurate to microseconds.

    Args:
        max_spin: Longest time spent spinning before a deadline in [s]; it bounds the CPU cost
            and the time for which other threads of the process wait for the interpreter.
        realtime: Ask for real-time priority in `high_resolution`.
        now: Source of monotonic time in [s].
        sleep: Releases the processor for about the given time in [s].
    """

    # More spinning does not help: the kernel gives a spinning thread less processor time.
    _QUANTILE = 0.75
    """Share of wake-ups that should come before their deadline."""
    _STEP = 10e-6
    """Change of the margin after one wake-up in [s]; an outlier counts no more than any other."""

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
        """How long before a deadline the thread is woken at present in [s]."""
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
        # A stochastic estimate of the quantile: steps up and down balance when the desired share
        # of wake-ups is faster than the margin.
        weight = self._QUANTILE if delay > self._margin else self._QUANTILE - 1.0
        self._margin = min(max(self._margin + weight * self._STEP, 0.0), self._max_spin)


class VirtualClock(IClock):
    """Time that passes only when it is waited for: for tests, batch runs and simulation.

    Args:
        start: Time at the beginning in [s].
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
        """Let `duration` [s] pass, as work or a stall does."""
        if not duration >= 0.0:
            raise InvalidValueError(f"time cannot run back by {duration} s")
        self._time += duration
