# SPDX-License-Identifier: Apache-2.0
"""Where in a recording we are: ready, playing, paused, sped up, begun anew."""

import enum
import math
import time
from collections.abc import Callable

from teleop_system.exceptions import InvalidValueError

Clock = Callable[[], float]

SETTLING = 2.0
"""Time after the end in [s] that belongs to a playback."""


class PlaybackState(enum.Enum):
    """What a playback does."""

    READY = "ready"
    """It waits in its first pose."""
    PLAYING = "playing"
    PAUSED = "paused"
    OVER = "over"
    """It has come to the end, and stays there."""


class Playback:
    """Tells the time of a recording from the time of a clock.

    A recording rarely begins or ends at rest. So it gathers speed wherever playing begins and
    loses it before the end: nobody has to leap on to a moving motion.

    Args:
        duration: Length of the recording in [s].
        approach: Time at its beginning in [s] that is played as it is, whatever the speed.
        loop: Whether the recording has no end.
        speed: Time of the recording per time of the clock.
        run_up: Time to gather or lose speed in [s].
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
        self._gathers = True
        self._over_at: float | None = None

    @property
    def state(self) -> PlaybackState:
        """What it does now."""
        if self._since is not None:
            over = not self._loop and self.time() >= self._duration - 1e-9
            return PlaybackState.OVER if over else PlaybackState.PLAYING
        if self._from >= self._duration and not self._loop and self._duration > 0.0:
            return PlaybackState.OVER
        return PlaybackState.READY if self._from == 0.0 else PlaybackState.PAUSED

    @property
    def speed(self) -> float:
        """Time of the recording per time of the clock."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        playing = self._since is not None
        self._from = self.time()
        self._speed = _positive(speed)
        self._since = self._clock() if playing else None
        self._gathers = False

    @property
    def length(self) -> float:
        """Time that it takes from the beginning to the end in [s]; infinite for a loop."""
        if self._loop:
            return math.inf
        captured = max(self._duration - self._approach, 0.0)
        return min(self._approach, self._duration) + captured / self._speed + self._ramp(captured)

    @property
    def is_over(self) -> bool:
        """Whether it has been at its end for a moment, and whoever follows rests."""
        if self._loop or self.state is not PlaybackState.OVER:
            return False
        if self._over_at is None:
            self._over_at = self._clock()
        return self._clock() - self._over_at >= SETTLING

    def play(self) -> None:
        """Begin, or go on; nothing where it plays already."""
        if self._since is None:
            self._since = self._clock()
            self._gathers = True

    def pause(self) -> None:
        """Stay where it is."""
        self._from, self._since = self.time(), None

    def seek(self, time: float) -> None:
        """Go to a time [s] of the recording, and play on from there if it plays.

        Raises:
            InvalidValueError: It is no time of the recording.
        """
        if not (math.isfinite(time) and time >= 0.0 and (self._loop or time <= self._duration)):
            raise InvalidValueError(f"time must lie within 0 to {self._duration:g} s, got {time}")
        self._from, self._over_at = time, None
        if self._since is not None:
            self._since = self._clock()
            self._gathers = True

    @property
    def clock(self) -> Clock:
        """The clock that it goes by."""
        return self._clock

    def rewind(self) -> None:
        """Wait in the first pose again."""
        self._from, self._since, self._over_at = 0.0, None, None

    def time(self) -> float:
        """Return the time of the recording in [s]."""
        if self._since is None:
            return self._from
        place, left = self._from, max(self._clock() - self._since, 0.0)
        if place < self._approach:
            walked = min(left, self._approach - place)
            place, left = place + walked, left - walked
            if place < self._approach:
                return place
        return place + self._advance(left, self._duration - place)

    def _ramp(self, captured: float) -> float:
        return min(self._run_up, captured / self._speed) if self._run_up > 0.0 else 0.0

    def _advance(self, elapsed: float, captured: float) -> float:
        """Return how much of what is left in [s] has been played after a time [s]."""
        speed = self._speed
        if self._loop:
            captured = math.inf
        elif captured <= 0.0:
            return 0.0
        ramp = self._run_up if self._loop else self._ramp(captured)
        if ramp <= 0.0:
            return min(speed * elapsed, captured)
        begins = ramp if self._gathers else 0.0
        # Half of each ramp is lost against full speed.
        total = captured / speed + 0.5 * (begins + ramp)
        left = total - elapsed
        if left <= 0.0:
            return captured
        if left < ramp:
            return captured - 0.5 * speed * left * left / ramp
        if elapsed < begins:
            return 0.5 * speed * elapsed * elapsed / begins
        return speed * (elapsed - 0.5 * begins)


def _positive(speed: float) -> float:
    if not (math.isfinite(speed) and speed > 0.0):
        raise InvalidValueError(f"speed must be positive, got {speed}")
    return speed
