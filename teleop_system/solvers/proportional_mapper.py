# SPDX-License-Identifier: Apache-2.0
"""The simplest mapping from targets to joints: proportional, about a reference posture."""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.solvers.base_solver import ModelSolver
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.urdf_kinematics import UrdfKinematics, UrdfState
from teleop_system.utils.quaternions import quat_conjugate, quat_log, quat_multiply

Array = NDArray[np.float64]

PROBE = 1e-5
"""Joint motion that gradients are taken over in [rad]."""
BLUNTNESS = 0.05
"""Smallest motion of a frame per motion of the joints that gains try to invert."""


class ProportionalMapper(ModelSolver):
    """Moves each joint in proportion to how far the targets are from the reference pose.

    A fallback that needs NumPy alone: joints = posture + gains x displacement, limited in
    position, velocity and acceleration. Each chain's displacement is its target's from where
    the frame is in the reference posture: [m], then rotation vector [rad], world axes. Gains
    are those given for the chain, shape (N, 6), or else what suits small displacements. The
    errors reported are measured by forward kinematics, and grow with the displacement.
    Reads URDF files only; ignores `collision_pairs`.
    """

    _kinematics: UrdfKinematics
    _state: UrdfState

    @override
    def _load(self, path: str, options: SolverOptions) -> None:
        self._kinematics = UrdfKinematics(path, options)
        self._state = UrdfState(self._kinematics)

    @override
    def _prepare(self) -> bool:
        given, size = self._options.gains, len(self._names)
        for name in given:
            if name not in self._tasks:
                raise UnknownNameError("chain (in gains)", name, self._tasks)
        own = self._linear_gains()
        self._gains = []
        for index, name in enumerate(self._tasks):
            gains = np.asarray(
                given.get(name, own[:, 6 * index : 6 * index + 6]), dtype=np.float64
            )
            if gains.shape != (size, 6) or not np.isfinite(gains).all():
                raise ConfigError(
                    f"gains of {name!r} need shape ({size}, 6) and finite values, "
                    f"got shape {gains.shape}"
                )
            self._gains.append(gains)
        self._place_references()
        return True

    @override
    def set_posture_target(self, posture: NDArray[np.float64]) -> None:
        super().set_posture_target(posture)
        self._place_references()

    @override
    def _step(self) -> Array | None:
        self._update_bounds()
        wanted = self._posture - self._joints
        for task, gains, reference in zip(
            self._task_list, self._gains, self._references, strict=True
        ):
            wanted = wanted + gains @ task.target_from(*reference)
        # The step from which the joint can just stop where it wants to be.
        brake = self._bounds.change
        size = np.minimum(np.abs(wanted), 1e3)  # A target may be absurdly far away.
        return self._clip(np.copysign(np.sqrt(brake * (brake + 2.0 * size)) - brake, wanted))

    def _place_references(self) -> None:
        placed = self._kinematics.place(self._posture)
        self._references = [(p.tolist(), q.tolist()) for p, q in placed]

    def _linear_gains(self) -> Array:
        """Return the damped inverse of all frames' motion at the posture, shape (N, 6 chains)."""
        columns = []
        for nudge in PROBE * np.eye(len(self._names)):
            before = self._kinematics.place(self._posture - nudge)
            after = self._kinematics.place(self._posture + nudge)
            columns.append([_motion(a, b) for a, b in zip(before, after, strict=True)])
        jacobian = np.reshape(columns, (len(self._names), -1)).T / (2.0 * PROBE)
        damped = jacobian @ jacobian.T + BLUNTNESS**2 * np.eye(len(jacobian))
        return np.asarray(np.linalg.solve(damped, jacobian).T, dtype=np.float64)


def _motion(before: tuple[Array, Array], after: tuple[Array, Array]) -> Array:
    turned = quat_log(quat_multiply(after[1], quat_conjugate(before[1])))
    return np.concatenate([after[0] - before[0], turned])
