# SPDX-License-Identifier: Apache-2.0
"""Playback of a recording: from the time of a clock to the time of the recording."""

import enum
import math
import time
from collections.abc import Callable

from teleop_system.exceptions import InvalidValueError

Clock = Callable[[], float]

SETTLING = 2.0
"""Time after the end in [s] in which the robot comes to rest."""


class PlaybackState(enum.Enum):
    """States of a playback."""

    READY = "ready"
    """It holds the first pose."""
    PLAYING = "playing"
    PAUSED = "paused"
    OVER = "over"
    """It holds the last pose."""


class Playback:
    """Computes the time of a recording from the time of a clock.

    A recording rarely begins or ends at rest, so the playback speed rises after the start and
    falls before the end: the robot never has to jump to a moving pose.

    Args:
        duration: Length of the recording in [s].
        approach: Time at its beginning in [s] that is played at real time.
        loop: Whether the recording repeats.
        speed: Playback speed; 1 is real time.
        run_up: Time in [s] over which the speed rises or falls.
        clock: Monotonic time in [s].
    """

    def __init__(
        self,
        duration: float,
        *,
        approach: float = 0.0,
        loop: bool = False,
        speed: float = 1.0,
        run_up: float = 0.8,
        clock: Clock = time.monotonic,
    ) -> None:
        self._duration = max(duration, 0.0)
        self._approach = approach
        self._loop = loop
        self._speed = _positive(speed)
        self._run_up = run_up
        self._clock = clock
        self._from = 0.0
        self._since: float | None = None
        self._speeds_up = True
        self._over_at: float | None = None

    @property
    def state(self) -> PlaybackState:
        """The present state."""
        if self._since is not None:
            over = not self._loop and self.time() >= self._duration - 1e-9
            return PlaybackState.OVER if over else PlaybackState.PLAYING
        if self._from >= self._duration and not self._loop and self._duration > 0.0:
            return PlaybackState.OVER
        return PlaybackState.READY if self._from == 0.0 else PlaybackState.PAUSED

    @property
    def speed(self) -> float:
        """Playback speed; 1 is real time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        playing = self._since is not None
        self._from = self.time()
        self._speed = _positive(speed)
        self._since = self._clock() if playing else None
        self._speeds_up = False

    @property
    def length(self) -> float:
        """Time from start to end on the clock in [s]; infinite for a loop."""
        if self._loop:
            return math.inf
        captured = max(self._duration - self._approach, 0.0)
        return min(self._approach, self._duration) + captured / self._speed + self._ramp(captured)

    @property
    def is_over(self) -> bool:
        """Whether it has been at its end for `SETTLING`, so that the robot is at rest."""
        if self._loop or self.state is not PlaybackState.OVER:
            return False
        if self._over_at is None:
            self._over_at = self._clock()
        return self._clock() - self._over_at >= SETTLING

    def play(self) -> None:
        """Start or continue; no effect while playing."""
        if self._since is None:
            self._since = self._clock()
            self._speeds_up = True

    def pause(self) -> None:
        """Hold the present pose."""
        self._from, self._since = self.time(), None

    def seek(self, time: float) -> None:
        """Move to a time [s] of the recording; playing continues from there.

        Raises:
            InvalidValueError: The time is outside the recording.
        """
        if not (math.isfinite(time) and time >= 0.0 and (self._loop or time <= self._duration)):
            raise InvalidValueError(f"time must lie within 0 to {self._duration:g} s, got {time}")
        self._from, self._over_at = time, None
        if self._since is not None:
            self._since = self._clock()
            self._speeds_up = True

    @property
    def clock(self) -> Clock:
        """The clock; monotonic time in [s]."""
        return self._clock

    def rewind(self) -> None:
        """Return to the first pose and wait."""
        self._from, self._since, self._over_at = 0.0, None, None

    def time(self) -> float:
        """Return the time of the recording in [s]."""
        if self._since is None:
            return self._from
        time, elapsed = self._from, max(self._clock() - self._since, 0.0)
        if time < self._approach:
            approached = min(elapsed, self._approach - time)
            time, elapsed = time + approached, elapsed - approached
            if time < self._approach:
                return time
        return time + self._advance(elapsed, self._duration - time)

    def _ramp(self, captured: float) -> float:
        return min(self._run_up, captured / self._speed) if self._run_up > 0.0 else 0.0

    def _advance(self, elapsed: float, remaining: float) -> float:
        """Return the recording time [s] that is played in `elapsed` [s], at most `remaining`."""
        speed = self._speed
        if self._loop:
            remaining = math.inf
        elif remaining <= 0.0:
            return 0.0
        ramp = self._run_up if self._loop else self._ramp(remaining)
        if ramp <= 0.0:
            return min(speed * elapsed, remaining)
        rise = ramp if self._speeds_up else 0.0
        # A ramp plays half as much as full speed does in the same time.
        total = remaining / speed + 0.5 * (rise + ramp)
        left = total - elapsed
        if left <= 0.0:
            return remaining
        if left < ramp:
            return remaining - 0.5 * speed * left * left / ramp
        if elapsed < rise:
            return 0.5 * speed * elapsed * elapsed / rise
        return speed * (elapsed - 0.5 * rise)


def _positive(speed: float) -> float:
    if not (math.isfinite(speed) and speed > 0.0):
        raise InvalidValueError(f"speed must be positive, got {speed}")
    return speed
