# SPDX-License-Identifier: Apache-2.0
"""The joint motion of least cost within limits on speed, acceleration and jerk.

A quadratic program over all samples at once. Its constraints span four samples only, so that an
interior-point method needs only banded factorisations: half a minute of motion of twenty joints
takes about a second.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

Array = NDArray[np.float64]
Rows = list[Array]

STENCILS = (
    np.array([1.0]),
    np.array([-1.0, 1.0]),
    np.array([1.0, -2.0, 1.0]),
    np.array([-1.0, 3.0, -3.0, 1.0]),
)
"""Differences whose rows are limited: position, speed, acceleration, jerk."""
MAX_ITERATIONS = 60
CENTRING = 0.15
"""Fraction of the complementarity that is left after each iteration."""
CONVERGED = 1e-9
"""Complementarity at which the motion counts as optimal."""
INSIDE = 1e-6
"""Margin of the start from a limit, as a fraction of that limit."""


@dataclass(frozen=True, slots=True, eq=False)
class MotionLimits:
    """The limits of every joint, each of shape (N,).

    Attributes:
        lower: Smallest positions in [rad] or [m].
        upper: Largest positions.
        velocity: Largest speeds.
        acceleration: Largest accelerations.
        jerk: Largest jerks.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array

    def scaled(self, velocity: float, acceleration: float, jerk: float) -> "MotionLimits":
        """Return fractions of the limits on speed, acceleration and jerk; positions stay."""
        return MotionLimits(
            self.lower,
            self.upper,
            velocity * self.velocity,
            acceleration * self.acceleration,
            jerk * self.jerk,
        )


def limited_motion(
    prices: Array, pulls: Array, start: Array, limits: MotionLimits, step: float
) -> Array:
    """Return the motion x within limits that minimises the sum of ½ xᵀ P x - pᵀ x.

    Args:
        prices: Positive definite matrix P of every sample, shape (T, N, N).
        pulls: Vector p of every sample, shape (T, N).
        start: A posture within the limits, shape (N,).
        limits: The limits to keep.
        step: Time between two samples in [s].
    """
    return _InteriorPoint(prices, pulls, limits, step).solve(start)


class _InteriorPoint:
    """A primal-dual method that starts from rest, which all limits allow."""

    def __init__(self, prices: Array, pulls: Array, limits: MotionLimits, step: float) -> None:
        self._prices, self._pulls = prices, pulls
        self._size = pulls.shape
        half = np.minimum(0.5 * (limits.upper - limits.lower), 1e3)
        self._centre = np.clip(0.5 * (limits.upper + limits.lower), -1e3, 1e3)
        self._half = half
        # Every row then has to lie between -1 and 1.
        self._scales = (
            1.0 / half,
            1.0 / (limits.velocity * step),
            1.0 / (limits.acceleration * step**2),
            1.0 / (limits.jerk * step**3),
        )

    def solve(self, start: Array) -> Array:
        inner = (1.0 - INSIDE) * self._half
        rest = np.clip(start - self._centre, -inner, inner)
        motion = np.tile(rest, (self._size[0], 1))  # From the centre of the ranges.
        centred = self._pulls - self._priced(np.broadcast_to(self._centre, self._size))
        rows = self._rows(motion)
        above, below = ([np.full_like(row, 1e-3) for row in rows] for _ in range(2))
        count = 2 * sum(row.size for row in rows)
        for _ in range(MAX_ITERATIONS):
            high, low = [1.0 - row for row in rows], [1.0 + row for row in rows]
            gap = sum(float(np.vdot(a, b)) for a, b in zip(high + low, above + below, strict=True))
            if gap / count < CONVERGED:
                break
            aim = CENTRING * gap / count
            change = self._newton(motion, centred, high, low, above, below, aim)
            moved = self._rows(change)
            above_by = [
                aim / s - y + y / s * d for s, y, d in zip(high, above, moved, strict=True)
            ]
            below_by = [aim / s - y - y / s * d for s, y, d in zip(low, below, moved, strict=True)]
            fraction = _feasible_fraction(high + low, [-d for d in moved] + moved)
            motion = motion + fraction * change
            rows = self._rows(motion)
            fraction = _feasible_fraction(above + below, above_by + below_by)
            above = [y + fraction * d for y, d in zip(above, above_by, strict=True)]
            below = [y + fraction * d for y, d in zip(below, below_by, strict=True)]
        return motion + self._centre

    def _newton(
        self,
        motion: Array,
        pulls: Array,
        high: Rows,
        low: Rows,
        above: Rows,
        below: Rows,
        aim: float,
    ) -> Array:
        stiff = [y / s + z / t for y, s, z, t in zip(above, high, below, low, strict=True)]
        push = [aim / s - aim / t for s, t in zip(high, low, strict=True)]
        right = pulls - self._priced(motion) - self._spread(push)
        factor = cholesky_banded(self._banded(stiff), lower=True, check_finite=False)
        found: Array = cho_solve_banded((factor, True), right.ravel(), check_finite=False)
        return found.reshape(self._size)

    def _priced(self, motion: Array) -> Array:
        found: Array = np.einsum("tij,tj->ti", self._prices, motion)
        return found

    def _rows(self, motion: Array) -> Rows:
        """Return the limited differences of a motion, as fractions of their limits."""
        found = []
        for stencil, scale in zip(STENCILS, self._scales, strict=True):
            last = len(motion) - len(stencil) + 1
            found.append(scale * sum(k * motion[i : last + i] for i, k in enumerate(stencil)))
        return found

    def _spread(self, rows: Rows) -> Array:
        """Return the transpose of `_rows()`, applied to rows."""
        found = np.zeros(self._size)
        for stencil, scale, row in zip(STENCILS, self._scales, rows, strict=True):
            for i, k in enumerate(stencil):
                found[i : len(row) + i] += k * scale * row
        return found

    def _banded(self, stiff: Rows) -> Array:
        """Return the lower bands of the prices and the rows' stiffness."""
        samples, size = self._size
        reach = (len(STENCILS) - 1) * size
        bands = np.zeros((reach + 1, samples, size))
        for below in range(size):
            bands[below, :, : size - below] = np.diagonal(self._prices, -below, 1, 2)
        for stencil, scale, row in zip(STENCILS, self._scales, stiff, strict=True):
            weighted = row * scale**2
            for i, k in enumerate(stencil):
                for j in range(i + 1):
                    bands[(i - j) * size, j : len(row) + j] += k * stencil[j] * weighted
        return bands.reshape(reach + 1, samples * size)


def _feasible_fraction(values: Rows, changes: Rows) -> float:
    """Return the largest fraction of a change, at most 1, that keeps all values positive."""
    fraction = 1.0
    for value, change in zip(values, changes, strict=True):
        ratio = float((-change / value).max())
        fraction = min(fraction, 0.99 / ratio if ratio > 0.0 else 1.0)
    return fraction
