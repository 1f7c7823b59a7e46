# SPDX-License-Identifier: Apache-2.0
"""How a step of the IK changes the distances of links on the braking path.

A braking path leads from the joints' positions to where they come to rest. At a *moment* of it,
from 0 to 1 of its duration, each joint has covered a *fraction* of its own distance.
"""

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]


@kernel("f8(f8[::1], f8[::1])")
def longest_braking(step: Array, change: Array) -> float:
    """Return the number of ticks until the last joint is at rest."""
    longest = 0.0
    for n in range(step.size):
        longest = max(longest, abs(step[n]) / change[n])
    return longest


@kernel("f8(f8, f8, f8, f8)")
def fraction_at(step: float, change: float, longest: float, moment: float) -> float:
    """Return the fraction of its braking distance that a joint has covered at a moment."""
    left = max(1.0 - moment * (longest / max(abs(step) / change, 1e-9)), 0.0)
    return 1.0 - left * left


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[:, ::1])")
def points_on_path(
    joints: Array, step: Array, rest: Array, change: Array, moments: Array, points: Array
) -> None:
    """Compute the joint positions at moments of a braking path [rad], shape (M, N).

    Args:
        joints: Positions at its start [rad], shape (N,).
        step: The step that led there [rad], shape (N,).
        rest: Positions at its end [rad], shape (N,).
        change: Largest changes of a step from tick to tick [rad], shape (N,).
        moments: The moments, shape (M,).
        points: Written: the positions, shape (M, N).
    """
    longest = longest_braking(step, change)
    for m in range(moments.size):
        for n in range(joints.size):
            fraction = fraction_at(step[n], change[n], longest, moments[m])
            points[m, n] = joints[n] + fraction * (rest[n] - joints[n])


@kernel("f8(f8, f8, f8, f8)")
def allowed_approach(distance: float, slow: float, stop: float, fraction: float) -> float:
    """Return how far a pair may come nearer in a tick [m].

    Args:
        distance: Its distance [m].
        slow: Distance below which the approach becomes slower [m].
        stop: Distance at which it ends [m].
        fraction: Part of the distance between that a tick may take.
    """
    # A pair that is too near moves apart, at most as fast as the approach would be.
    inside = max(min(distance, slow) - stop, stop - slow)
    return inside * fraction + max(distance - slow, 0.0)


@kernel("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8, f8, f8, f8[:, ::1], f8[::1])")
def write_rows(
    moments: Array,
    distances: Array,
    step: Array,
    braking: Array,
    change: Array,
    slow: float,
    stop: float,
    fraction: float,
    rows: Array,
    bounds: Array,
) -> None:
    """Turn slopes of distances into rows for a step of this tick, and compute their bounds.

    Args:
        moments: Moment of each row, shape (K,).
        distances: Distance of each row [m], shape (K,).
        step: The step before [rad], shape (N,).
        braking: The step of this tick if all joints brake [rad], shape (N,).
        change: Largest changes of a step from tick to tick [rad], shape (N,).
        slow: See `allowed_approach`.
        stop: See `allowed_approach`.
        fraction: See `allowed_approach`.
        rows: Slopes of the distances at their moments [m/rad], shape (K, N); written: how a
            step of this tick changes the distances.
        bounds: Written: smallest values of the rows, shape (K,).
    """
    longest = longest_braking(step, change)
    for k in range(bounds.size):
        braked = 0.0
        for n in range(step.size):
            ratio = abs(step[n]) / change[n]
            # The resting position changes with the step by 1 and the chord of a parabola, which
            # starts at zero if the tick may change the direction.
            chord = max(ratio, 0.5 * ratio + 0.5)
            rows[k, n] *= 1.0 + fraction_at(step[n], change[n], longest, moments[k]) * chord
            braked += rows[k, n] * braking[n]
        allowed = allowed_approach(distances[k], slow, stop, fraction)
        # At the robot's own position, braking may have to close more than that.
        bounds[k] = min(braked, -allowed) if moments[k] == 0.0 else braked - allowed
