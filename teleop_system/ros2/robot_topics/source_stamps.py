# SPDX-License-Identifier: Apache-2.0
"""When messages without a stamp of their own were sent."""

import time
from collections.abc import Callable, Mapping
from typing import Any


class SourceStamps:
    """Stamps the messages of one topic with the time at which they were published.

    The middleware tells that on the wall's clock of the machine that sent them, so the clocks of
    both machines have to agree, as they have to for stamps in messages. A message of the future
    counts as one of the present.

    Args:
        wall: Returns the wall's time in [ns].
    """

    def __init__(self, wall: Callable[[], int] = time.time_ns) -> None:
        self._wall = wall
        self._last = float("-inf")

    def stamp(self, info: Mapping[str, Any], now: float) -> float:
        """Return when a message was sent in [s], on the clock of `now`.

        Args:
            info: What rclpy tells about it; without a time of the source, it was sent now.
            now: Time in [s], by the wall or simulated.
        """
        source = info.get("source_timestamp") or 0
        delay = 1e-9 * max(0, self._wall() - source) if source > 0 else 0.0
        # Where time is simulated, delays of the wall's time may turn the order of two messages.
        self._last = min(now, max(self._last, now - delay))
        return self._last
