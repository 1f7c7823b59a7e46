# SPDX-License-Identifier: Apache-2.0
"""Confidence interval of a measured ratio."""

import numpy as np
from numpy.typing import NDArray

DRAWS = 500


def ratio_interval(own: NDArray[np.float64], peer: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 90 % interval of the ratio of two 99th percentiles.

    Args:
        own: Our values, one row per block, shape (blocks, ticks).
        peer: Values of the peer, same shape.
    """
    # Blocks are resampled, not ticks: a disturbance lasts longer than a tick.
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(DRAWS):
        drawn = rng.integers(len(own), size=len(own))
        ratios.append(np.percentile(own[drawn], 99.0) / np.percentile(peer[drawn], 99.0))
    low, high = np.percentile(ratios, (5.0, 95.0))
    return float(low), float(high)
