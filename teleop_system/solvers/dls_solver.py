# SPDX-License-Identifier: Apache-2.0
"""Damped least squares: the classic, with no QP library, and limits by saturation."""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.solvers.base_solver import ModelSolver

Array = NDArray[np.float64]

MAX_PASSES = 6
"""Largest number of passes that fix joints at their bounds and solve for the others."""


class DLSSolver(ModelSolver):
    """Weighted, damped least squares over all chains, clamped to the limits joint by joint.

    Joints that would leave their bounds are set to them, and the remaining ones make up for it
    as far as they can. Keeps position, velocity and acceleration limits; ignores
    `collision_pairs`.
    """

    @override
    def _prepare(self) -> bool:
        self._weights = np.array(
            [
                [task.config.position_weight] * 3 + [task.config.orientation_weight] * 3
                for task in self._task_list
            ]
        )
        return True

    @override
    def _step(self) -> Array | None:
        self._update_bounds()
        hessian, gradient = self._normal_equations()
        lower, upper = self._bounds.lower, self._bounds.upper
        step = np.zeros(len(gradient))
        is_free = np.ones(len(gradient), dtype=bool)
        for _ in range(MAX_PASSES):
            right = gradient[is_free] - hessian[np.ix_(is_free, ~is_free)] @ step[~is_free]
            step[is_free] = np.linalg.solve(hessian[np.ix_(is_free, is_free)], right)
            is_beyond = is_free & ((step < lower) | (step > upper))
            step = self._clip(step)
            if not is_beyond.any():
                break
            is_free &= ~is_beyond
        return step

    def _normal_equations(self) -> tuple[Array, Array]:
        """Return the matrix and the right-hand side of the damped least squares."""
        options, size = self._options, len(self._joints)
        jacobian = self._tree.jacobian
        pull = (self._posture - self._joints) * min(1.0, options.posture_speed * self._dt)
        price = options.posture_weight**2
        hessian = np.diag(np.full(size, price + options.damping))
        gradient = price * pull
        for task, weight, mask in zip(self._task_list, self._weights, self._masks, strict=True):
            weights = weight * np.sqrt(task.share)
            at_frame = jacobian * mask
            at_frame[:3] += np.cross(at_frame[3:], task.position, axis=0)
            at_frame *= weights[:, None]
            hessian += at_frame.T @ at_frame
            hessian += np.diag(mask * task.damping)
            gradient = gradient + at_frame.T @ (weights * task.step)
        return hessian, gradient
