# SPDX-License-Identifier: Apache-2.0
"""Clock offset between two machines, estimated from pings."""

from collections import deque

WINDOW = 16
"""Number of pings that are kept."""
OLDEST_PING = 30_000_000_000
"""Age in [ns] above which a ping is ignored, because clocks drift."""


class ClockSync:
    """Offset and round-trip time of a connection, from the fastest recent ping.

    A delay in one direction shifts the measured offset by half of the delay; the fastest ping
    was delayed least.
    """

    def __init__(self) -> None:
        self._pings: deque[tuple[int, int, int]] = deque(maxlen=WINDOW)

    def add(self, *, sent: int, received: int, answered: int, now: int) -> bool:
        """Add a ping. All times are in [ns].

        Args:
            sent: Local time at which it was sent.
            received: Remote time at which it arrived.
            answered: Remote time at which the answer was sent.
            now: Local time at which the answer arrived.

        Returns:
            False if the times are inconsistent; the ping is ignored then.
        """
        round_trip = (now - sent) - (answered - received)
        if sent > now or received > answered or round_trip < 0:
            return False
        offset = ((received - sent) + (answered - now)) // 2
        self._pings.append((round_trip, offset, now))
        return True

    @property
    def is_known(self) -> bool:
        """Whether at least one ping was added."""
        return bool(self._pings)

    @property
    def offset(self) -> int:
        """Remote clock minus local clock in [ns]; 0 before the first ping."""
        return self._best()[1]

    @property
    def round_trip(self) -> int:
        """Shortest round-trip time in [ns]; 0 before the first ping."""
        return self._best()[0]

    def to_local(self, remote: int) -> int:
        """Convert a remote time to the local clock, both in [ns]."""
        return remote - self.offset

    def _best(self) -> tuple[int, int, int]:
        if not self._pings:
            return (0, 0, 0)
        newest = self._pings[-1][2]
        return min(ping for ping in self._pings if newest - ping[2] <= OLDEST_PING)
