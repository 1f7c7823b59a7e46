# SPDX-License-Identifier: Apache-2.0
"""The desired step of each chain in a tick, and its distance from its target.

See `ChainTask` for the equations.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.kinematics_kernels import POSE  # noqa: F401
from teleop_system.utils.compiled import kernel
from teleop_system.utils.quaternion_kernels import (
    Quaternion,
    Vector,
    conjugate,
    multiply,
    rotation_vector,
)

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Records = NDArray[np.void]

CHAIN = np.dtype(
    [
        # The frame and its target: [m] and quaternions xyzw.
        *[("position", np.float64, 3), ("orientation", np.float64, 4)],
        *[("target_position", np.float64, 3), ("target_orientation", np.float64, 4)],
        # The desired step, linear [m] and angular [rad]; the damping for it, and its factor; the
        # part of its weights, squared, that the chain has in this tick.
        *[("step", np.float64, 6), ("damping", np.float64), ("damping_factor", np.float64)],
        *[("share", np.float64)],
        # Motion of the target per tick; error left by the last tick; and what every tick leaves
        # over because motions are curved.
        *[("motion", np.float64, 6), ("residual", np.float64, 6), ("bias", np.float64, 6)],
        # Linear and angular: planned deceleration per tick; largest change of the target's motion
        # that is followed without lag; largest step; weight, squared.
        *[("braking", np.float64, 2), ("jump", np.float64, 2)],
        *[("largest_step", np.float64, 2), ("weight", np.float64, 2)],
    ],
    align=True,
)
"""The state of a chain in one tick."""

FULL_DISTANCE, FULL_ANGLE = 0.1, 0.5
"""Errors [m], [rad] up to which a chain has all of its weight."""
SMALLEST_SHARE = 1e-3
"""Smallest factor on a chain's squared weights."""
ACCEPTED = -1
"""Returned if all targets are accepted."""
UNIT_TOLERANCE = 1e-3
"""Largest difference of a target quaternion's length from 1."""
FARTHEST = 1e6
"""Coordinates of a target beyond this [m] are limited to it, so that squares do not overflow."""
LEVER = 0.5
"""Distance from a joint to the frame it moves that damping assumes, in [m]."""
CURVED = 0.02**2
"""Square of the part of a target's motion that a tick may leave over because it is curved."""


@kernel(
    "Tuple((UniTuple(f8, 3), UniTuple(f8, 3)))"
    "(UniTuple(f8, 3), UniTuple(f8, 4), UniTuple(f8, 3), UniTuple(f8, 4))"
)
def pose_difference(
    position: Vector, orientation: Quaternion, target: Vector, target_orientation: Quaternion
) -> tuple[Vector, Vector]:
    """Return the translation [m] and rotation vector [rad] from a pose to another, world axes."""
    translation = (target[0] - position[0], target[1] - position[1], target[2] - position[2])
    return translation, rotation_vector(multiply(target_orientation, conjugate(orientation)))


@kernel("void(CHAIN, f8[::1])")
def write_error(chain: Records, error: Array) -> None:
    """Set the error of a chain: linear [m], then angular [rad], world axes."""
    p, q = chain["position"], chain["orientation"]
    t, r = chain["target_position"], chain["target_orientation"]
    linear, angular = pose_difference(
        (p[0], p[1], p[2]), (q[0], q[1], q[2], q[3]), (t[0], t[1], t[2]), (r[0], r[1], r[2], r[3])
    )
    for n in range(3):
        error[n], error[3 + n] = linear[n], angular[n]


@kernel("f8(f8[::1])")
def norm(vector: Array) -> float:
    """Return the length of a vector of three."""
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])


@kernel("void(CHAIN[::1], POSE[::1])")
def observe(chains: Records, frames: Records) -> None:
    """Store the poses of the frames."""
    for c in range(chains.size):
        for n in range(3):
            chains[c]["position"][n] = frames[c]["position"][n]
        for n in range(4):
            chains[c]["orientation"][n] = frames[c]["orientation"][n]


@kernel("UniTuple(f8, 2)(CHAIN[::1], POSE[::1], i8[::1])")
def measure(chains: Records, frames: Records, indices: Indices) -> tuple[float, float]:
    """Store the poses of the frames and the errors that are left of all chains.

    Args:
        chains: All chains, shape (C,).
        frames: Poses of their frames, shape (C,).
        indices: Indices of the chains that have a target, shape (K,).

    Returns:
        The largest distance [m] and angle [rad] of these from their targets.
    """
    observe(chains, frames)
    for c in range(chains.size):
        write_error(chains[c], chains[c]["residual"][:])
    distance, angle = 0.0, 0.0
    for n in range(indices.size):
        residual = chains[indices[n]]["residual"][:]
        distance = max(distance, norm(residual[:3]))
        angle = max(angle, norm(residual[3:]))
    return distance, angle


