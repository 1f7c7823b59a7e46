# SPDX-License-Identifier: Apache-2.0
"""Decides when a controller ticks: as soon as a complete set of fresh samples is there.

    trigger = TickTrigger(needed=("right_hand", "left_hand"), optional=("waist",), rate=100.0)
    if trigger.offer("left_hand", now):  # In the callback that stores the sample.
        tick()
    if trigger.poll(now):                # In a timer that is set to `trigger.deadline`.
        tick()

While all streams run, no sample waits for a timer. A stream that has stopped does not delay the
others.
"""

import math
from collections.abc import Iterable, Sequence

from teleop_system.exceptions import InvalidValueError, UnknownNameError

EARLY = 0.3
"""Share of a period by which a tick may come early; the next one comes later by as much."""
GRACE = 0.5
"""Share of a period for which an incomplete set is waited for after the period's end."""
TOLERANCE = 0.02
"""Share by which streams may exceed the rate, since two clocks never agree exactly."""
MISSES = 3
"""Ticks in a row that a signal has to miss before it is no longer waited for."""
SMOOTHING = 0.2
"""Weight of the newest interval between two samples in the mean interval of a stream."""
SHORT = 0.1
"""A set that comes too early by up to this share of a period waits; an earlier one is skipped."""
SPREAD = 1.1
"""Allowance for jitter in how far apart the samples of one set may be."""


class _Stream:
    """One signal: when it last came, and how often it comes.

    Attributes:
        arrived: Time of the newest sample in [s].
        interval: Mean time between samples in [s]; infinite before the second one.
        missed: Ticks in a row without a sample.
    """

    __slots__ = ("arrived", "interval", "missed")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.arrived = -math.inf
        self.interval = math.inf
        self.missed = 0

    def add(self, now: float) -> None:
        elapsed = now - self.arrived
        if 0.0 < elapsed < math.inf:
            is_first = self.interval == math.inf
            self.interval = (
                elapsed if is_first else self.interval + SMOOTHING * (elapsed - self.interval)
            )
        self.arrived = now


class TickTrigger:
    """Triggers a tick when every running stream has delivered a new sample.

    A needed signal is waited for from the start, an optional one from its first sample. Either is
    given up after it has missed several ticks in a row, and waited for again from its next
    sample. Over a longer span ticks never exceed the rate, except for `TOLERANCE`; a single tick
    may come a little early, because streams jitter. If the set does not become complete, a tick
    comes at the end of the period, plus a short grace if the last set was complete. Samples that
    were measured together stay together: a set waits for the next sample of a stream if that one
    lies much closer in time to the others.

    Args:
        needed: Signals that are waited for from the start.
        optional: Signals that are waited for from their first sample.
        rate: Largest number of ticks per second in [Hz].

    Raises:
        InvalidValueError: The rate is not positive, there are no signals, or a name is repeated.
    """

    def __init__(
        self, needed: Iterable[str], optional: Iterable[str] = (), *, rate: float
    ) -> None:
        needed, optional = tuple(needed), tuple(optional)
        names = (*needed, *optional)
        if not (math.isfinite(rate) and rate > 0.0):
            raise InvalidValueError(f"rate must be positive, got {rate}")
        if not names or len(set(names)) != len(names):
            raise InvalidValueError(f"signals need distinct names, got {names}")
        self.period = 1.0 / rate
        self._needed = frozenset(needed)
        self._streams = {name: _Stream() for name in names}
        self.reset()

    def reset(self) -> None:
        """Forget all samples and times; the next complete set, or the next poll, ticks at once."""
        self._expected = set(self._needed)
        # A sample of a set that was skipped has been heard, but is not part of the present set.
        self._present: set[str] = set()
        self._heard: set[str] = set()
        self._due = self._deadline = -math.inf
        for stream in self._streams.values():
            stream.reset()

    @property
    def deadline(self) -> float:
        """Time in [s] from which `poll` triggers a tick with an incomplete set."""
        return self._deadline

    @property
    def missing(self) -> tuple[str, ...]:
        """The signals that the next tick still waits for."""
        absent = self._expected - self._present
        return tuple(name for name in self._streams if name in absent)

    def offer(self, signal: str, now: float) -> bool:
        """Record a new sample of a signal; return whether to tick now, at time `now` [s].

        Raises:
            UnknownNameError: There is no such signal.
        """
        try:
            stream = self._streams[signal]
        except KeyError:
            raise UnknownNameError("signal", signal, self._streams) from None
        stream.add(now)
        for names in (self._present, self._heard, self._expected):
            names.add(signal)
        if self._expected - self._present or self._drop_old_samples(now):
            return False
        wait = self._due - EARLY * self.period - now
        if wait > 0.0:
            self._postpone(now, wait)
            return False
        self._start_next_set(now)
        return True

    def poll(self, now: float) -> bool:
        """Return whether to tick at time `now` [s] with the samples that are there."""
        if now < self._deadline:
            return False
        self._start_next_set(now)
        return True

    def _drop_old_samples(self, now: float) -> bool:
        """Drop the older half of a set that consists of two; return whether there was one."""
        expected = self._expected_streams()
        # Evenly spread streams of one rate are this far apart, and none is further.
        widest = _interval(expected) * SPREAD * (len(expected) - 1) / len(expected)
        old = {name for name in self._expected if now - self._streams[name].arrived > widest}
        self._present -= old
        return bool(old)

    def _postpone(self, now: float, wait: float) -> None:
        """Let a set that came too early wait, or skip it where the next one is in time."""
        in_time = now + _interval(self._expected_streams()) <= self._due + SHORT * self.period
        if in_time and wait > SHORT * self.period:
            self._present.clear()
        else:
            self._deadline = now + wait

    def _start_next_set(self, now: float) -> None:
        is_complete = self._expected <= self._heard
        if not is_complete:
            self._count_misses()
        # The tick after an early one comes later, so that the mean rate holds.
        self._due = max(self._due, now) + (1.0 - TOLERANCE) * self.period
        grace = GRACE * self.period if is_complete and self._expected else 0.0
        self._deadline = self._due + grace
        self._present.clear()
        self._heard.clear()

    def _count_misses(self) -> None:
        """Count the tick that some signals have missed, and give up those that stay away."""
        for name, stream in self._streams.items():
            if name in self._heard:
                stream.missed = 0
            elif name in self._expected:
                stream.missed += 1
                if stream.missed >= MISSES:
                    self._expected.remove(name)
                    stream.reset()

    def _expected_streams(self) -> Sequence[_Stream]:
        return [self._streams[name] for name in self._expected]


def _interval(streams: Iterable[_Stream]) -> float:
    """Return the time in [s] from one set of these streams to the next, as far as known."""
    return max(stream.interval for stream in streams)
