# SPDX-License-Identifier: Apache-2.0
"""Joint positions that bring the finger tips of DG-5F hands where a person's are.

Damped Gauss-Newton (Levenberg-Marquardt) on the squares of: the way from the wrist to each tip;
the way from the thumb's tip to each other tip, which fades into the mere distance of the two as
they pinch; gaps between fingers that are too small; an unnatural bend; and any change. Joint
limits are kept by freezing the joints that press against them. Any number of hands is solved in
one batch, and every solution starts from the last, so that a few steps per sample suffice.
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
_WAYS = slice(15, 27)
_PINCHES = slice(27, 31)
_ROWS = 31

# The natural bend: the last joint follows the one before it, the palm's arch stays flat.
_POSTURE_ROWS = np.zeros((5, JOINT_COUNT))
for _finger, _bend in enumerate((1.0, 0.7, 0.7, 0.7)):
    _POSTURE_ROWS[_finger, 4 * _finger + 2], _POSTURE_ROWS[_finger, 4 * _finger + 3] = -_bend, 1.0
_POSTURE_ROWS[4, 16] = 1.0

_LEAST_DAMPING, _MOST_DAMPING = 1e-5, 1e2
_LEAST_CURVATURE = 1e-8
_STIFF = 1e4
"""Curvature that holds a joint where it should be; others have 1e-5 to 1."""
_ACTIVE_SETS = 3
"""How often the gaps that matter to a step are chosen."""
_CLOSED = 1e-6
_LARGEST_STEP = 0.08
"""How far a joint may move in one step in [rad]: gaps are linear about the start, and a long step
could take one finger through another."""
_CONVERGED = 1e-5
"""Change of all joints in [rad] that says nothing about the step's quality."""
_SETTLED = 1e-3
"""Change of all joints in [rad] after which another step would gain next to nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """What does not change from step to step of one sample.

    Attributes:
        targets: Where the tips should be in the hand frame in [m], shape (5, H, 3).
        ways: From the thumb's to the other targets in [m], shape (4, H, 3).
        way_weights: Square roots of weights, shape (4, H, 1).
        pinch_weights: Square roots of weights, shape (4, H).
        start: The last solution in [rad], shape (H, 20).
    """

    targets: Array
    ways: Array
    way_weights: Array
    pinch_weights: Array
    start: Array


class FingertipSolver:
    """Follows finger tips with H right hands; a left hand comes mirrored.

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
        # Views of the blocks that change, so that each is written in one go.
        tips = self._rows[:, _TIPS].reshape(hands, 5, 3, 5, 4)
        self._tip_blocks = np.einsum("hfcfj->fhjc", tips)
        ways = self._rows[:, _WAYS].reshape(hands, 4, 3, 5, 4)
        self._way_blocks = np.einsum("hfcfj->fhjc", ways[:, :, :, 1:])
        self._way_thumb = ways[:, :, :, 0].transpose(1, 0, 3, 2)
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
        """Return joint positions [rad], shape (H, 20), a few steps nearer to the targets.

        Args:
            tips: Where the tips should be in the right hand's frame in [m], shape (5, H, 3).
            pinch_distances: From the person's thumb to the other tips in [m], shape (4, H).
        """
        problem = self._pose(tips, pinch_distances)
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
        """Trust the next step more after a good one; one too short to matter says nothing."""
        factor = np.where(better, 0.25, np.where(moved < _CONVERGED, 1.0, 8.0))
        damping = np.maximum(self._damping * factor, _LEAST_DAMPING)
        self._damping = np.minimum(damping, _MOST_DAMPING)

    def _pose(self, tips: Array, pinch_distances: Array) -> _Problem:
        config = self._config
        share = (config.pinch_open - pinch_distances) / (config.pinch_open - config.pinch_closed)
        share = np.minimum(np.maximum(share, 0.0), 1.0)
        share = share * share * (3.0 - 2.0 * share)  # (4, H), smooth at both ends.
        way_weights = np.sqrt(config.thumb_weight * (1.0 - share))[..., None]
        pinch_weights = np.sqrt(config.pinch_weight * share)
        return _Problem(tips, tips[1:] - tips[0], way_weights, pinch_weights, self.positions)

    def _residuals(self, problem: _Problem, fingers: FingerPoints) -> Array:
        """Return what should vanish of tips, ways and pinches, shape (H, 31)."""
        residuals = np.empty((self._hands, _ROWS))
        tips = fingers.tips
        ways = tips[1:] - tips[0]
        by_finger = residuals[:, : _PINCHES.start].reshape(self._hands, 9, 3).transpose(1, 0, 2)
        np.multiply(tips - problem.targets, self._tip_root, out=by_finger[:5])
        np.multiply(ways - problem.ways, problem.way_weights, out=by_finger[5:])
        lack = np.sqrt((ways * ways).sum(axis=-1)) - self._pinch_distance
        np.multiply(lack, problem.pinch_weights, out=residuals[:, _PINCHES].T)
        return residuals

    def _cost(self, problem: _Problem, positions: Array, residuals: Array) -> Array:
        """Return the sum of all that is minimised, shape (H,)."""
        lack = np.maximum(self._gaps.lack_at(positions), 0.0)
        change = positions - problem.start
        cost: Array = _dots(residuals, residuals) + _dots(lack, lack)
        cost += _dots(positions, positions @ self._posture)
        cost += self._config.change_weight * _dots(change, change)
        return cost

    def _fill_rows(self, problem: _Problem, fingers: FingerPoints) -> None:
        """Fill in the derivatives of the residuals, shape (H, 31, 20)."""
        tips, jacobians = fingers.tips, fingers.jacobians[:, :, 3]  # (5, H, 3), (5, H, 4, 3)
        np.multiply(jacobians, self._tip_root, out=self._tip_blocks)
        weights = problem.way_weights[..., None]
        np.multiply(jacobians[1:], weights, out=self._way_blocks)
        np.multiply(jacobians[0], -weights, out=self._way_thumb)
        if problem.pinch_weights.any():
            ways = tips[1:] - tips[0]
            apart = np.maximum(np.sqrt((ways * ways).sum(axis=-1)), 1e-6)
            direction = (ways * (problem.pinch_weights / apart)[..., None])[..., None]
            self._pinch_blocks[:] = np.matmul(jacobians[1:], direction)[..., 0]
            self._pinch_thumb[:] = np.matmul(jacobians[0], -direction)[..., 0]
        else:
            self._rows[:, _PINCHES] = 0.0

    def _step(self, problem: _Problem, positions: Array, residuals: Array) -> Array:
        """Return the next positions to try in [rad], shape (H, 20), within the joint limits."""
        hessian = np.matmul(self._rows.transpose(0, 2, 1), self._rows) + self._curvature
        gradient = np.matmul(residuals[:, None], self._rows)[:, 0] + positions @ self._posture
        gradient += self._config.change_weight * (positions - problem.start)
        below = np.maximum(CURL_LOWER - positions, -_LARGEST_STEP)
        above = np.minimum(UPPER - positions, _LARGEST_STEP)
        lack, rows = self._gaps.lack_at(positions), self._gaps.rows
        lacking = lack > 0.0
        for _ in range(_ACTIVE_SETS):
            curvature, slope = hessian, gradient
            if lacking.any():
                chosen = rows * lacking[:, :, None]
                curvature = hessian + np.matmul(chosen.transpose(0, 2, 1), chosen)
                slope = gradient - np.matmul(lack[:, None], chosen)[:, 0]
            step = self._bounded_step(curvature, slope, below, above)
            # A gap that the step would close too far counts as well, and the step is made anew.
            after = lack - np.matmul(rows, step[:, :, None])[:, :, 0]
            closed = (after > _CLOSED) & ~lacking
            if not closed.any():
                break
            lacking |= closed
        trial: Array = np.minimum(np.maximum(positions + step, CURL_LOWER), UPPER)
        return trial

    def _bounded_step(self, hessian: Array, gradient: Array, below: Array, above: Array) -> Array:
        """Return the damped Gauss-Newton step [rad], shape (H, 20), within its bounds."""
        hessian = hessian.copy()
        diagonal = np.einsum("hjj->hj", hessian)  # A view.
        diagonal += self._damping * diagonal + _LEAST_CURVATURE
        # A joint that presses against its limit stays there.
        pressed = ((below >= 0.0) & (gradient > 0.0)) | ((above <= 0.0) & (gradient < 0.0))
        diagonal += _STIFF * pressed
        step = _solve(hessian, np.negative(gradient))
        ends = np.minimum(np.maximum(step, below), above)
        outside = _STIFF * (np.abs(step - ends) > _CONVERGED)
        if outside.any():
            # Joints that would leave their bounds go to them; the others make the best of it.
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
