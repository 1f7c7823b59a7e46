# SPDX-License-Identifier: Apache-2.0
"""Metrics of how a robot followed a motion."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.transforms import quat_distance

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LONGEST_LAG = 0.5
"""Longest delay in [s] to search for."""
AT_LIMIT = 0.98
"""Share of a limit from which a speed counts as saturated."""


def rmse(errors: Array, counted: Mask | None = None) -> float:
    """Return the root mean square of errors; NaN without errors."""
    kept = errors if counted is None else errors[counted]
    kept = kept[np.isfinite(kept)]
    return float(np.sqrt(np.mean(kept**2))) if kept.size else math.nan


def position_errors(commanded: Array, reached: Array) -> Array:
    """Return distances in [m] between commanded and reached positions, shape (T, 3) each."""
    result: Array = np.linalg.norm(reached - commanded, axis=-1)
    return result


def orientation_errors(commanded: Array, reached: Array) -> Array:
    """Return angles in [rad] between two sequences of quaternions xyzw, shape (T, 4) each."""
    return np.asarray(quat_distance(commanded, reached), dtype=np.float64)


def velocity_saturation(positions: Array, limits: Array, step: float) -> float:
    """Return the share of frames in which any joint moves at its velocity limit.

    Args:
        positions: Of the joints in [rad] or [m], shape (T, N).
        limits: Largest speeds in [rad/s] or [m/s], shape (N,).
        step: Time between two frames in [s].
    """
    if len(positions) < 2:
        return 0.0
    speeds = np.abs(np.diff(positions, axis=0)) / step
    return float((speeds >= AT_LIMIT * limits).any(axis=1).mean())


def workspace_use(positions: Array, reach: float) -> float:
    """Return the volume of the box that a hand moved in, divided by the cube around its reach.

    Args:
        positions: Of the hand in [m], shape (T, 3).
        reach: Length of the stretched arm in [m].
    """
    valid = positions[np.isfinite(positions).all(axis=1)]
    if not len(valid):
        return 0.0
    return float(np.prod(np.ptp(valid, axis=0)) / (2.0 * reach) ** 3)


def smoothness(positions: Array, step: float) -> float:
    """Return the log dimensionless jerk of a trajectory; less is smoother.

    It is the integral of the squared jerk, times the duration cubed, divided by the squared
    maximum speed. Scaling a motion in time or size does not change it.

    Args:
        positions: In [m] or [rad], shape (T, N).
        step: Time between two frames in [s].
    """
    if len(positions) < 5:
        return math.nan
    velocity = np.gradient(positions, step, axis=0)
    fastest = float(np.linalg.norm(velocity, axis=1).max())
    if fastest < 1e-9:
        return 0.0
    jerk = np.gradient(np.gradient(velocity, step, axis=0), step, axis=0)
    duration = (len(positions) - 1) * step
    return float(np.log(np.sum(jerk**2) * step * duration**3 / fastest**2))


def latency(commanded: Array, reached: Array, step: float) -> float:
    """Return the delay in [s] at which two trajectories are closest, shape (T, N) each."""
    longest = min(int(LONGEST_LAG / step), len(commanded) - 2)
    if longest < 1:
        return 0.0
    errors = [
        float(np.mean((reached[delay:] - commanded[: len(commanded) - delay]) ** 2))
        for delay in range(longest + 1)
    ]
    best = int(np.argmin(errors))
    if not 0 < best < longest:
        return best * step
    # Vertex of the parabola through the best delay and its neighbours.
    before, at, after = errors[best - 1 : best + 2]
    bend = before - 2.0 * at + after
    return (best + (0.5 * (before - after) / bend if bend > 0.0 else 0.0)) * step


def path_length(positions: Array) -> float:
    """Return the length of a path of positions, shape (T, N), in [m]."""
    return float(np.linalg.norm(np.diff(positions, axis=0), axis=1).sum())
