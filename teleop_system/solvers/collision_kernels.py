# SPDX-License-Identifier: Apache-2.0
"""Which pairs of links can be near on a way to rest, and what a step may do to their distances.

A way to rest is told by where the joints are and where they come to rest. At a *moment* of it, a
part of its duration, each joint has gone a *share* of its own way.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@kernel(
    "Tuple((i8, b1))(f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[::1], f8, f8[::1], i8[::1])",
)
def find_near(
    joints: Array,
    rest: Array,
    measured_at: Array,
    reach: Array,
    slack: Array,
    headroom: float,
    left: Array,
    near: Indices,
) -> tuple[int, bool]:
    """Find the pairs whose distance is not known to be large anywhere on a way to rest.

    Args:
        joints: Where the way begins [rad], shape (N,).
        rest: Where it ends [rad], shape (N,).
        measured_at: Where distances were measured last [rad], shape (N,).
        reach: Largest change of each distance per change of each joint [m/rad], shape (N, P).
        slack: By how much distances were too large there to matter, at least [m], shape (P,).
        headroom: Slack [m] below which pairs are found.
        left: Room for the slack that is left, shape (P,).
        near: The pairs found, as many of its elements as are returned, shape (P,).

    Returns:
        How many they are, and whether any pair has no slack left.
    """
    left[:] = slack
    for n in range(joints.size):
        # How far from there the joint gets anywhere on the way.
        way = max(abs(rest[n] - measured_at[n]), abs(joints[n] - measured_at[n]))
        for pair in range(left.size):
            left[pair] -= reach[n, pair] * way
    count, is_near = 0, False
    for pair in range(left.size):
        is_near = is_near or left[pair] < 0.0
        if left[pair] < headroom:
            near[count] = pair
            count += 1
    return count, is_near


@kernel(
    "i8(f8[::1], f8[::1], f8[::1], f8[:, ::1], i8[::1], f8[:, ::1], f8, f8[:, ::1], i8[::1])",
)
def note_slack(
    joints: Array,
    rest: Array,
    measured_at: Array,
    reach: Array,
    near: Indices,
    contacts: Array,
    slow: float,
    slacks: Array,
    doubtful: Indices,
) -> int:
    """Compute the slack of all pairs at a place of rest, some of which were measured there.

    Args:
        joints: As of `find_near`, as `rest`, `measured_at` and `reach`.
        rest: Likewise.
        measured_at: Likewise.
        reach: Likewise.
        near: Pairs that were measured, shape (K,).
        contacts: Their contacts at rest, shape (K, 10).
        slow: Distance that is large enough not to matter [m].
        slacks: The old slack; written: the new one, and by how much distances may change on the
            way to rest [m], shape (3, P).
        doubtful: Written: pairs that may be nearer than `slow` somewhere on the way, as many of
            its elements as are returned, shape (P,).

    Returns:
        How many they are.
    """
    slack, lengths = slacks[1], slacks[2]
    slack[:] = slacks[0]
    lengths[:] = 0.0
    for n in range(joints.size):
        moved, way = abs(rest[n] - measured_at[n]), abs(rest[n] - joints[n])
        for pair in range(slack.size):
            slack[pair] -= reach[n, pair] * moved
            lengths[pair] += reach[n, pair] * way
    for k in range(near.size):
        slack[near[k]] = contacts[k, 0] - slow
    count = 0
    for pair in range(slack.size):
        if slack[pair] < lengths[pair]:
            doubtful[count] = pair
            count += 1
    return count


@kernel("f8(f8[::1], f8[::1])")
def longest_braking(step: Array, change: Array) -> float:
    """Return after how many ticks the last joint has come to rest, given the steps before."""
    longest = 0.0
    for n in range(step.size):
        longest = max(longest, abs(step[n]) / change[n])
    return longest


@kernel("f8(f8, f8, f8, f8)")
def share_of_way(step: float, change: float, longest: float, moment: float) -> float:
    """Return which part of its way to rest a joint has gone at a moment."""
    left = max(1.0 - moment * (longest / max(abs(step) / change, 1e-9)), 0.0)
    return 1.0 - left * left


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[:, ::1])")
def points_on_way(
    joints: Array, step: Array, rest: Array, change: Array, moments: Array, out: Array
) -> None:
    """Write where the joints are at moments of a way to rest [rad], shape (M, N).

    Args:
        joints: Where it begins [rad], shape (N,).
        step: The step that led there [rad], shape (N,).
        rest: Where it ends [rad], shape (N,).
        change: Largest changes of a step from tick to tick [rad], shape (N,).
        moments: The moments, shape (M,).
        out: The points.
    """
    longest = longest_braking(step, change)
    for m in range(moments.size):
        for n in range(joints.size):
            share = share_of_way(step[n], change[n], longest, moments[m])
            out[m, n] = joints[n] + share * (rest[n] - joints[n])


@kernel("void(f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[::1])")
def write_rows(
    terms: Array,
    step: Array,
    braking: Array,
    change: Array,
    limits: Array,
    rows: Array,
    bounds: Array,
) -> None:
    """Turn slopes of distances into rows for a step, and write their bounds.

    Args:
        terms: Moments and distances [m] of the rows, shape (2, K).
        step: The step before [rad], shape (N,).
        braking: The step of this tick if all joints brake [rad], shape (N,).
        change: Largest changes of a step from tick to tick [rad], shape (N,).
        limits: Distances `slow` and `stop` [m], and the part of the distance between that a tick
            may take, shape (3,).
        rows: Slopes of the distances at their moments [m/rad], shape (K, N); written: how a
            step of this tick changes the distances.
        bounds: Smallest values of the rows, shape (K,).
    """
    slow, stop, fraction = limits[0], limits[1], limits[2]
    longest = longest_braking(step, change)
    for k in range(bounds.size):
        moment, distance = terms[0, k], terms[1, k]
        braked = 0.0
        for n in range(step.size):
            ratio = abs(step[n]) / change[n]
            # The place of rest changes with the step by 1 and the chord of a parabola, which runs
            # from zero on where the tick may change the direction.
            chord = max(ratio, 0.5 * ratio + 0.5)
            rows[k, n] *= 1.0 + share_of_way(step[n], change[n], longest, moment) * chord
            braked += rows[k, n] * braking[n]
        # Too near already: away from each other, at most as fast as the approach would be.
        inside = max(min(distance, slow) - stop, stop - slow)
        allowed = inside * fraction + max(distance - slow, 0.0)
        # Where the robot is now, braking may have to close more than that.
        bounds[k] = min(braked, -allowed) if moment == 0.0 else braked - allowed