@kernel("i8(CHAIN[::1], f8[:, ::1], i8[::1])")
def set_targets(chains: Records, targets: Array, indices: Indices) -> int:
    """Store new targets; see `plan`."""
    for n in range(indices.size):
        x, y, z = targets[n, 0], targets[n, 1], targets[n, 2]
        a, b, c, d = targets[n, 3], targets[n, 4], targets[n, 5], targets[n, 6]
        squared = a * a + b * b + c * c + d * d
        is_unit = 1.0 - 2.0 * UNIT_TOLERANCE < squared < 1.0 + 2.0 * UNIT_TOLERANCE
        is_finite = math.isfinite(x) and math.isfinite(y) and math.isfinite(z)
        if not (is_unit and is_finite):
            return n
        chain, k = chains[indices[n]], 1.0 / math.sqrt(squared)
        for axis in range(3):
            chain["target_position"][axis] = max(-FARTHEST, min(FARTHEST, targets[n, axis]))
        for part in range(4):
            chain["target_orientation"][part] = targets[n, 3 + part] * k
    return ACCEPTED


@kernel("void(f8[::1], f8[::1], f8)")
def approach(old: Array, new: Array, limit: float) -> None:
    """Move a vector of three towards another one, by at most `limit`."""
    dx, dy, dz = new[0] - old[0], new[1] - old[1], new[2] - old[2]
    change = math.sqrt(dx * dx + dy * dy + dz * dz)
    if change > limit:
        k = limit / change
        old[0], old[1], old[2] = old[0] + dx * k, old[1] + dy * k, old[2] + dz * k
    else:
        old[0], old[1], old[2] = new[0], new[1], new[2]


@kernel("UniTuple(f8, 2)(f8[::1], f8, f8)")
def shorten(error: Array, braking: float, largest: float) -> tuple[float, float]:
    """Shorten an error to the step that closes it without overshoot; return both lengths."""
    left = norm(error)
    if left < 1e-12:
        return left, left
    step = min(math.sqrt(braking * (braking + 2.0 * left)) - braking, largest)
    k = step / left
    error[0], error[1], error[2] = error[0] * k, error[1] * k, error[2] * k
    return step, left


@kernel("b1(CHAIN, f8[::1], f8[::1], f8[::1])")
def follows_closely(chain: Records, error: Array, moved: Array, left: Array) -> bool:
    """Continue as in the last tick if that closes the whole error; False if it does not."""
    braking, residual = chain["braking"], chain["residual"][:]
    if norm(left[:3]) >= braking[0] or norm(left[3:]) >= braking[1]:
        return False
    # Nothing has to be shortened. The error that every tick leaves over is added, because steps
    # are straight and motions are not.
    is_curved = norm(residual[:3]) ** 2 < CURVED * norm(moved[:3]) ** 2 and (
        norm(residual[3:]) ** 2 < CURVED * norm(moved[3:]) ** 2
    )
    for n in range(6):
        chain["bias"][n] = chain["bias"][n] + residual[n] if is_curved else 0.0
        chain["step"][n] = error[n] + chain["bias"][n]
        chain["motion"][n] = moved[n]
    chain["damping"], chain["share"] = 0.0, 1.0
    return True


@kernel("i8(CHAIN[::1], f8[:, ::1], i8[::1], b1, f8[:, ::1])")
def plan(
    chains: Records, targets: Array, indices: Indices, is_new_start: bool, work: Array
) -> int:
    """Store new targets, and compute the step, damping and share of every chain.

    Args:
        chains: All chains, shape (C,).
        targets: Positions [m] and quaternions xyzw, shape (C, 7); the first K are used.
        indices: Index of each target's chain, shape (K,).
        is_new_start: Whether targets are taken to be at rest, and no error to be left over.
        work: Work memory, shape (3, 6).

    Returns:
        ACCEPTED, or the index of the first target that is not finite or not of unit length.
    """
    refused = set_targets(chains, targets, indices)
    if refused != ACCEPTED:
        return refused
    error, moved, left = work[0], work[1], work[2]
    for c in range(chains.size):
        chain = chains[c]
        write_error(chain, error)
        for n in range(6):
            if is_new_start:
                chain["bias"][n], chain["motion"][n], chain["residual"][n] = 0.0, 0.0, error[n]
            moved[n] = error[n] - chain["residual"][n]
            left[n] = error[n] - chain["step"][n]
        if follows_closely(chain, error, moved, left):
            continue
        approach(chain["motion"][:3], moved[:3], chain["jump"][0])
        approach(chain["motion"][3:], moved[3:], chain["jump"][1])
        for n in range(6):
            chain["bias"][n] = 0.0
            left[n] = error[n] - chain["motion"][n]
        braking, largest, weight = chain["braking"], chain["largest_step"], chain["weight"]
        step, distance = shorten(left[:3], braking[0], largest[0])
        rotation, angle = shorten(left[3:], braking[1], largest[1])
        for n in range(6):
            chain["step"][n] = chain["motion"][n] + left[n]
        share = 1.0 / max(1.0, distance / FULL_DISTANCE, angle / FULL_ANGLE)
        share = max(SMALLEST_SHARE, share)
        chain["share"] = share
        damping = share * (weight[0] * step * LEVER + weight[1] * rotation)
        chain["damping"] = chain["damping_factor"] * damping
    return ACCEPTED
