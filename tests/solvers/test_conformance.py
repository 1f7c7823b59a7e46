# SPDX-License-Identifier: Apache-2.0
"""Every solver keeps the promises of `IIKSolver`."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver
from teleop_system.solvers.dls_solver import DLSSolver
from teleop_system.solvers.pink_ik_solver import PinkIKSolver
from teleop_system.solvers.proportional_mapper import ProportionalMapper
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from teleop_system.testing.solver_suite import IKSolverSuite
from tests.solvers.rby1 import LOWER, READY, SPEED, UPPER, create

Array = NDArray[np.float64]


class _Rby1Suite(IKSolverSuite):
    solver_class: type[IIKSolver]

    def create(self) -> IIKSolver:
        solver: IIKSolver = create(self.solver_class)
        return solver

    def chain(self) -> str:
        return "right_arm"

    def start(self) -> Array:
        return READY.copy()

    def limits(self) -> tuple[Array, Array, Array]:
        return LOWER, UPPER, SPEED


class TestQPIKSolver(_Rby1Suite):
    solver_class = QPIKSolver


class TestPinkIKSolver(_Rby1Suite):
    solver_class = PinkIKSolver


class TestDLSSolver(_Rby1Suite):
    solver_class = DLSSolver


class TestProportionalMapper(_Rby1Suite):
    solver_class = ProportionalMapper
