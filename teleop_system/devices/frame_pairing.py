# SPDX-License-Identifier: Apache-2.0
"""Puts the colour and the depth image of one exposure together."""

from collections import deque
from typing import Generic, TypeVar

ColorT = TypeVar("ColorT")
DepthT = TypeVar("DepthT")

KEPT = 4
"""Images of either kind that wait for their other half."""


class FramePairer(Generic[ColorT, DepthT]):
    """Pairs images by their stamps, each at most once, and never an older pair after a newer.

    Args:
        window: Greatest difference of two stamps that are one exposure's in [s].
        patience: Time in [s] without any depth after which colour goes alone: a camera that
            has no depth, or has lost it, still shows what it sees.
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
        """Take a colour image stamped `stamp` [s] that came at `now` [s]; return a pair, or None.

        The depth of a pair is None where there has been none for longer than the patience.
        """
        if self._first_color is None:
            self._first_color = now
        self._colors.append((stamp, image))
        found = self._match()
        if found is not None:
            return found
        heard = self._last_depth if self._last_depth is not None else self._first_color
        if now - heard > self._patience:
            self._colors.clear()
            return stamp, image, None
        return None

    def add_depth(
        self, stamp: float, image: DepthT, now: float
    ) -> tuple[float, ColorT, DepthT | None] | None:
        """Take a depth image; likewise."""
        self._last_depth = now
        self._depths.append((stamp, image))
        return self._match()

    def _match(self) -> tuple[float, ColorT, DepthT] | None:
        best: tuple[float, int, int] | None = None
        for i, (color_stamp, _) in enumerate(self._colors):
            for j, (depth_stamp, _) in enumerate(self._depths):
                apart = abs(color_stamp - depth_stamp)
                if apart <= self._window and (best is None or (-i, apart) < (-best[1], best[0])):
                    best = (apart, i, j)  # The newest colour counts; then the nearest depth.
        if best is None:
            return None
        _, i, j = best
        stamp, color = self._colors[i]
        depth = self._depths[j][1]
        for queue, used in ((self._colors, i), (self._depths, j)):
            for _ in range(used + 1):
                queue.popleft()
        return stamp, color, depth
