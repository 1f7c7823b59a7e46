# SPDX-License-Identifier: Apache-2.0
"""The base of the solvers that load their model with Pinocchio."""

from typing import TYPE_CHECKING

from typing_extensions import override

from teleop_system.solvers.base_solver import ModelSolver
from teleop_system.solvers.options import SolverOptions

if TYPE_CHECKING:
    from teleop_system.solvers.kinematics import KinematicModel


class PinocchioSolver(ModelSolver):
    """A solver that loads its model with Pinocchio."""

    PACKAGES = {"pinocchio": "pin"}  # noqa: RUF012

    _kinematics: "KinematicModel"

    @override
    def _load(self, path: str, options: SolverOptions) -> "KinematicModel":
        # Only here, so that a machine without Pinocchio can report what is missing.
        from teleop_system.solvers.kinematics import KinematicModel

        return KinematicModel(path, options)
