# SPDX-License-Identifier: Apache-2.0
"""Whether the operator holds the clutch, when it is only heard of over a network."""

import math

OPEN_AFTER = 0.5
"""Silence of a clutch in [s] after which it counts as open."""


class ClutchWatch:
    """The state of a clutch that says "closed" again and again.

    A system without a clutch has it closed for ever. Once one was heard, its silence opens it: an
    operator whose clutch died must not go on moving the robot.

    Args:
        open_after: Silence in [s] after which it counts as open.
    """

    def __init__(self, open_after: float = OPEN_AFTER) -> None:
        self._open_after = open_after
        self._heard_at = -math.inf
        self._closed = True
        self.was_heard = False
        """Whether there has ever been a clutch."""

    def hear(self, closed: bool, now: float) -> None:
        """Take what a clutch says at time `now` [s]."""
        self._closed = closed
        self._heard_at = now
        self.was_heard = True

    def is_closed(self, now: float) -> bool:
        """Tell whether motion counts at time `now` [s]."""
        if not self.was_heard:
            return True
        return self._closed and now - self._heard_at <= self._open_after
