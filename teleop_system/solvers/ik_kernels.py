# SPDX-License-Identifier: Apache-2.0
"""The quadratic program of an IK tick, and its solution if no limit is met."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers.chain_kernels import CHAIN  # noqa: F401
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

Records = NDArray[np.void]

PRICE = np.dtype(
    [
        *[("motion", np.float64), ("posture", np.float64), ("inertia", np.float64)],
        *[("lowest", np.float64), ("highest", np.float64)],
        *[("limit_pull", np.float64), ("limit", np.float64)],
    ],
    align=True,
)
"""What a joint's motion costs: any motion, its pull to the posture, a change of its step; the
positions where the margins of its limits begin [rad], the pull out of them, and the price of
motion within them."""
LIMIT = np.dtype(
    [
        *[("change", np.float64), ("step", np.float64)],
        *[("middle", np.float64), ("half_range", np.float64)],
    ],
    align=True,
)
"""Limits of a joint in a tick [rad]: largest change of its step, largest step, middle of its
range of positions, and half of that range."""


@kernel("void(f8[::1], f8[::1], f8[::1], PRICE[::1], f8[:, ::1], f8[::1])")
def regularize(
    joints: Array, last: Array, posture: Array, prices: Records, hessian: Array, pull: Array
) -> None:
    """Compute what joint motion costs, and the motion that costs least, times its prices.

    Args:
        joints: Joint positions [rad], shape (N,).
        last: The steps of the tick before [rad], shape (N,).
        posture: The preferred joint positions [rad], shape (N,).
        prices: Prices of the joints, shape (N,).
        hessian: Written: price of each joint's step, squared, in [1/rad^2], on the diagonal of
            zeros, shape (N, N).
        pull: Written: the step that costs least, times its prices, shape (N,).
    """
    hessian[:] = 0.0
    for n in range(joints.size):
        term = prices[n]
        hessian[n, n] = term["motion"]
        pull[n] = (posture[n] - joints[n]) * term["posture"] + last[n] * term["inertia"]
        beyond = min(max(joints[n], term["lowest"]), term["highest"]) - joints[n]
        if beyond != 0.0:
            pull[n] += beyond * term["limit_pull"]
            hessian[n, n] += abs(beyond) * term["limit"]


@kernel("void(f8[:, ::1], CHAIN[::1], f8[:, ::1], f8[:, ::1])")
def weigh_jacobian(velocities: Array, chains: Records, masks: Array, out: Array) -> None:
    """Compute the weighted Jacobians of all chains' frames, shape (6 C, N); see `assemble`."""
    for c in range(chains.size):
        position = chains[c]["position"]
        x, y, z = position[0], position[1], position[2]
        share, weight = chains[c]["share"], chains[c]["weight"]
        linear, angular = math.sqrt(share * weight[0]), math.sqrt(share * weight[1])
        for n in range(masks.shape[1]):
            if masks[c, n] == 0.0:
                for row in range(6):
                    out[6 * c + row, n] = 0.0
                continue
            a, b, g = velocities[3, n], velocities[4, n], velocities[5, n]
            # Velocity at p is that at the origin plus the cross product of ω and p.
            out[6 * c, n] = linear * (velocities[0, n] + b * z - g * y)
            out[6 * c + 1, n] = linear * (velocities[1, n] + g * x - a * z)
            out[6 * c + 2, n] = linear * (velocities[2, n] + a * y - b * x)
            out[6 * c + 3, n] = angular * a
            out[6 * c + 4, n] = angular * b
            out[6 * c + 5, n] = angular * g


