# SPDX-License-Identifier: Apache-2.0
"""Axes of charts: values to pixels, round tick values, and curves thinned to the pixel width."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from values to pixels.

    Attributes:
        low: Smallest value.
        high: Largest value.
        start: Pixel of the smallest value in [px].
        end: Pixel of the largest value in [px].
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value in [px]."""
        return self.start + self._share(value) * (self.end - self.start)

    def pixels(self, values: Array) -> Array:
        """Return the pixels of many values in [px]."""
        return self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Return about `count` round values within the scale."""
        step = round_step((self.high - self.low) / max(count, 1))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        values = [number * step for number in range(first, last + 1)]
        # Far from zero, rounding can move a tick outside a short scale.
        return [value for value in values if -1e-9 <= self._share(value) <= 1.0 + 1e-9]

    def _share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)


def round_step(step: float) -> float:
    """Return the smallest round number that is not below `step`."""
    if not step > 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in ROUND_STEPS if factor * power >= step * (1 - 1e-9))


def extent(
    arrays: list[Array], *, zero: bool = False, margin: float = 0.05
) -> tuple[float, float]:
    """Return the range of all finite values, with a margin.

    Args:
        arrays: The values.
        zero: Begin at zero, for quantities that cannot be negative.
        margin: Margin at either end, as a share of the range.
    """
    finite = [array[np.isfinite(array)] for array in arrays]
    values = np.concatenate([array for array in finite if array.size] or [np.zeros(1)])
    low, high = float(values.min()), float(values.max())
    if zero:
        low = 0.0
    if high - low < 1e-9:
        high, low = high + 0.5e-3, low if zero else low - 0.5e-3
    room = margin * (high - low)
    return (low if zero else low - room), high + room


def thin(x: Array, y: Array, columns: int) -> Array:
    """Return the points of a curve that are visible on so many columns of pixels, shape (K, 2).

    The smallest and the largest value of every column are kept, so no peak is lost.
    """
    keep = np.isfinite(y) & np.isfinite(x)
    points = np.stack([x[keep], y[keep]], axis=1)
    if len(points) <= 2 * columns:
        return points
    starts = np.linspace(0, len(points), columns + 1).astype(int)
    shown: set[int] = set()
    for first, last in itertools.pairwise(starts.tolist()):
        values = points[first:last, 1]
        shown |= {first + int(values.argmin()), first + int(values.argmax())}
    return points[sorted(shown)]


def tick_label(value: float, step: float) -> str:
    """Return a number with the decimals that a step between ticks needs."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0.0 else 0
    if decimals and abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:
        decimals += 1
    return f"{value + 0.0:.{decimals}f}"
