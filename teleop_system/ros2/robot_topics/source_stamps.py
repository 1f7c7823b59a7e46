# SPDX-License-Identifier: Apache-2.0
"""Send times of messages without a stamp."""

import time
from collections.abc import Callable, Mapping
from typing import Any


class SourceStamps:
    """Stamps the messages of one topic with the time at which they were published.

    The middleware gives that time on the wall clock of the sending machine, so the clocks of both
    machines have to agree, as for stamps in messages. A time in the future counts as the present.

    Args:
        wall: Returns wall time in [ns].
    """

    def __init__(self, wall: Callable[[], int] = time.time_ns) -> None:
        self._wall = wall
        self._last = float("-inf")

    def stamp(self, info: Mapping[str, Any], now: float) -> float:
        """Return when a message was sent in [s], on the clock of `now`.

        Args:
            info: Message info of rclpy; without a source time, the message was sent now.
            now: Wall or simulated time in [s].
        """
        source = info.get("source_timestamp") or 0
        delay = 1e-9 * max(0, self._wall() - source) if source > 0 else 0.0
        # In simulated time, delays in wall time may reverse the order of two messages.
        self._last = min(now, max(self._last, now - delay))
        return self._last
