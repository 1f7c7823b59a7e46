# SPDX-License-Identifier: Apache-2.0
"""The base of the solvers that know the robot through Pinocchio."""

from typing import TYPE_CHECKING

from typing_extensions import override

from teleop_system.solvers.base_solver import ModelSolver
from teleop_system.solvers.options import SolverOptions

if TYPE_CHECKING:
    from teleop_system.solvers.kinematics import KinematicModel, KinematicState


class PinocchioSolver(ModelSolver):
    """A solver with Pinocchio's model, forward kinematics and Jacobians."""

    PACKAGES = {"pinocchio": "pin"}  # noqa: RUF012

    _kinematics: "KinematicModel"
    _state: "KinematicState"

    @override
    def _load(self, path: str, options: SolverOptions) -> None:
        # Only here, so that a machine without Pinocchio can tell what it lacks.
        from teleop_system.solvers.kinematics import KinematicModel, KinematicState

        self._kinematics = KinematicModel(path, options)
        self._state = KinematicState(self._kinematics)
