# SPDX-License-Identifier: Apache-2.0
"""Who of many clients turns the robot's head: one at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class HeadWish:
    """Where a client would have the head look: as its own head, or at angles of the neck.

    Attributes:
        client: Number of the client; another one has another centre.
        orientation: The operator's head as a quaternion xyzw, ROS axes; None for `angles`.
        angles: Pan and tilt in [rad]; None for `orientation`.
        timestamp: When it was measured, on this machine's monotonic clock in [s].
    """

    client: int
    orientation: NDArray[np.float64] | None
    angles: tuple[float, float] | None
    timestamp: float


class HeadChannel:
    """Hands on the wishes of one client, until it has been silent for a while.

    Two heads turned at once would shake the robot's; the first to move has it.

    Args:
        sink: Takes the wishes; called in the server's thread, so it may only store them.
        release: Silence in [s] after which another client may have the head.
    """

    def __init__(self, sink: Callable[[HeadWish], None] | None, release: float) -> None:
        self._sink = sink
        self._release = release
        self._owner: int | None = None
        self._last = 0.0

    @property
    def owner(self) -> int | None:
        """Number of the client that turns the head, or did last."""
        return self._owner

    def offer(self, wish: HeadWish, now: float) -> bool:
        """Hand a wish on at time `now` [s]; False where another client has the head."""
        if self._sink is None:
            return False
        if self._owner not in (None, wish.client) and now - self._last <= self._release:
            return False
        self._owner, self._last = wish.client, now
        self._sink(wish)
        return True

    def leave(self, client: int) -> None:
        """Let go of the head, as the client is gone."""
        if self._owner == client:
            self._owner = None
