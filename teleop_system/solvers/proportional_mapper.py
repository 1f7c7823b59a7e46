# SPDX-License-Identifier: Apache-2.0
"""The simplest mapping from targets to joints: proportional, about a reference posture."""

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.solvers.base_solver import ModelSolver
from teleop_system.solvers.chain_kernels import pose_difference
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.urdf_kinematics import UrdfKinematics
from teleop_system.utils.poses import PoseTuple

Array = NDArray[np.float64]

PROBE = 1e-5
"""Joint motion that gradients are taken over in [rad]."""
GAIN_DAMPING = 0.05
"""Frame motion per joint motion below which gains are damped."""


class ProportionalMapper(ModelSolver):
    """Moves each joint in proportion to how far the targets are from the reference pose.

    A fallback that needs NumPy alone: joints = posture + gains x displacement, limited in
    position, velocity and acceleration. Each chain's displacement is that of its target
    from the frame in the reference posture: [m], then rotation vector [rad], world axes. Gains
    are those given for the chain, shape (N, 6), or else computed for small displacements. The
    errors reported are measured by forward kinematics, and grow with the displacement.
    Reads URDF files only; ignores `collision_pairs`.
    """

    PACKAGES = MappingProxyType({})

    _kinematics: UrdfKinematics

    @override
    def _load(self, path: str, options: SolverOptions) -> UrdfKinematics:
        return UrdfKinematics(path, options)

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
        self._update_references()
        return True

    @override
    def set_posture_target(self, posture: NDArray[np.float64]) -> None:
        super().set_posture_target(posture)
        self._update_references()

    @override
    def _step(self) -> Array | None:
        self._update_bounds()
        offset = self._posture - self._joints
        for task, gains, reference in zip(
            self._task_list, self._gains, self._references, strict=True
        ):
            offset = offset + gains @ task.target_from(reference)
        # The largest step from which the joint can still stop at its goal.
        brake = self._bounds.change
        size = np.minimum(np.abs(offset), 1e3)  # A target may be absurdly far away.
        return self._clip(np.copysign(np.sqrt(brake * (brake + 2.0 * size)) - brake, offset))

    def _update_references(self) -> None:
        self._references = self._poses_at(self._posture)

    def _poses_at(self, joints: Array) -> list[PoseTuple]:
        """Return the pose of every chain's frame."""
        return self._tree.poses(joints)

    def _linear_gains(self) -> Array:
        """Return the damped inverse of all frames' motion at the posture, shape (N, 6 chains)."""
        columns = []
        for nudge in PROBE * np.eye(len(self._names)):
            before = self._poses_at(self._posture - nudge)
            after = self._poses_at(self._posture + nudge)
            columns.append([_motion(a, b) for a, b in zip(before, after, strict=True)])
        jacobian = np.reshape(columns, (len(self._names), -1)).T / (2.0 * PROBE)
        damped = jacobian @ jacobian.T + GAIN_DAMPING**2 * np.eye(len(jacobian))
        return np.asarray(np.linalg.solve(damped, jacobian).T, dtype=np.float64)


def _motion(before: PoseTuple, after: PoseTuple) -> Array:
    return np.concatenate(pose_difference(*before, *after))
