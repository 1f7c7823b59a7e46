# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of DG-5F finger tips.

Damped Gauss-Newton (Levenberg-Marquardt) minimises the squares of: tip position errors; errors of
the vectors from thumb tip to other tips, which fade into distance errors during a pinch; missing
clearance between fingers; deviation from a natural posture; and change. Joints that press against
their limits are frozen. All hands are solved in one batch, and every solution starts from the
last one, so a few steps per sample suffice.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.modules.hand_teleop.config import FingertipConfig
from teleop_system.modules.hand_teleop.dg5f import (
    CURL_LOWER,
    FINGER_RADIUS,
    JOINT_COUNT,
    UPPER,
    Array,
    FingerPoints,
    finger_points,
)
from teleop_system.modules.hand_teleop.gap_model import GapModel

_TIPS = slice(0, 15)
_VECTORS = slice(15, 27)
_PINCHES = slice(27, 31)
_ROWS = 31

# Natural posture: the last joint follows the one before it, and the palm stays flat.
_POSTURE_ROWS = np.zeros((5, JOINT_COUNT))
for _finger, _bend in enumerate((1.0, 0.7, 0.7, 0.7)):
    _POSTURE_ROWS[_finger, 4 * _finger + 2], _POSTURE_ROWS[_finger, 4 * _finger + 3] = -_bend, 1.0
_POSTURE_ROWS[4, 16] = 1.0

_LEAST_DAMPING, _MOST_DAMPING = 1e-5, 1e2
_LEAST_CURVATURE = 1e-8
_STIFF = 1e4
"""Curvature that fixes a joint; usual values are 1e-5 to 1."""
_ACTIVE_SETS = 3
"""Number of iterations that select the active gaps of a step."""
_CLOSED = 1e-6
_LARGEST_STEP = 0.08
"""Largest joint motion per step in [rad]. The gaps are linearised, and a long step could move one
finger through another."""
_CONVERGED = 1e-5
"""Joint motion in [rad] too small to judge the quality of a step."""
_SETTLED = 1e-3
"""Joint motion in [rad] below which further steps are not worthwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Quantities that stay constant during the steps of one sample.

    Attributes:
        targets: Target positions of the tips in the hand frame in [m], shape (5, H, 3).
        thumb_vectors: From the thumb's target to the other targets in [m], shape (4, H, 3).
        vector_weights: Square roots of weights, shape (4, H, 1).
        pinch_weights: Square roots of weights, shape (4, H).
        start: The last solution in [rad], shape (H, 20).
    """

    targets: Array
    thumb_vectors: Array
    vector_weights: Array
    pinch_weights: Array
    start: Array


