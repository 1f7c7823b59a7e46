# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs of a few dozen variables, warm-started from tick to tick.

Each back end minimises `½ xᵀ H x + fᵀ x` subject to `lower <= x <= upper` and `A x >= b`.
If the rows of `A` contradict the bounds, it violates the rows, as little as possible, and never
the bounds.
"""

import abc
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

Array = NDArray[np.float64]

SOFT = 8  # DAQP's flag of a constraint that may be violated if necessary.
UNBOUNDED = 1e30  # Both libraries take this for infinity.


class QPBackend(abc.ABC):
    """A QP library behind one call.

    Args:
        size: Number of variables N.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # One workspace per number of rows, and another one with soft rows.
        self._workspaces: dict[tuple[int, bool], Any] = {}

    @abc.abstractmethod
    def solve(
        self, hessian: Array, gradient: Array, bounds: tuple[Array, Array], rows: Array, low: Array
    ) -> Array | None:
        """Return the minimiser, or None if the library fails.

        Args:
            hessian: H, symmetric positive definite, shape (N, N), C order.
            gradient: f, shape (N,).
            bounds: Lower and upper bounds of x, each of shape (N,).
            rows: A, shape (K, N).
            low: b, shape (K,).
        """


class DaqpBackend(QPBackend):
    """DAQP, a dual active-set solver, with one reused workspace per number of rows."""

    def __init__(self, size: int) -> None:
        import daqp

        super().__init__(size)
        self._new_workspace: Callable[[], Any] = daqp.Model
        self._arrays: dict[int, tuple[Array, Array, Array]] = {}

    @override
    def solve(
        self, hessian: Array, gradient: Array, bounds: tuple[Array, Array], rows: Array, low: Array
    ) -> Array | None:
        count = len(low)
        if not count:
            return self._run((hessian, gradient, None, bounds[1], bounds[0]), 0, soft=False)
        matrix, lower, upper = self._arrays_for(count)
        size = self._size
        np.copyto(matrix, rows)
        lower[:size], upper[:size], lower[size:] = bounds[0], bounds[1], low
        problem = hessian, gradient, matrix, upper, lower
        solution = self._run(problem, count, soft=False)
        return self._run(problem, count, soft=True) if solution is None else solution

    def _run(self, problem: tuple[Any, ...], count: int, *, soft: bool) -> Array | None:
        workspace = self._workspaces.get((count, soft))
        if workspace is None:
            workspace = self._new_workspace()
            hessian, gradient, matrix, upper, lower = problem
            matrix = np.empty((0, self._size)) if matrix is None else matrix
            sense = np.zeros(self._size + count, dtype=np.int32)
            sense[self._size :] = SOFT if soft else 0
            flag, _ = workspace.setup(hessian, gradient, matrix, upper, lower, sense)
            if flag < 0:
                return None
            self._workspaces[count, soft] = workspace
        elif workspace.update(*problem) < 0:
            del self._workspaces[count, soft]
            return None
        solution, _, flag, _ = workspace.solve()
        if flag > 0:
            return solution  # type: ignore[no-any-return]
        # A failed workspace may keep a useless active set; the next tick creates another.
        del self._workspaces[count, soft]
        return None

    def _arrays_for(self, count: int) -> tuple[Array, Array, Array]:
        if count not in self._arrays:
            total = self._size + count
            upper = np.full(total, UNBOUNDED)
            self._arrays[count] = np.empty((count, self._size)), np.empty(total), upper
        return self._arrays[count]


class ProxqpBackend(QPBackend):
    """ProxQP, an augmented-Lagrangian solver, with one reused workspace per number of rows."""

    ROW_PRICE = 1e6
    """Price of violating a row, squared; the targets have a price of about 1."""

    def __init__(self, size: int) -> None:
        from proxsuite import proxqp

        super().__init__(size)
        self._proxqp = proxqp

    @override
    def solve(
        self, hessian: Array, gradient: Array, bounds: tuple[Array, Array], rows: Array, low: Array
    ) -> Array | None:
        count, size = len(low), self._size
        matrix = rows if count else None
        solution = self._run((hessian, gradient, matrix, low, *bounds), soft=False)
        if solution is not None or not count:
            return solution
        # One slack s >= 0 for all rows: A x + s >= b.
        softened = np.diag(np.full(size + 1, self.ROW_PRICE))
        softened[:size, :size] = hessian
        lower, upper = np.append(bounds[0], 0.0), np.append(bounds[1], UNBOUNDED)
        matrix = np.column_stack([rows, np.ones(count)])
        problem = softened, np.append(gradient, 0.0), matrix, low, lower, upper
        solution = self._run(problem, soft=True)
        return None if solution is None else solution[:size]

    def _run(self, problem: tuple[Any, ...], *, soft: bool) -> Array | None:
        hessian, gradient, matrix, low, lower, upper = problem
        count = 0 if matrix is None else len(low)
        rows = (matrix, low, np.full(count, UNBOUNDED)) if count else (None, None, None)
        workspace = self._workspaces.get((count, soft))
        if workspace is None:
            workspace = self._create(len(gradient), count)
            self._workspaces[count, soft] = workspace
            workspace.init(hessian, gradient, None, None, *rows, lower, upper)
        else:
            workspace.update(hessian, gradient, None, None, *rows, lower, upper)
        workspace.solve()
        if workspace.results.info.status == self._proxqp.QPSolverOutput.PROXQP_SOLVED:
            return np.array(workspace.results.x)
        del self._workspaces[count, soft]
        return None

    def _create(self, size: int, rows: int) -> Any:
        workspace = self._proxqp.dense.QP(size, 0, rows, True)
        settings = workspace.settings
        settings.eps_abs, settings.eps_rel, settings.max_iter = 1e-8, 0.0, 200
        settings.initial_guess = self._proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
        return workspace


BACKENDS: dict[str, tuple[str, type[QPBackend]]] = {
    "daqp": ("daqp", DaqpBackend),
    "proxqp": ("proxsuite", ProxqpBackend),
}
"""Name, package and class of each back end, the fastest first."""


def installed_backends() -> list[str]:
    """Return the names of the back ends whose package is installed, the fastest first."""
    return [name for name, (package, _) in BACKENDS.items() if find_spec(package) is not None]
