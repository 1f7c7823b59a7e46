# SPDX-License-Identifier: Apache-2.0
"""The search for pairs of links that may be near: the arithmetic behind `ClosestPairs`."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Records = NDArray[np.void]

SOON = 0.03
"""If any pair has to be measured, pairs that come within this distance [m] of it are measured
too: placing the links costs more than measuring a pair."""

TRAVEL = np.dtype([("total", np.float64), ("rest", np.float64), ("ahead", np.float64)], align=True)
"""Motion of the point where a joint would stop: its accumulated path length, its newest position,
and the largest distance to it from any point of the braking path [rad]."""
BOUND = np.dtype(
    [("horizon", np.float64), ("moved", np.float64), ("ahead", np.float64)], align=True
)
"""What is known of a pair's distance [m]: the distance when it was measured plus the change that
the joints' travel could have caused until then, the same change until now, and the largest
change on the braking path."""
NEAR = np.dtype([("pair", np.int64), ("at_rest", np.float64), ("ahead", np.float64)], align=True)
"""A pair that was found: its index, its distance at rest, and the largest change of it on the
braking path [m]."""


@kernel("void(f8[::1], f8[::1], f8[::1], TRAVEL[::1])")
def add_travel(start: Array, rest: Array, excursion: Array, travel: Records) -> None:
    """Count the motion of the resting position, and set the length of the braking path."""
    for n in range(travel.size):
        joint = travel[n]
        joint["total"] += abs(rest[n] - joint["rest"])
        joint["rest"] = rest[n]
        joint["ahead"] = abs(rest[n] - start[n]) + excursion[n]


@kernel("void(TRAVEL[::1], f8[:, ::1], i8, BOUND)")
def update_bound(travel: Records, reach: Array, pair: int, bound: Records) -> None:
    """Compute the possible change of one pair's distance, so far and on the braking path."""
    bound["moved"], bound["ahead"] = 0.0, 0.0
    for n in range(travel.size):
        bound["moved"] += reach[n, pair] * travel[n]["total"]
        bound["ahead"] += reach[n, pair] * travel[n]["ahead"]


@kernel(
    "i8(f8[::1], f8[::1], f8[::1], TRAVEL[::1], f8[:, ::1], f8, f8, f8[::1], BOUND[::1],"
    " NEAR[::1])"
)
def find_near(
    start: Array,
    rest: Array,
    excursion: Array,
    travel: Records,
    reach: Array,
    at_rest: float,
    on_path: float,
    changes: Array,
    bounds: Records,
    near: Records,
) -> int:
    """Find the pairs that may be near at rest, or on the braking path.

    Args:
        start: Joint positions at the start of the braking path [rad], shape (N,).
        rest: Joint positions at its end [rad], shape (N,).
        excursion: Largest distance by which it leads beyond the two [rad], shape (N,).
        travel: The joints, shape (N,); updated.
        reach: Largest change of each distance per joint motion [m/rad], shape (N, P).
        at_rest: Distance [m] below which a pair is near at rest.
        on_path: Distance [m] below which a pair is near on the braking path.
        changes: Work memory, shape (P,).
        bounds: What is known of the pairs, shape (P,); updated for the pairs found.
        near: Written: the pairs found, as many elements as are returned, shape (P,).

    Returns:
        The number of pairs found: 0 unless one of them may be near.
    """
    add_travel(start, rest, excursion, travel)
    changes[:] = 0.0
    for n in range(travel.size):
        change = travel[n]["total"] + travel[n]["ahead"]
        if change != 0.0:
            for pair in range(changes.size):
                changes[pair] += reach[n, pair] * change
    limit, is_near = max(at_rest, on_path), False
    for pair in range(changes.size):
        if bounds[pair]["horizon"] - changes[pair] < limit:
            # Few pairs get here; only for them are rest and path considered separately.
            update_bound(travel, reach, pair, bounds[pair])
            least = bounds[pair]["horizon"] - bounds[pair]["moved"]
            if least < at_rest or least - bounds[pair]["ahead"] < on_path:
                is_near = True
                break
    if not is_near:
        return 0
    count = 0
    for pair in range(changes.size):
        if bounds[pair]["horizon"] - changes[pair] < limit + SOON:
            update_bound(travel, reach, pair, bounds[pair])
            near[count]["pair"] = pair
            near[count]["ahead"] = bounds[pair]["ahead"]
            count += 1
    return count


@kernel("UniTuple(f8, 2)(NEAR[::1], BOUND[::1])")
def note_distances(near: Records, bounds: Records) -> tuple[float, float]:
    """Store measured distances of pairs at rest; return the least at rest and on the path."""
    at_rest, on_path = math.inf, math.inf
    for k in range(near.size):
        bound, distance = bounds[near[k]["pair"]], near[k]["at_rest"]
        bound["horizon"] = distance + bound["moved"]
        at_rest = min(at_rest, distance)
        on_path = min(on_path, distance - near[k]["ahead"])
    return at_rest, on_path
