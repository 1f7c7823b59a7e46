# SPDX-License-Identifier: Apache-2.0
"""Pink's own `solve_ik` on a robot of ours, as the peer of measurements."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pink
import pinocchio as pin
import qpsolvers
from numpy.typing import NDArray

from teleop_system.robots import RobotDescription

Array = NDArray[np.float64]

BACKENDS = tuple(
    name for name in qpsolvers.available_solvers if name in ("daqp", "proxqp", "osqp")
)


class PinkModel:
    """The robot as Pink needs it: a reduced model, and one frame per arm and torso.

    Args:
        robot: The robot.
        joints: Joint names of the solver; all other joints are locked.
    """

    def __init__(self, robot: RobotDescription, joints: Sequence[str]) -> None:
        self.robot = robot
        full = pin.buildModelFromUrdf(str(robot.urdf))
        locked = [full.getJointId(name) for name in full.names[1:] if name not in joints]
        self.model: Any = pin.buildReducedModel(full, locked, pin.neutral(full))
        self.order = [joints.index(name) for name in self.model.names[1:]]
        """Indices in `joints` of the model's joints."""
        self.frames = {
            name: chain.end_effector
            for name, chain in robot.chains.items()
            if chain.kind in ("arm", "torso")
        }
        self._data = self.model.createData()

    def poses(self, joints: Array) -> dict[str, Any]:
        """Return the pose of every frame as `SE3`, for joint positions in solver order."""
        pin.framesForwardKinematics(self.model, self._data, joints[self.order])
        indices = {name: self.model.getFrameId(frame) for name, frame in self.frames.items()}
        return {name: self._data.oMf[index].copy() for name, index in indices.items()}


class PinkSolver:
    """Follows targets with Pink, within position, velocity and acceleration limits.

    Args:
        model: The robot.
        start: Initial joint positions in solver order.
        backend: Name of the QP solver.
    """

    def __init__(self, model: PinkModel, start: Array, backend: str) -> None:
        self._model = model
        self._backend = backend
        self._configuration = pink.Configuration(
            model.model, model.model.createData(), start[model.order]
        )
        self._tasks = {
            name: pink.tasks.FrameTask(frame, 1.0, 0.5) for name, frame in model.frames.items()
        }
        for task in self._tasks.values():
            task.set_target_from_configuration(self._configuration)
        posture = pink.tasks.PostureTask(cost=1e-3)
        posture.set_target(start[model.order])
        self._all_tasks = [*self._tasks.values(), posture]
        limits = [model.robot.limits(name) for name in model.model.names[1:]]
        self._acceleration = pink.limits.AccelerationLimit(
            model.model, np.array([limit.acceleration for limit in limits])
        )
        self._limits = [
            pink.limits.ConfigurationLimit(model.model),
            pink.limits.VelocityLimit(model.model),
            self._acceleration,
        ]
        self._inverse_order = np.argsort(model.order)
        self.has_failed = False
        """Whether the last tick raised."""

    @property
    def joints(self) -> Array:
        """Joint positions in solver order."""
        positions: Array = self._configuration.q[self._inverse_order]
        return positions

    def tick(self, targets: Mapping[str, Any], dt: float) -> float:
        """Follow targets (`SE3`) for `dt` [s]; return the time of `solve_ik` in [s]."""
        for name, target in targets.items():
            self._tasks[name].set_target(target)
        self.has_failed = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # OSQP warns about every matrix.
            begin = time.perf_counter()
            try:
                velocity = pink.solve_ik(
                    self._configuration,
                    self._all_tasks,
                    dt,
                    solver=self._backend,
                    limits=self._limits,
                )
                end = time.perf_counter()
            except (pink.exceptions.PinkError, qpsolvers.exceptions.QPError):
                end = time.perf_counter()
                velocity = np.zeros(self._model.model.nv)
                self.has_failed = True
        self._acceleration.set_last_integration(velocity, dt)
        self._configuration.integrate_inplace(velocity, dt)
        return end - begin
