# SPDX-License-Identifier: Apache-2.0
"""How far another machine's clock is from ours, learnt from pings."""

from collections import deque

WINDOW = 16
"""Pings that are remembered."""
LONGEST_MEMORY = 30_000_000_000
"""Age in [ns] past which a ping says nothing any more, as clocks drift."""


class ClockSync:
    """Offset and round trip of a connection; the quickest ping of late is believed.

    A ping that was held up on its way there or back tells the offset wrong by up to half of that;
    the quickest one was held up least.
    """

    def __init__(self) -> None:
        self._pings: deque[tuple[int, int, int]] = deque(maxlen=WINDOW)

    def add(self, *, sent: int, received: int, answered: int, now: int) -> bool:
        """Take in a ping: sent and answered here at `sent` and `now`, there in between, [ns].

        Returns:
            False, and nothing learnt, where the times cannot be those of a ping.
        """
        round_trip = (now - sent) - (answered - received)
        if sent > now or received > answered or round_trip < 0:
            return False
        offset = ((received - sent) + (answered - now)) // 2
        self._pings.append((round_trip, offset, now))
        return True

    @property
    def is_known(self) -> bool:
        """Whether there is anything to go by."""
        return bool(self._pings)

    @property
    def offset(self) -> int:
        """Their clock minus ours in [ns]; 0 before the first ping."""
        return self._best()[1]

    @property
    def round_trip(self) -> int:
        """The quickest way there and back in [ns]; 0 before the first ping."""
        return self._best()[0]

    def to_local(self, theirs: int) -> int:
        """Return a time on our clock that the other end gave on its own, both in [ns]."""
        return theirs - self.offset

    def _best(self) -> tuple[int, int, int]:
        if not self._pings:
            return (0, 0, 0)
        newest = self._pings[-1][2]
        return min(ping for ping in self._pings if newest - ping[2] <= LONGEST_MEMORY)
