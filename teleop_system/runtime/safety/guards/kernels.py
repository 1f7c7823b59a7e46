# SPDX-License-Identifier: Apache-2.0
"""Which pairs of links can be near, and how near: the arithmetic behind `BrakingPaths`."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.link_kernels import find_contact, place_links
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
        counters: Way of each joint's place of rest so far, where that place was, and the length
            of the way to rest [rad], shape (3, N); brought up to date.
        reach: Largest change of each distance [m] per change of each joint [rad], shape (N, P).
        pairs: Distances when measured, plus what the counters stood for then, and room [m], shape
            (2, P).
        slow: Distance in [m] below which a pair is near.
        near: The pairs found, as many of its elements as are returned, shape (P,).

    Returns:
        How many pairs may be near.
    """
    horizon, changes = pairs[0], pairs[1]
    changes[:] = 0.0
    for n in range(path.shape[1]):
        start, end = path[0, n], path[3, n]
        counters[0, n] += abs(end - counters[1, n])
        counters[1, n] = end
        counters[2, n] = abs(end - start) + path[4, n]
        moved = counters[0, n] + counters[2, n]
        if moved != 0.0:
            for pair in range(horizon.size):
                changes[pair] += reach[n, pair] * moved
    count = 0
    for pair in range(horizon.size):
        if horizon[pair] - changes[pair] < slow:
            near[count] = pair
            count += 1
    return count


@kernel("Tuple((f8, f8))(i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def note_distances(
    near: Indices, found: Array, counters: Array, reach: Array, pairs: Array
) -> tuple[float, float]:
    """Remember what was measured.

    Args:
        near: Pairs that were measured, shape (K,).
        found: Their distances at rest, and, written, how much these may differ on the way [m],
            shape (2, P), of which K are used.
        counters: As `find_near` left them, shape (3, N).
        reach: As of `find_near`, shape (N, P).
        pairs: Likewise, shape (2, P); brought up to date.

    Returns:
        The smallest distance at rest, and the smallest there can be on the way [m].
    """
    at_rest, on_way = math.inf, math.inf
    for k in range(near.size):
        pair = near[k]
        counted, change = 0.0, 0.0
        for n in range(reach.shape[0]):
            counted += reach[n, pair] * counters[0, n]
            change += reach[n, pair] * counters[2, n]
        pairs[0, pair] = found[0, k] + counted
        found[1, k] = change
        at_rest = min(at_rest, found[0, k])
        on_way = min(on_way, found[0, k] - change)
    return at_rest, on_way


@kernel(
    "Tuple((i8, b1, f8, f8))(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, i8[::1],"
    " f8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1],"
    " f8[:, ::1])",
)
def look(
    path: Array,
    counters: Array,
    reach: Array,
    pairs: Array,
    slow: float,
    near: Indices,
    found: Array,
    joints: Array,
    tree: Indices,
    places: Array,
    shapes: Array,
    owners: Indices,
    shape_pairs: Indices,
    work: Array,
) -> tuple[int, bool, float, float]:
    """Find the pairs that may be near on the way to rest, measure them there, and remember it.

    Args:
        path: As of `find_near`, as all up to `near`.
        counters: Likewise.
        reach: Likewise.
        pairs: Likewise.
        slow: Likewise.
        near: Likewise.
        found: As of `note_distances`; NaN where a library has to be asked, shape (2, P).
        joints: As of `link_kernels.find_contacts`, as all up to `shape_pairs`.
        tree: Likewise.
        places: Likewise.
        shapes: Likewise.
        owners: Likewise.
        shape_pairs: Likewise.
        work: Memory, shape (7, 12).

    Returns:
        How many pairs may be near, whether all of their distances are known and so remembered,
        and what `note_distances` returns.
    """
    count = find_near(path, counters, reach, pairs, slow, near)
    if count == 0:
        return 0, True, math.inf, math.inf
    place_links(joints, tree, path[3], places)
    contact, is_known = work[6, :10], True
    for k in range(count):
        first, second = shape_pairs[near[k], 0], shape_pairs[near[k], 1]
        if not find_contact(places, shapes, owners, first, second, work, contact):
            is_known = False
        found[0, k] = contact[0]
    if not is_known:
        return count, False, math.inf, math.inf
    at_rest, on_way = note_distances(near[:count], found, counters, reach, pairs)
    return count, True, at_rest, on_way
