# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics as one quadratic program per tick, straight from Pinocchio.

With `x` the joint steps of the tick, the program minimises, weighted,

    Σ |J x - e|²  over the chains   +   posture   +   damping   +   inertia

(see `Regularization`) within bounds on `x` that hold position, velocity and acceleration limits at
once (see `MotionBounds`) and rows that keep links apart (see `SelfCollision`). Braking meets
them all, so there always is a solution. The damping of the joints of a chain grows with what
the chain has still to catch up with, which keeps singular and unreachable targets quiet, and
leaves the joints of other chains alone.
"""

import logging
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy import add, dot, multiply, negative
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv
from typing_extensions import override

from teleop_system.exceptions import UnknownNameError
from teleop_system.solvers.pinocchio_solver import PinocchioSolver
from teleop_system.solvers.qp_backend import BACKENDS, installed_backends
from teleop_system.solvers.regularization import Regularization
from teleop_system.solvers.rest_prediction import RestPrediction, Way

if TYPE_CHECKING:
    from teleop_system.solvers.self_collision import SelfCollision

Array = NDArray[np.float64]

NO_ROWS = np.empty(0)
ATTEMPTS = 3
"""How often a step is sought that keeps links apart before the robot brakes instead."""

_logger = logging.getLogger(__name__)


class QPIKSolver(PinocchioSolver):
    """Whole-body differential IK: all limits, self-collision, posture, one warm-started QP."""

    @override
    def _prepare(self) -> bool:
        options = self._options
        names = installed_backends()
        wanted = options.backend
        if wanted != "auto":
            if wanted not in BACKENDS:
                raise UnknownNameError("QP back end of QPIKSolver", wanted, BACKENDS)
            names = [name for name in names if name == wanted]
        if not names:
            _logger.error("QPIKSolver needs daqp or proxsuite: pip install 'teleop_system[ik]'")
            return False
        size, chains = len(self._names), len(self._task_list)
        self._backend = BACKENDS[names[0]][1](size)
        self._collision = self._create_collision()
        weights = [
            [task.config.position_weight] * 3 + [task.config.orientation_weight] * 3
            for task in self._task_list
        ]
        self._weights = np.array(weights).ravel()
        # Six levers per chain, six steps per chain, one damping per chain: one assignment a tick.
        self._inputs = np.empty(13 * chains)
        self._levers = self._inputs[: 6 * chains]
        self._steps = self._inputs[6 * chains : 12 * chains]
        self._damping = self._inputs[12 * chains :]
        # The map from velocities at the world's origin to weighted ones at each chain's frame.
        self._shift = np.zeros((6 * chains, 6))
        self._shift_cells = self._shift.reshape(-1)
        self._lever_cells = np.empty(6 * chains, dtype=np.intp)
        for chain in range(chains):
            first = 6 * chain
            self._shift[first : first + 6] = np.diag(weights[chain])
            cells = [(0, 4), (0, 5), (1, 3), (1, 5), (2, 3), (2, 4)]
            self._lever_cells[first : first + 6] = [6 * (first + r) + c for r, c in cells]
        self._row_masks = np.repeat(self._masks, 6, axis=0)
        self._jacobian = np.empty((6 * chains, size))
        self._hessian = np.empty((size, size))
        self._diagonal = self._hessian.reshape(-1)[:: size + 1]
        self._gradient = np.empty(size)
        self._pull = np.empty(size)  # The gradient, negated.
        self._work = np.empty(size)
        self._regularization = Regularization(self._limits, options)
        self._damped_masks = self._masks * options.adaptive_damping
        self._jacobian_transposed = self._jacobian.T
        self._is_limited = True
        self._rest = RestPrediction(size)
        self._next_joints = np.empty(size)
        self._current = Way(self._joints, self._last_step, np.zeros(size))
        return True

    @override
    def _set_period(self, dt: float) -> None:
        super()._set_period(dt)
        self._regularization.set_period(dt)
        self._rest.set_change(self._bounds.change)
        if self._collision is not None:
            self._collision.set_period(dt, self._bounds.change)

    @override
    def _on_new_start(self) -> None:
        if self._collision is not None:
            self._rest.update(self._joints, self._last_step)
            self._current.rest[:] = self._rest.position
            self._collision.start(self._current)

    @override
    def _on_shift(self) -> None:
        self._is_limited = True
        self._rest.update(self._joints, self._last_step)
        self._current.rest[:] = self._rest.position

    @override
    def _step(self) -> Array | None:
        self._assemble()
        step = self._free_step()
        if step is not None:
            return step
        self._update_bounds()
        collision = self._collision
        for _ in range(ATTEMPTS):
            step = self._limited_step()
            if step is None or collision is None or self._keeps_apart(step, collision):
                break
            step = None
        if collision is not None:
            if step is None:
                # Braking is always allowed; this keeps the distances up to date.
                self._keeps_apart(self._bounds.braking_step(self._last_step), collision)
            self._accept(collision)
        return step

    def _free_step(self) -> Array | None:
        """Return the step without any limits, or None where one may be in its way.

        Where nothing limited the last tick, mostly nothing limits this one either, and there is
        no need to ask for more than a Cholesky factorisation.
        """
        collision = self._collision
        if self._is_limited or (collision is not None and collision.has_rows):
            return None
        self._is_limited = True
        _, step, flag = dposv(self._hessian, self._pull)
        if flag != 0:
            return None
        add(self._joints, step, self._next_joints)
        rest = self._rest
        rest.update(self._next_joints, step)
        if not self._bounds.allow(step, self._last_step, rest.position):
            return None
        if collision is not None:
            if not collision.check(Way(self._next_joints, step, rest.position), self._current):
                return None
            self._accept(collision)
        self._is_limited = False
        return step  # type: ignore[no-any-return]

    def _limited_step(self) -> Array | None:
        """Return the step within all limits, or None where the QP fails."""
        bounds, collision, last = self._bounds, self._collision, self._last_step
        rows: Array = NO_ROWS
        row_bounds: Array = NO_ROWS
        if collision is not None and collision.has_rows:
            collision.add_rows(self._current, bounds.braking_step(last))
            rows, row_bounds = collision.rows, collision.row_bounds
        negative(self._pull, self._gradient)
        step = self._backend.solve(
            self._hessian, self._gradient, (bounds.lower, bounds.upper), rows, row_bounds
        )
        if step is None:
            return None
        step = self._clip(step)
        is_at_bound = (step == bounds.lower) | (step == bounds.upper)
        self._is_limited = self._is_outside or bool(is_at_bound.any())
        return step

    def _keeps_apart(self, step: Array, collision: "SelfCollision") -> bool:
        add(self._joints, step, self._next_joints)
        self._rest.update(self._next_joints, step)
        return collision.check(Way(self._next_joints, step, self._rest.position), self._current)

    def _accept(self, collision: "SelfCollision") -> None:
        collision.accept()
        self._current.rest[:] = self._rest.position

    def _assemble(self) -> None:
        """Compute the weighted Jacobian, the Hessian and the negated gradient of the tick."""
        levers: list[float] = []
        steps: list[float] = []
        damping: list[float] = []
        is_behind = False
        for task in self._task_list:
            x, y, z = task.position
            w = task.config.position_weight
            x, y, z = w * x, w * y, w * z
            # Velocity at p is that at the origin plus the cross product of ω and p.
            levers += (z, -y, -z, x, y, -x)
            steps += task.step
            damping.append(task.damping)
            is_behind |= task.share < 1.0
        self._inputs[:] = levers + steps + damping
        jacobian, work = self._jacobian, self._work
        self._shift_cells[self._lever_cells] = self._levers
        dot(self._shift, self._state.jacobian, jacobian)
        multiply(jacobian, self._row_masks, jacobian)
        multiply(self._steps, self._weights, self._steps)
        if is_behind:
            shares = np.repeat([sqrt(task.share) for task in self._task_list], 6)
            multiply(jacobian, shares[:, None], jacobian)
            multiply(self._steps, shares, self._steps)
        dot(self._jacobian_transposed, jacobian, self._hessian)
        if any(damping):
            dot(self._damping, self._damped_masks, work)
            add(self._diagonal, work, self._diagonal)
        dot(self._steps, jacobian, self._pull)
        regularization = self._regularization
        regularization.update(self._joints, self._last_step, self._posture)
        add(self._diagonal, regularization.prices, self._diagonal)
        add(self._pull, regularization.pull, self._pull)

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
