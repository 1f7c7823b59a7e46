# SPDX-License-Identifier: Apache-2.0
"""The largest velocity, acceleration and jerk of a sampled motion, for oracles of limits."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def largest_rates(positions: ArrayLike, steps: ArrayLike) -> NDArray[np.float64]:
    """Return the largest divided differences of order 1 to 3 of a motion that begins at rest.

    A divided difference of order k, times k!, is the k-th derivative somewhere in its span, so it
    never exceeds the limit of a motion that keeps it, whatever the steps.

    Args:
        positions: Positions at the start and after every step, shape (K + 1,).
        steps: Durations of the steps in [s], shape (K,).
    """
    values, durations = np.asarray(positions, float), np.asarray(steps, float)
    # At rest before the start.
    difference = np.concatenate([np.repeat(values[:1], 3), values])
    times = np.concatenate([np.repeat(durations[:1], 3), durations]).cumsum()
    times = np.concatenate([[0.0], times])
    largest = []
    for order in (1, 2, 3):
        difference = order * np.diff(difference) / (times[order:] - times[:-order])
        largest.append(np.abs(difference).max())
    return np.array(largest)
