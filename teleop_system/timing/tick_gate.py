# SPDX-License-Identifier: Apache-2.0
"""Decides when a controller runs that is fed by streams: as soon as it can, never too often.

    gate = TickGate(needed=("right_hand", "left_hand"), optional=("waist",), rate=100.0)
    if gate.offer("left_hand", now):  # In the callback that stores the sample.
        tick()
    if gate.poll(now):                # In a timer that is set to `gate.deadline`.
        tick()

No sample waits for a timer while its stream and the others flow; and no stream that has dried up
keeps the others waiting.
"""

import math
from collections.abc import Iterable

from teleop_system.exceptions import InvalidValueError, UnknownNameError

EARLY = 0.3
"""Share of a period by which a set may come early, made up for by the next one coming later."""
GRACE = 0.5
"""Share of a period that an incomplete set is waited for past the period's end."""
LENIENCE = 0.02
"""Share by which streams may be faster than the rate: two clocks never agree quite."""
PATIENCE = 3
"""Ticks in a row that a signal has to miss before it is no longer waited for."""
SMOOTHING = 0.2
"""Weight of the newest interval between two samples of a stream in their mean."""
SHORT = 0.1
"""Share of a period that a set which came too early may wait rather than be passed over."""
SPREAD = 1.1
"""Room for jitter in how far apart the samples of one set may be."""


class _Stream:
    """One signal: its bit in a set, when it came last, and how often it comes."""

    __slots__ = ("arrived", "bit", "interval", "missed")

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.forget()

    def forget(self) -> None:
        self.arrived = -math.inf
        self.interval = math.inf
        self.missed = 0

    def note(self, now: float) -> None:
        elapsed = now - self.arrived
        if 0.0 < elapsed < math.inf:
            known = self.interval < math.inf
            self.interval += SMOOTHING * (elapsed - self.interval) if known else 0.0
            if not known:
                self.interval = elapsed
        self.arrived = now


class TickGate:
    """Runs a controller when every signal that flows has brought something new.

    A needed signal is waited for from the start, an optional one from when it was first heard;
    either until it has missed some ticks in a row, and again from its next sample on. Ticks never
    come more often than the rate over any longer span, give or take what two clocks differ by, but
    one may come a little early, for streams jitter. Where the set does not become complete, a tick
    comes at the period's end, after a short grace where the last set was complete. Samples that
    were measured together stay together: a set that a stream's next sample would make much tighter
    is not complete.

    Args:
        needed: Signals that are waited for from the start.
        optional: Signals that are waited for once heard.
        rate: Most ticks per second in [Hz].

    Raises:
        InvalidValueError: The rate is not positive, or there are no signals, or one twice.
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
        self._early = EARLY * self.period
        self._streams = {name: _Stream(1 << place) for place, name in enumerate(names)}
        self._first = (1 << len(needed)) - 1
        self.reset()

    def reset(self) -> None:
        """Forget all samples and times; the next complete set, or the next poll, ticks at once."""
        self._wanted = self._first
        self._seen = self._heard = 0
        self._due = self._deadline = -math.inf
        for stream in self._streams.values():
            stream.forget()

    @property
    def deadline(self) -> float:
        """Time in [s] from which `poll` runs a tick without waiting any longer."""
        return self._deadline

    @property
    def awaited(self) -> tuple[str, ...]:
        """The signals that the next tick still waits for."""
        missing = self._wanted & ~self._seen
        return tuple(name for name, stream in self._streams.items() if stream.bit & missing)

    def offer(self, signal: str, now: float) -> bool:
        """Note a new sample of a signal; tell whether to tick now, at time `now` [s].

        Raises:
            UnknownNameError: There is no such signal.
        """
        try:
            stream = self._streams[signal]
        except KeyError:
            raise UnknownNameError("signal", signal, self._streams) from None
        stream.note(now)
        self._seen |= stream.bit
        self._heard |= stream.bit
        self._wanted |= stream.bit
        if self._wanted & ~self._seen or self._is_torn(now):
            return False
        wait = self._due - self._early - now
        if wait > 0.0:
            self._put_off(now, wait)
            return False
        self._tick(now)
        return True

    def poll(self, now: float) -> bool:
        """Tell whether to tick at time `now` [s] with whatever there is."""
        if now < self._deadline:
            return False
        self._tick(now)
        return True

    def _is_torn(self, now: float) -> bool:
        """Tell whether the set is made of two halves, and leave out the older one if so."""
        wanted = [stream for stream in self._streams.values() if stream.bit & self._wanted]
        # Streams of one pace that come evenly spread are this far apart, and none is further.
        widest = _interval(wanted) * SPREAD * (len(wanted) - 1) / len(wanted)
        old = [stream for stream in wanted if now - stream.arrived > widest]
        for stream in old:
            self._seen &= ~stream.bit
        return bool(old)

    def _put_off(self, now: float, wait: float) -> None:
        """Let a set that came too early wait for a moment, or make way for the next."""
        wanted = [stream for stream in self._streams.values() if stream.bit & self._wanted]
        in_time = now + _interval(wanted) <= self._due + SHORT * self.period
        if in_time and wait > SHORT * self.period:
            self._seen = 0
        else:
            self._deadline = now + wait

    def _tick(self, now: float) -> None:
        is_complete = not self._wanted & ~self._heard
        for stream in self._streams.values() if not is_complete else ():
            self._judge(stream)
        # A tick that came early is paid back by the one after it.
        self._due = max(self._due, now) + (1.0 - LENIENCE) * self.period
        grace = GRACE * self.period if is_complete and self._wanted else 0.0
        self._deadline = self._due + grace
        self._seen = self._heard = 0

    def _judge(self, stream: _Stream) -> None:
        """Count a tick that a signal has missed, and give it up at last."""
        if stream.bit & self._heard:
            stream.missed = 0
        elif stream.bit & self._wanted:
            stream.missed += 1
            if stream.missed >= PATIENCE:
                self._wanted &= ~stream.bit
                stream.forget()


def _interval(streams: Iterable[_Stream]) -> float:
    """Return the time in [s] from one set of these streams to the next, as far as known."""
    return max(stream.interval for stream in streams)
