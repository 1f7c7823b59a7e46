# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics by Pink: its tasks, its limits, and a QP library of its choice."""

import logging
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import UnknownNameError
from teleop_system.solvers.base_solver import ModelSolver
from teleop_system.solvers.chain_config import ChainConfig

if TYPE_CHECKING:
    from teleop_system.solvers.kinematics import KinematicModel

__all__ = ["ChainConfig", "PinkIKSolver"]

Array = NDArray[np.float64]

BACKENDS = {"proxqp": "proxsuite", "daqp": "daqp", "osqp": "osqp"}
"""QP libraries that Pink can use through qpsolvers, in the order they are tried."""

_logger = logging.getLogger(__name__)


class PinkIKSolver(ModelSolver):
    """Pink's frame and posture tasks within its configuration, velocity, acceleration limits.

    Pink fails if its QP has no solution or a joint is a rounding error outside its limits. Here
    such a joint counts as being at its limit, another back end is tried, and if no back end finds
    a step the robot brakes. Ignores `collision_pairs`.
    """

    _kinematics: "KinematicModel"

    PACKAGES = {"pinocchio": "pin", "pink": "pin-pink", "qpsolvers": "qpsolvers"}  # noqa: RUF012

    @override
    def _prepare(self) -> bool:
        backend = self._options.backend
        installed = [name for name, package in BACKENDS.items() if find_spec(package) is not None]
        if backend != "auto" and backend not in BACKENDS:
            raise UnknownNameError("QP back end of PinkIKSolver", backend, BACKENDS)
        self._backends = [name for name in installed if backend in ("auto", name)]
        if not self._backends:
            _logger.error(
                "PinkIKSolver needs one of %s: pip install 'teleop_system[ik]'",
                ", ".join(BACKENDS.values()),
            )
            return False
        self._create_tasks()
        return True

    def _create_tasks(self) -> None:
        import pink
        import pinocchio as pin
        import qpsolvers

        model = self._kinematics.model.copy()
        limits = self._limits
        for joint, low, high in zip(model.joints[1:], limits.lower, limits.upper, strict=True):
            if joint.nq == 1:
                model.lowerPositionLimit[joint.idx_q] = low
                model.upperPositionLimit[joint.idx_q] = high
        model.velocityLimit = limits.velocity.copy()
        self._configuration = pink.Configuration(
            model, model.createData(), self._kinematics.configuration(self._posture).copy()
        )
        self._frame_tasks = [
            pink.tasks.FrameTask(
                task.config.ee_frame,
                task.config.position_weight,
                task.config.orientation_weight,
            )
            for task in self._task_list
        ]
        self._posture_task = pink.tasks.PostureTask(cost=self._options.posture_weight)
        self._acceleration_limit = pink.limits.AccelerationLimit(model, limits.acceleration)
        self._pink_limits = [
            pink.limits.ConfigurationLimit(model),
            pink.limits.VelocityLimit(model),
            self._acceleration_limit,
        ]
        self._pink, self._pin = pink, pin
        self._failures = (
            pink.exceptions.PinkError,
            qpsolvers.exceptions.QPError,
            np.linalg.LinAlgError,
            ValueError,
        )

    @override
    def _step(self) -> Array | None:
        self._update_bounds()
        self._update_pink()
        for backend in self._backends:
            step = self._solve_with(backend)
            if step is not None:
                return self._clip(step)
        return None

    def _update_pink(self) -> None:
        """Pass this tick's state and targets to Pink; targets are one planned step away."""
        pin = self._pin
        limits, kinematics = self._limits, self._kinematics
        inside = np.clip(self._joints, limits.lower, limits.upper)
        self._configuration.update(kinematics.configuration(inside).copy())
        for task, frame_task in zip(self._task_list, self._frame_tasks, strict=True):
            step = np.array(task.step)
            frame = self._configuration.get_transform_frame_to_world(frame_task.frame)
            target = pin.SE3(pin.exp3(step[3:]) @ frame.rotation, frame.translation + step[:3])
            frame_task.set_target(target)
            factor = task.share**0.5
            frame_task.set_position_cost(factor * task.config.position_weight)
            frame_task.set_orientation_cost(factor * task.config.orientation_weight)
        catching_up = sum(task.damping for task in self._task_list)
        self._damping = self._options.damping + catching_up
        share = min(1.0, self._options.posture_speed * self._dt)
        posture = inside + share * (np.clip(self._posture, limits.lower, limits.upper) - inside)
        self._posture_task.set_target(kinematics.configuration(posture).copy())
        self._acceleration_limit.set_last_integration(self._last_step / self._dt, self._dt)

    def _solve_with(self, backend: str) -> Array | None:
        try:
            with warnings.catch_warnings():
                # OSQP warns in every tick that it prefers sparse matrices.
                warnings.simplefilter("ignore")
                velocity = self._pink.solve_ik(
                    self._configuration,
                    [*self._frame_tasks, self._posture_task],
                    self._dt,
                    solver=backend,
                    damping=self._damping,
                    limits=self._pink_limits,
                    safety_break=False,
                )
        except self._failures as error:
            _logger.debug("Pink with %s found no step: %s", backend, error)
            return None
        step: Array = np.asarray(velocity, dtype=np.float64) * self._dt
        return step if step.shape == self._joints.shape and np.isfinite(step).all() else None
