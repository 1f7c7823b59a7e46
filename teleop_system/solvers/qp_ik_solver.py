# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics as one quadratic program per tick, straight from Pinocchio.

With `x` the joint steps of the tick, the program minimises, weighted,

    Σ |J x - e|²  over the chains   +   posture   +   damping   +   inertia

(see `motion_prices`) within bounds on `x` that hold position, velocity and acceleration limits at
once (see `MotionBounds`) and rows that keep links apart (see `SelfCollision`). Braking meets
them all, so there always is a solution. The damping of the joints of a chain grows with the error
that the chain still has to close, which keeps singular and unreachable targets quiet, and leaves
the joints of other chains alone.
"""

import logging
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import UnknownNameError
from teleop_system.solvers import ik_kernels as kernels
from teleop_system.solvers.base_solver import ModelSolver
from teleop_system.solvers.motion_bounds import BrakingState
from teleop_system.solvers.qp_backend import BACKENDS, installed_backends
from teleop_system.solvers.regularization import motion_prices

if TYPE_CHECKING:
    from teleop_system.solvers.kinematics import KinematicModel
    from teleop_system.solvers.self_collision import SelfCollision

Array = NDArray[np.float64]

NO_ROWS = np.empty(0)
ATTEMPTS = 3
"""Attempts to find a step that keeps links apart before the robot brakes instead."""

_logger = logging.getLogger(__name__)


class QPIKSolver(ModelSolver):
    """Whole-body differential IK: all limits, self-collision, posture, one warm-started QP."""

    _kinematics: "KinematicModel"

    @override
    def _prepare(self) -> bool:
        options = self._options
        names = installed_backends()
        backend = options.backend
        if backend != "auto":
            if backend not in BACKENDS:
                raise UnknownNameError("QP back end of QPIKSolver", backend, BACKENDS)
            names = [name for name in names if name == backend]
        if not names:
            _logger.error("QPIKSolver needs daqp or proxsuite: pip install 'teleop_system[ik]'")
            return False
        size, chains = len(self._names), len(self._chains)
        self._backend = BACKENDS[names[0]][1](size)
        self._collision = self._create_collision()
        self._jacobian = np.empty((6 * chains, size))
        self._hessian, self._factor = np.empty((2, size, size))
        self._pull, self._gradient = np.empty((2, size))  # The one is the other, negated.
        self._is_limited = True
        self._rest = np.zeros(size)
        self._current = BrakingState(self._joints, self._last_step, self._rest)
        self._next = BrakingState(*np.zeros((3, size)))  # The state after the tick.
        return True

    @override
    def _set_period(self, dt: float) -> None:
        super()._set_period(dt)
        self._prices = motion_prices(self._limits, self._options, dt)
        if self._collision is not None:
            self._collision.set_period(dt, self._bounds.change)

    @override
    def _on_new_start(self) -> None:
        self._update_rest()
        if self._collision is not None:
            self._collision.start(self._current)

    @override
    def _on_shift(self) -> None:
        self._is_limited = True
        self._update_rest()

    @override
    def _step(self) -> Array | None:
        kernels.assemble(
            self._joints,
            self._last_step,
            self._posture,
            self._prices,
            self._tree.jacobian,
            self._chains,
            self._masks,
            self._jacobian,
            self._hessian,
            self._pull,
        )
        if self._free_step():
            return self._next.step
        self._update_bounds()
        for _ in range(ATTEMPTS):
            step = self._limited_step()
            if step is None:
                break
            if self._advance(step):
                return step
        # Braking is always allowed; this keeps the distances up to date.
        self._advance(self._bounds.braking_step(self._last_step), is_braking=True)
        return None

    def _update_rest(self) -> None:
        kernels.write_rest(self._joints, self._last_step, self._bounds.limits, self._rest)

    def _free_step(self) -> bool:
        """Take the step without any limits; False if it might exceed one.

        If nothing limited the last tick, usually nothing limits this one either, and a Cholesky
        factorisation replaces the QP.
        """
        collision = self._collision
        if self._is_limited or (collision is not None and collision.close):
            return False
        ahead, step, rest = self._next
        self._is_limited = (
            not kernels.free_step(
                self._hessian,
                self._pull,
                self._joints,
                self._last_step,
                self._bounds.limits,
                self._factor,
                step,
                ahead,
                rest,
            )
            or not self._keeps_apart()
        )
        return not self._is_limited

    def _limited_step(self) -> Array | None:
        """Return the step within all limits, or None if the QP fails."""
        bounds, collision, last = self._bounds, self._collision, self._last_step
        rows: Array = NO_ROWS
        row_bounds: Array = NO_ROWS
        if collision is not None and collision.close:
            collision.add_rows(self._current, bounds.braking_step(last))
            rows, row_bounds = collision.rows, collision.row_bounds
        np.negative(self._pull, self._gradient)
        step = self._backend.solve(
            self._hessian, self._gradient, (bounds.lower, bounds.upper), rows, row_bounds
        )
        if step is None:
            return None
        step = self._clip(step)
        is_at_bound = (step == bounds.lower) | (step == bounds.upper)
        self._is_limited = self._is_outside or bool(is_at_bound.any())
        return step

    def _advance(self, step: Array, *, is_braking: bool = False) -> bool:
        """Take a step if that keeps links apart, or if it brakes; return whether it does."""
        ahead, _, rest = self._next
        self._next.step[:] = step
        kernels.look_ahead(self._joints, step, self._bounds.limits, ahead, rest)
        return self._keeps_apart(is_braking=is_braking)

    def _keeps_apart(self, *, is_braking: bool = False) -> bool:
        """Return whether links stay apart in the next state; if so, continue from there."""
        collision = self._collision
        if collision is None:
            return True
        is_allowed = collision.check(self._next, self._current, is_braking=is_braking)
        if is_allowed or is_braking:
            self._rest[:] = self._next.rest
        return is_allowed

    def _create_collision(self) -> "SelfCollision | None":
        from teleop_system.solvers.self_collision import SelfCollision

        options = self._options
        if not options.collision_pairs:
            return None
        collision = SelfCollision(
            self._kinematics,
            options.collision_pairs,
            stop=options.collision_stop,
            slow=options.collision_slow,
            speed=options.collision_speed,
        )
        return collision if collision.count else None