class FingertipSolver:
    """Solves H right hands; a left hand must be mirrored by the caller.

    Args:
        config: Weights and limits.
        hands: Number of hands H.

    Attributes:
        positions: The last solution in [rad], shape (H, 20).
    """

    def __init__(self, config: FingertipConfig, hands: int = 1) -> None:
        self._config = config
        self._hands = hands
        self._tip_root = np.sqrt(config.tip_weight)
        self._pinch_distance = 2.0 * FINGER_RADIUS + config.pinch_gap
        self._gaps = GapModel(config, hands)
        self._posture = config.posture_weight * _POSTURE_ROWS.T @ _POSTURE_ROWS
        self._curvature = self._posture + config.change_weight * np.eye(JOINT_COUNT)
        self._rows = np.zeros((hands, _ROWS, JOINT_COUNT))
        # Views of the blocks that change, so that each is written by one assignment.
        tips = self._rows[:, _TIPS].reshape(hands, 5, 3, 5, 4)
        self._tip_blocks = np.einsum("hfcfj->fhjc", tips)
        vectors = self._rows[:, _VECTORS].reshape(hands, 4, 3, 5, 4)
        self._vector_blocks = np.einsum("hfcfj->fhjc", vectors[:, :, :, 1:])
        self._vector_thumb = vectors[:, :, :, 0].transpose(1, 0, 3, 2)
        pinches = self._rows[:, _PINCHES].reshape(hands, 4, 5, 4)
        self._pinch_blocks = np.einsum("hffj->fhj", pinches[:, :, 1:])
        self._pinch_thumb = pinches[:, :, 0].transpose(1, 0, 2)
        self.reset(np.zeros((hands, JOINT_COUNT)))

    def reset(self, positions: Array) -> None:
        """Start from positions [rad], shape (H, 20)."""
        self.positions: Array = np.clip(positions, CURL_LOWER, UPPER)
        self._fingers = finger_points(self.positions, extension=self._config.tip_extension)
        self._damping = np.full((self._hands, 1), _LEAST_DAMPING)

    def solve(self, tips: Array, pinch_distances: Array) -> Array:
        """Take a few steps towards the targets; return joint positions [rad], shape (H, 20).

        Args:
            tips: Target positions of the tips in the right hand's frame in [m], shape (5, H, 3).
            pinch_distances: From the person's thumb tip to the other tips in [m], shape (4, H).
        """
        problem = self._define_problem(tips, pinch_distances)
        self._gaps.refresh(self.positions)
        positions, fingers = self.positions, self._fingers
        residuals = self._residuals(problem, fingers)
        cost = self._cost(problem, positions, residuals)
        for _ in range(self._config.iterations):
            self._fill_rows(problem, fingers)
            trial = self._step(problem, positions, residuals)
            trial_fingers = finger_points(trial, extension=self._config.tip_extension)
            trial_residuals = self._residuals(problem, trial_fingers)
            trial_cost = self._cost(problem, trial, trial_residuals)
            moved = np.abs(trial - positions).max(axis=1, keepdims=True)
            better = (trial_cost < cost)[:, None]
            self._adapt(better, moved)
            if not better.all():
                trial = np.where(better, trial, positions)
                trial_fingers = finger_points(trial, extension=self._config.tip_extension)
                trial_residuals = np.where(better, trial_residuals, residuals)
                trial_cost = np.minimum(trial_cost, cost)
            positions, fingers, residuals, cost = trial, trial_fingers, trial_residuals, trial_cost
            if moved.max() < _SETTLED:
                break
        self.positions, self._fingers = positions, fingers
        return positions

    def _adapt(self, better: NDArray[np.bool_], moved: Array) -> None:
        """Decrease the damping after a better step, and increase it after a worse one."""
        factor = np.where(better, 0.25, np.where(moved < _CONVERGED, 1.0, 8.0))
        damping = np.maximum(self._damping * factor, _LEAST_DAMPING)
        self._damping = np.minimum(damping, _MOST_DAMPING)

    def _define_problem(self, tips: Array, pinch_distances: Array) -> _Problem:
        config = self._config
        share = (config.pinch_open - pinch_distances) / (config.pinch_open - config.pinch_closed)
        share = np.minimum(np.maximum(share, 0.0), 1.0)
        share = share * share * (3.0 - 2.0 * share)  # (4, H), smooth at both ends.
        vector_weights = np.sqrt(config.thumb_weight * (1.0 - share))[..., None]
        pinch_weights = np.sqrt(config.pinch_weight * share)
        return _Problem(tips, tips[1:] - tips[0], vector_weights, pinch_weights, self.positions)

    def _residuals(self, problem: _Problem, fingers: FingerPoints) -> Array:
        """Return the errors of tips, thumb vectors and pinches, shape (H, 31)."""
        residuals = np.empty((self._hands, _ROWS))
        tips = fingers.tips
        vectors = tips[1:] - tips[0]
        by_finger = residuals[:, : _PINCHES.start].reshape(self._hands, 9, 3).transpose(1, 0, 2)
        np.multiply(tips - problem.targets, self._tip_root, out=by_finger[:5])
        vector_errors = vectors - problem.thumb_vectors
        np.multiply(vector_errors, problem.vector_weights, out=by_finger[5:])
        excess = np.sqrt((vectors * vectors).sum(axis=-1)) - self._pinch_distance
        np.multiply(excess, problem.pinch_weights, out=residuals[:, _PINCHES].T)
        return residuals

    def _cost(self, problem: _Problem, positions: Array, residuals: Array) -> Array:
        """Return the value of the objective, shape (H,)."""
        shortfall = np.maximum(self._gaps.shortfall(positions), 0.0)
        change = positions - problem.start
        cost: Array = _dots(residuals, residuals) + _dots(shortfall, shortfall)
        cost += _dots(positions, positions @ self._posture)
        cost += self._config.change_weight * _dots(change, change)
        return cost

    def _fill_rows(self, problem: _Problem, fingers: FingerPoints) -> None:
        """Compute the derivatives of the residuals, shape (H, 31, 20)."""
        tips, jacobians = fingers.tips, fingers.jacobians[:, :, 3]  # (5, H, 3), (5, H, 4, 3)
        np.multiply(jacobians, self._tip_root, out=self._tip_blocks)
        weights = problem.vector_weights[..., None]
        np.multiply(jacobians[1:], weights, out=self._vector_blocks)
        np.multiply(jacobians[0], -weights, out=self._vector_thumb)
        if problem.pinch_weights.any():
            vectors = tips[1:] - tips[0]
            distance = np.maximum(np.sqrt((vectors * vectors).sum(axis=-1)), 1e-6)
            direction = (vectors * (problem.pinch_weights / distance)[..., None])[..., None]
            self._pinch_blocks[:] = np.matmul(jacobians[1:], direction)[..., 0]
            self._pinch_thumb[:] = np.matmul(jacobians[0], -direction)[..., 0]
        else:
            self._rows[:, _PINCHES] = 0.0

    def _step(self, problem: _Problem, positions: Array, residuals: Array) -> Array:
        """Return the next trial positions in [rad], shape (H, 20), within the joint limits."""
        hessian = np.matmul(self._rows.transpose(0, 2, 1), self._rows) + self._curvature
        gradient = np.matmul(residuals[:, None], self._rows)[:, 0] + positions @ self._posture
        gradient += self._config.change_weight * (positions - problem.start)
        below = np.maximum(CURL_LOWER - positions, -_LARGEST_STEP)
        above = np.minimum(UPPER - positions, _LARGEST_STEP)
        shortfall, rows = self._gaps.shortfall(positions), self._gaps.rows
        active = shortfall > 0.0
        for _ in range(_ACTIVE_SETS):
            curvature, slope = hessian, gradient
            if active.any():
                chosen = rows * active[:, :, None]
                curvature = hessian + np.matmul(chosen.transpose(0, 2, 1), chosen)
                slope = gradient - np.matmul(shortfall[:, None], chosen)[:, 0]
            step = self._bounded_step(curvature, slope, below, above)
            # A gap that the step closes too far becomes active, and the step is computed again.
            after = shortfall - np.matmul(rows, step[:, :, None])[:, :, 0]
            closed = (after > _CLOSED) & ~active
            if not closed.any():
                break
            active |= closed
        trial: Array = np.minimum(np.maximum(positions + step, CURL_LOWER), UPPER)
        return trial

    def _bounded_step(self, hessian: Array, gradient: Array, below: Array, above: Array) -> Array:
        """Return the damped Gauss-Newton step [rad], shape (H, 20), within its bounds."""
        hessian = hessian.copy()
        diagonal = np.einsum("hjj->hj", hessian)  # A view.
        diagonal += self._damping * diagonal + _LEAST_CURVATURE
        # A joint that presses against its limit is frozen.
        pressed = ((below >= 0.0) & (gradient > 0.0)) | ((above <= 0.0) & (gradient < 0.0))
        diagonal += _STIFF * pressed
        step = _solve(hessian, np.negative(gradient))
        ends = np.minimum(np.maximum(step, below), above)
        outside = _STIFF * (np.abs(step - ends) > _CONVERGED)
        if outside.any():
            # Fix joints that would leave their bounds at the bounds, and solve for the others.
            diagonal += outside
            step = _solve(hessian, outside * ends - gradient)
            ends = np.minimum(np.maximum(step, below), above)
        return ends


def _dots(first: Array, second: Array) -> Array:
    products: Array = np.einsum("hi,hi->h", first, second)
    return products


def _solve(matrices: Array, vectors: Array) -> Array:
    solution: Array = np.asarray(np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0])
    return solution
