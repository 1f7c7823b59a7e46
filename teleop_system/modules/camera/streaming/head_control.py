# SPDX-License-Identifier: Apache-2.0
"""Decides which of many clients turns the robot's head: one at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class HeadRequest:
    """Where a client wants the head to look: as the operator's own head, or at joint angles.

    Attributes:
        client: Number of the client; every client counts rotations from its own centre.
        orientation: The operator's head as a quaternion xyzw, ROS axes; None if `angles` is set.
        angles: Pan and tilt in [rad]; None if `orientation` is set.
        timestamp: Time of measurement on this machine's monotonic clock in [s].
    """

    client: int
    orientation: NDArray[np.float64] | None
    angles: tuple[float, float] | None
    timestamp: float


class HeadControl:
    """Forwards the requests of one client until that client has been silent for a while.

    Two clients that turn the head at once would make it oscillate; the first one has it.

    Args:
        sink: Receives the requests in the server's thread, so it may only store them.
        release: Silence in [s] after which another client may take the head.
    """

    def __init__(self, sink: Callable[[HeadRequest], None] | None, release: float) -> None:
        self._sink = sink
        self._release = release
        self._owner: int | None = None
        self._last = 0.0

    @property
    def owner(self) -> int | None:
        """Number of the client that turns the head, or turned it last."""
        return self._owner

    def submit(self, request: HeadRequest, now: float) -> bool:
        """Forward a request at time `now` [s]; False if another client has the head."""
        if self._sink is None:
            return False
        if self._owner not in (None, request.client) and now - self._last <= self._release:
            return False
        self._owner, self._last = request.client, now
        self._sink(request)
        return True

    def release(self, client: int) -> None:
        """Free the head if this client has it, because the client has left."""
        if self._owner == client:
            self._owner = None