@kernel(
    "void(f8[::1], f8[::1], f8[::1], PRICE[::1], f8[:, ::1], CHAIN[::1], f8[:, ::1], f8[:, ::1],"
    " f8[:, ::1], f8[::1])",
)
def assemble(
    joints: Array,
    last: Array,
    posture: Array,
    prices: Records,
    velocities: Array,
    chains: Records,
    masks: Array,
    jacobian: Array,
    hessian: Array,
    pull: Array,
) -> None:
    """Compute the program of a tick: minimise `½ xᵀ hessian x - pullᵀ x`.

    Args:
        joints: See `regularize`.
        last: See `regularize`.
        posture: See `regularize`.
        prices: See `regularize`.
        velocities: Spatial velocities at the world's origin per joint velocity, shape (6, N).
        chains: The chains with their planned steps, shape (C,).
        masks: 1 if a joint moves a chain, else 0, shape (C, N).
        jacobian: Written: the weighted Jacobian, shape (6 C, N).
        hessian: Written: shape (N, N).
        pull: Written: shape (N,).
    """
    size = pull.size
    regularize(joints, last, posture, prices, hessian, pull)
    weigh_jacobian(velocities, chains, masks, jacobian)
    for c in range(chains.size):
        for axis in range(6):
            row = jacobian[6 * c + axis]
            weight = chains[c]["share"] * chains[c]["weight"][axis // 3]
            step = math.sqrt(weight) * chains[c]["step"][axis]
            for i in range(size):
                factor = row[i]
                if factor != 0.0:
                    pull[i] += factor * step
                    for j in range(i, size):
                        hessian[i, j] += factor * row[j]
        damping = chains[c]["damping"]
        if damping != 0.0:
            for n in range(size):
                hessian[n, n] += damping * masks[c, n]
    for i in range(size):
        for j in range(i + 1, size):
            hessian[j, i] = hessian[i, j]


@kernel("b1(f8[:, ::1], f8[::1], f8[:, ::1], f8[::1])")
def solve(matrix: Array, right: Array, factor: Array, out: Array) -> bool:
    """Solve a system by Cholesky's factorisation; False if it is not positive definite.

    Args:
        matrix: Symmetric, shape (N, N).
        right: The right-hand side, shape (N,).
        factor: Work memory for the upper factor, shape (N, N).
        out: Written: the solution, shape (N,).
    """
    size = right.size
    factor[:] = matrix
    out[:] = right
    for k in range(size):
        if not factor[k, k] > 0.0:
            return False
        inverse = 1.0 / math.sqrt(factor[k, k])
        for j in range(k, size):
            factor[k, j] *= inverse
        out[k] *= inverse
        for i in range(k + 1, size):
            share = factor[k, i]
            out[i] -= share * out[k]
            if share != 0.0:
                for j in range(i, size):
                    factor[i, j] -= share * factor[k, j]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            out[k] -= factor[k, j] * out[j]
        out[k] /= factor[k, k]
    return True


@kernel("void(f8[::1], f8[::1], LIMIT[::1], f8[::1])")
def write_rest(joints: Array, last: Array, limits: Records, rest: Array) -> None:
    """Compute where joints come to rest if they brake.

    After a tick with step `x` a joint comes to rest at `x + x |x| / (2 c)` from where the tick
    began, with `c = a dt²`; if the last of its braking ticks is not a full one, a little before.

    Args:
        joints: Joint positions [rad], shape (N,).
        last: The step that led there [rad], shape (N,).
        limits: Limits of the joints, shape (N,).
        rest: Written: the resting positions [rad], shape (N,).
    """
    for n in range(joints.size):
        rest[n] = abs(last[n]) * (0.5 / limits[n]["change"]) * last[n] + joints[n]


@kernel("void(f8[::1], f8[::1], LIMIT[::1], f8[::1], f8[::1])")
def look_ahead(joints: Array, step: Array, limits: Records, ahead: Array, rest: Array) -> None:
    """Compute the state after a step.

    Args:
        joints: Joint positions [rad], shape (N,).
        step: The step [rad], shape (N,).
        limits: Limits of the joints, shape (N,).
        ahead: Written: joint positions after the step [rad], shape (N,).
        rest: Written: resting positions if the joints brake from then on [rad], shape (N,).
    """
    for n in range(joints.size):
        ahead[n] = joints[n] + step[n]
    write_rest(ahead, step, limits, rest)


@kernel("b1(f8[::1], f8[::1], f8[::1], LIMIT[::1])")
def is_within_limits(step: Array, last: Array, rest: Array, limits: Records) -> bool:
    """Return whether a step is within all limits of motion.

    Args:
        step: The step in question [rad], shape (N,).
        last: The step of the tick before [rad], shape (N,).
        rest: Resting positions of the joints if they brake after the step [rad], shape (N,).
        limits: Limits of the joints, shape (N,).
    """
    for n in range(step.size):
        limit = limits[n]
        if not (
            abs(step[n] - last[n]) <= limit["change"]
            and abs(step[n]) <= limit["step"]
            and abs(rest[n] - limit["middle"]) <= limit["half_range"]
        ):
            return False
    return True


@kernel(
    "b1(f8[:, ::1], f8[::1], f8[::1], f8[::1], LIMIT[::1], f8[:, ::1], f8[::1], f8[::1], f8[::1])",
)
def free_step(
    hessian: Array,
    pull: Array,
    joints: Array,
    last: Array,
    limits: Records,
    factor: Array,
    step: Array,
    ahead: Array,
    rest: Array,
) -> bool:
    """Solve the program without limits; return whether the step is within them anyway.

    Args:
        hessian: The matrix of the program, shape (N, N).
        pull: Its negated gradient, shape (N,).
        joints: Joint positions [rad], shape (N,).
        last: The step of the tick before [rad], shape (N,).
        limits: Limits of the joints, shape (N,).
        factor: Work memory, shape (N, N).
        step: Written: the step [rad], shape (N,).
        ahead: Written: joint positions after it [rad], shape (N,).
        rest: Written: resting positions if the joints brake from then on [rad], shape (N,).
    """
    if not solve(hessian, pull, factor, step):
        return False
    look_ahead(joints, step, limits, ahead, rest)
    return is_within_limits(step, last, rest, limits)
