# SPDX-License-Identifier: Apache-2.0
"""Whether the operator holds a clutch that reports over a network."""

import math

from teleop_system.safety.staleness import CLUTCH, is_stale


class ClutchMonitor:
    """The state of a clutch that repeats its report while it is closed.

    A system without a clutch counts as closed. Once a clutch has reported, its silence opens it:
    an operator whose clutch failed must not continue to move the robot.

    Args:
        timeout: Silence in [s] after which it counts as open.
    """

    def __init__(self, timeout: float = CLUTCH.timeout) -> None:
        self._timeout = timeout
        self._reported_at = -math.inf
        self._closed = True
        self._exists = False

    def receive(self, closed: bool, now: float) -> None:
        """Store the report of a clutch at time `now` [s]."""
        self._closed = closed
        self._reported_at = now
        self._exists = True

    def is_closed(self, now: float) -> bool:
        """Tell whether motion counts at time `now` [s]."""
        if not self._exists:
            return True
        return self._closed and not is_stale(now - self._reported_at, self._timeout)
