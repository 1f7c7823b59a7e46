# SPDX-License-Identifier: Apache-2.0
"""Which pairs of links can be near, and how near: the arithmetic behind `BrakingPaths`."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.link_kernels import find_contact, place_links
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SOON = 0.03
"""Where pairs have to be measured, those that come within this distance [m] of it are, too: to
place the links costs more than to measure a pair."""


@kernel("Tuple((f8, f8))(f8[:, ::1], f8[:, ::1], i8)")
def ways_of(counters: Array, reach: Array, pair: int) -> tuple[float, float]:
    """Return how much a distance may have changed since the start, and may on the way [m]."""
    counted, change = 0.0, 0.0
    for n in range(reach.shape[0]):
        counted += reach[n, pair] * counters[0, n]
        change += reach[n, pair] * counters[2, n]
    return counted, change


@kernel(
    "i8(f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8, i8[::1],"
    " f8[:, ::1])",
)
def find_near(
    position: Array,
    rest: Array,
    excursion: Array,
    counters: Array,
    reach: Array,
    pairs: Array,
    slow: float,
    stop: float,
    near: Indices,
    found: Array,
) -> int:
    """Count the ways of the joints, and find the pairs to measure: near at rest, or on the way.

    Args:
        position: Where the braking path begins [rad], shape (N,).
        rest: Where it ends [rad], shape (N,).
        excursion: How far it may leave the range between the two [rad], shape (N,).
        counters: Way of each joint's place of rest so far, where that place was, and the length
            of the way to rest [rad], shape (3, N); brought up to date.
        reach: Largest change of each distance [m] per change of each joint [rad], shape (N, P).
        pairs: Distances when measured, plus what the counters stood for then, and, written for
            the pairs found, what these stand for now [m], shape (2, P).
        slow: Distance in [m] below which a pair is near at rest.
        stop: Distance in [m] below which it is near on the way.
        near: Written: the pairs found, as many of its elements as are returned, shape (P,).
        found: Written, its second row: how much their distances may differ on the way [m], shape
            (2, P).

    Returns:
        How many they are; none, unless some may be near.
    """
    horizon, changes = pairs[0], pairs[1]
    changes[:] = 0.0
    for n in range(position.size):
        start, end = position[n], rest[n]
        counters[0, n] += abs(end - counters[1, n])
        counters[1, n] = end
        counters[2, n] = abs(end - start) + excursion[n]
        moved = counters[0, n] + counters[2, n]
        if moved != 0.0:
            for pair in range(horizon.size):
                changes[pair] += reach[n, pair] * moved
    is_near = False
    for pair in range(horizon.size):
        if horizon[pair] - changes[pair] < slow:
            # Few get here: what matters at rest is told from what matters on the way.
            counted, change = ways_of(counters, reach, pair)
            at_rest = horizon[pair] - counted
            if at_rest < slow or at_rest - change < stop:
                is_near = True
                break
    if not is_near:
        return 0
    count = 0
    for pair in range(horizon.size):
        if horizon[pair] - changes[pair] < slow + SOON:
            near[count] = pair
            changes[pair], found[1, count] = ways_of(counters, reach, pair)
            count += 1
    return count


@kernel("Tuple((f8, f8))(i8[::1], f8[:, ::1], f8[:, ::1])")
def note_distances(near: Indices, found: Array, pairs: Array) -> tuple[float, float]:
    """Remember what was measured.

    Args:
        near: Pairs that were measured, shape (K,).
        found: Their distances at rest, and how much these may differ on the way [m], shape
            (2, P), of which K are used.
        pairs: As `find_near` left it, shape (2, P); brought up to date.

    Returns:
        The smallest distance at rest, and the smallest there can be on the way [m].
    """
    at_rest, on_way = math.inf, math.inf
    for k in range(near.size):
        pairs[0, near[k]] = found[0, k] + pairs[1, near[k]]
        at_rest = min(at_rest, found[0, k])
        on_way = min(on_way, found[0, k] - found[1, k])
    return at_rest, on_way


@kernel(
    "Tuple((b1, f8, f8))(f8[::1], i8, i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1],"
    " f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8[:, ::1])",
)
def measure_near(
    rest: Array,
    count: int,
    near: Indices,
    found: Array,
    pairs: Array,
    joints: Array,
    tree: Indices,
    places: Array,
    shapes: Array,
    owners: Indices,
    shape_pairs: Indices,
    work: Array,
) -> tuple[bool, float, float]:
    """Measure the pairs that `find_near` found where they come to rest, and remember it.

    Args:
        rest: As of `find_near`.
        count: How many pairs were found.
        near: As of `find_near`.
        found: As of `note_distances`, its first row written; NaN where a library has to be asked.
        pairs: As of `note_distances`.
        joints: As of `link_kernels.find_contacts`, as all up to `shape_pairs`.
        tree: Likewise.
        places: Likewise.
        shapes: Likewise.
        owners: Likewise.
        shape_pairs: Likewise.
        work: Memory, shape (7, 12).

    Returns:
        Whether all distances are known and so remembered, and what `note_distances` returns.
    """
    place_links(joints, tree, rest, places)
    contact, is_known = work[6, :10], True
    for k in range(count):
        first, second = shape_pairs[near[k], 0], shape_pairs[near[k], 1]
        if not find_contact(places, shapes, owners, first, second, work, contact):
            is_known = False
        found[0, k] = contact[0]
    if not is_known:
        return False, math.inf, math.inf
    at_rest, on_way = note_distances(near[:count], found, pairs)
    return True, at_rest, on_way
