# SPDX-License-Identifier: Apache-2.0
"""The quadratic program of an IK tick, and its solution where nothing limits it."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]

STEP, DAMPING, SHARE = 14, 20, 21
"""Columns of the table of `chain_kernels`, which another file's kernels cannot import."""


@kernel("void(f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])")
def regularize(
    terms: Array, joints: Array, last: Array, posture: Array, prices: Array, pull: Array
) -> None:
    """Write what joint motion costs, and the motion that costs least, times its prices.

    Args:
        terms: Price of any motion, pull to the posture, price of a change of the step, positions
            where the margins of the limits begin, pull away from and price within them, (7, N).
        joints: Joint positions [rad], shape (N,).
        last: The steps of the tick before [rad], shape (N,).
        posture: The preferred joint positions [rad], shape (N,).
        prices: Of each joint's step, squared, in [1/rad^2], shape (N,).
        pull: The step that costs least, times its prices, shape (N,).
    """
    for n in range(joints.size):
        prices[n] = terms[0, n]
        pull[n] = (posture[n] - joints[n]) * terms[1, n] + last[n] * terms[2, n]
        way = min(max(joints[n], terms[3, n]), terms[4, n]) - joints[n]
        if way != 0.0:
            pull[n] += way * terms[5, n]
            prices[n] += abs(way) * terms[6, n]


@kernel("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def weigh_jacobian(
    velocities: Array, chains: Array, weights: Array, masks: Array, out: Array
) -> None:
    """Write the weighted Jacobians of all chains' frames, shape (6 C, N); see `assemble`."""
    for c in range(chains.shape[0]):
        x, y, z = chains[c, 0], chains[c, 1], chains[c, 2]
        share = math.sqrt(chains[c, SHARE])
        linear, angular = share * weights[c, 0], share * weights[c, 1]
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
    "void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1],"
    " f8[::1])",
)
def assemble(
    velocities: Array,
    chains: Array,
    weights: Array,
    masks: Array,
    jacobian: Array,
    hessian: Array,
    prices: Array,
    pull: Array,
) -> None:
    """Write the program of a tick: minimise `½ xᵀ hessian x - pullᵀ x`.

    Args:
        velocities: Spatial velocities at the world's origin per joint velocity, shape (6, N).
        chains: The table of `chain_kernels`: of each chain the position [m], and the step asked
            for, its damping and share.
        weights: Of positions, orientations and damping of each chain, shape (C, 3).
        masks: Whether a joint moves a chain, shape (C, N).
        jacobian: Written: the weighted Jacobian, shape (6 C, N).
        hessian: Written: shape (N, N).
        prices: What motion of the joints costs besides, shape (N,).
        pull: What `regularize` gave; the chains' own is added, shape (N,).
    """
    size = pull.size
    weigh_jacobian(velocities, chains, weights, masks, jacobian)
    hessian[:] = 0.0
    for c in range(chains.shape[0]):
        share = math.sqrt(chains[c, SHARE])
        for axis in range(6):
            row = jacobian[6 * c + axis]
            wanted = share * weights[c, 0 if axis < 3 else 1] * chains[c, STEP + axis]
            for i in range(size):
                factor = row[i]
                if factor != 0.0:
                    pull[i] += factor * wanted
                    for j in range(i, size):
                        hessian[i, j] += factor * row[j]
        damping = chains[c, DAMPING] * weights[c, 2]
        if damping != 0.0:
            for n in range(size):
                hessian[n, n] += damping * masks[c, n]
    for i in range(size):
        hessian[i, i] += prices[i]
        for j in range(i + 1, size):
            hessian[j, i] = hessian[i, j]


@kernel("b1(f8[:, ::1], f8[::1], f8[:, ::1], f8[::1])")
def solve(matrix: Array, right: Array, factor: Array, out: Array) -> bool:
    """Solve a symmetric positive definite system by Cholesky's factorisation; False where not.

    Args:
        matrix: Shape (N, N).
        right: The right-hand side, shape (N,).
        factor: Memory for the upper factor, shape (N, N).
        out: The solution, shape (N,).
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


@kernel("b1(f8[::1], f8[::1], f8[::1], f8[:, ::1])")
def is_allowed(step: Array, last: Array, rest: Array, limits: Array) -> bool:
    """Tell whether a step is within all limits of motion.

    Args:
        step: The step in question [rad], shape (N,).
        last: The step of the tick before [rad], shape (N,).
        rest: Where the joints come to rest if they brake after the step [rad], shape (N,).
        limits: Largest change of a step, largest step, middle of the range of positions and half
            of that range [rad], shape (4, N).
    """
    for n in range(step.size):
        if not (
            abs(step[n] - last[n]) <= limits[0, n]
            and abs(step[n]) <= limits[1, n]
            and abs(rest[n] - limits[2, n]) <= limits[3, n]
        ):
            return False
    return True


@kernel(
    "b1(f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8[::1])",
)
def free_step(
    hessian: Array,
    pull: Array,
    joints: Array,
    last: Array,
    limits: Array,
    factor: Array,
    step: Array,
    ahead: Array,
    rest: Array,
) -> bool:
    """Solve the program as if there were no limits; tell whether the step keeps them all the same.

    Args:
        hessian: As of `assemble`, as `pull`.
        pull: Likewise.
        joints: Joint positions [rad], shape (N,).
        last: The step of the tick before [rad], shape (N,).
        limits: As of `is_allowed`.
        factor: Memory, shape (N, N).
        step: The step [rad], shape (N,).
        ahead: Joint positions after it [rad], shape (N,).
        rest: Where the joints come to rest if they brake from then on [rad], shape (N,).
    """
    if not solve(hessian, pull, factor, step):
        return False
    for n in range(step.size):
        ahead[n] = joints[n] + step[n]
        rest[n] = abs(step[n]) * (0.5 / limits[0, n]) * step[n] + ahead[n]
    return is_allowed(step, last, rest, limits)
