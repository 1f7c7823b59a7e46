# SPDX-License-Identifier: Apache-2.0
"""Which pairs of links can be near: the arithmetic behind `BrakingPaths`."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@kernel("i8(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, i8[::1])")
def find_near(
    path: Array, counters: Array, reach: Array, pairs: Array, slow: float, near: Indices
) -> int:
    """Count the ways of the joints, and find the pairs that may be near on the way to rest.

    Args:
        path: The table of a state: the way begins at its positions, ends at its places of rest,
            and may lead out of the way between the two, shape (5, N).
        counters: Way of each joint's place of rest so far, and where that place was [rad], shape
            (2, N); brought up to date.
        reach: Largest change of each distance [m] per change of each joint [rad], shape (N, P).
        pairs: Distances when measured, plus what the counters stood for then, and room for what
            they stand for now and for changes on the way [m], shape (3, P).
        slow: Distance in [m] below which a pair is near.
        near: The pairs found, as many of its elements as are returned, shape (P,).

    Returns:
        How many pairs may be near.
    """
    horizon, counted, changes = pairs[0], pairs[1], pairs[2]
    counted[:] = 0.0
    changes[:] = 0.0
    for n in range(path.shape[1]):
        start, end = path[0, n], path[3, n]
        counters[0, n] += abs(end - counters[1, n])
        counters[1, n] = end
        way = abs(end - start) + path[4, n]
        if way != 0.0 or counters[0, n] != 0.0:
            for pair in range(horizon.size):
                counted[pair] += reach[n, pair] * counters[0, n]
                changes[pair] += reach[n, pair] * way
    count = 0
    for pair in range(horizon.size):
        if horizon[pair] - counted[pair] - changes[pair] < slow:
            near[count] = pair
            count += 1
    return count


@kernel("Tuple((f8, f8))(i8[::1], f8[::1], f8[:, ::1], f8[::1])")
def note_distances(
    near: Indices, found: Array, pairs: Array, changes: Array
) -> tuple[float, float]:
    """Remember what was measured.

    Args:
        near: Pairs that were measured, shape (K,).
        found: Their distances at rest [m], shape (K,).
        pairs: As `find_near` left it, shape (3, P); brought up to date.
        changes: Written: how much the distances may differ on the way [m], shape (K,).

    Returns:
        The smallest distance at rest, and the smallest there can be on the way [m].
    """
    at_rest, on_way = math.inf, math.inf
    for k in range(near.size):
        pair = near[k]
        pairs[0, pair] = found[k] + pairs[1, pair]
        changes[k] = pairs[2, pair]
        at_rest = min(at_rest, found[k])
        on_way = min(on_way, found[k] - changes[k])
    return at_rest, on_way
