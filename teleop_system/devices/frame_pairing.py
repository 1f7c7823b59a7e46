# SPDX-License-Identifier: Apache-2.0
"""Pairs the colour and the depth image of one exposure."""

from collections import deque
from typing import Generic, TypeVar

ColorT = TypeVar("ColorT")
DepthT = TypeVar("DepthT")

KEPT = 4
"""Largest number of unpaired images of each kind."""


class FramePairer(Generic[ColorT, DepthT]):
    """Pairs images by their stamps; each image is used once, and pairs stay in order.

    Args:
        window: Largest difference between the two stamps of one exposure in [s].
        patience: Time in [s] without depth images after which colour is returned alone, for a
            camera without depth.
    """

    def __init__(self, window: float = 0.017, patience: float = 0.5) -> None:
        self._window, self._patience = window, patience
        self._colors: deque[tuple[float, ColorT]] = deque(maxlen=KEPT)
        self._depths: deque[tuple[float, DepthT]] = deque(maxlen=KEPT)
        self._first_color: float | None = None
        self._last_depth: float | None = None

    def add_color(
        self, stamp: float, image: ColorT, now: float
    ) -> tuple[float, ColorT, DepthT | None] | None:
        """Add a colour image stamped `stamp` [s] that arrived at `now` [s].

        Returns:
            A pair, or None. Its depth is None if no depth arrived for longer than the patience.
        """
        if self._first_color is None:
            self._first_color = now
        self._colors.append((stamp, image))
        found = self._match()
        if found is not None:
            return found
        waiting_since = self._first_color if self._last_depth is None else self._last_depth
        if now - waiting_since > self._patience:
            self._colors.clear()
            return stamp, image, None
        return None

    def add_depth(
        self, stamp: float, image: DepthT, now: float
    ) -> tuple[float, ColorT, DepthT | None] | None:
        """Add a depth image; see `add_color`."""
        self._last_depth = now
        self._depths.append((stamp, image))
        return self._match()

    def _match(self) -> tuple[float, ColorT, DepthT] | None:
        best: tuple[float, int, int] | None = None
        for i, (color_stamp, _) in enumerate(self._colors):
            for j, (depth_stamp, _) in enumerate(self._depths):
                apart = abs(color_stamp - depth_stamp)
                if apart <= self._window and (best is None or (-i, apart) < (-best[1], best[0])):
                    best = (apart, i, j)  # The newest colour image wins, then the nearest depth.
        if best is None:
            return None
        _, i, j = best
        stamp, color = self._colors[i]
        depth = self._depths[j][1]
        for queue, used in ((self._colors, i), (self._depths, j)):
            for _ in range(used + 1):
                queue.popleft()
        return stamp, color, depth
