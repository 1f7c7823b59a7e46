# SPDX-License-Identifier: Apache-2.0
"""What all solvers share: checks of inputs, state from tick to tick, measured results.

A solver continues from its own last result, so that the joint positions it returns keep velocity
and acceleration limits from one tick to the next even if the joints it is given lag behind or
carry noise. Joints further away than `rebase_ticks` ticks at full speed mean that something else
moved the robot; the solver then restarts from them, at rest. A caller that moves the joints on
purpose uses `shift()`.
"""

import abc
import logging
import math
from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import override

from teleop_system.exceptions import (
    ConfigError,
    InvalidJointStateError,
    InvalidPoseError,
    InvalidValueError,
    UnknownNameError,
)
from teleop_system.interfaces import IIKSolver, IKResult, Pose6D
from teleop_system.solvers import chain_kernels
from teleop_system.solvers.chain_task import ChainTask
from teleop_system.solvers.link_tree import LinkTree
from teleop_system.solvers.motion_bounds import JointLimitArrays, MotionBounds
from teleop_system.solvers.options import SolverOptions

Array = NDArray[np.float64]

_logger = logging.getLogger(__name__)


class Kinematics(Protocol):
    """What a solver needs of a robot model; see `KinematicModel`."""

    joint_names: list[str]
    external_order: NDArray[np.intp]
    limits: JointLimitArrays
    posture: Array

    def to_internal(self, joints: Array) -> Array:
        """Return a joint vector of the caller in internal order."""

    def tree(self) -> LinkTree:
        """Return the link tree with a frame for every chain."""


class ModelSolver(IIKSolver):
    """A solver with a kinematic model; each kind of solver implements `_step()`."""

    PACKAGES: Mapping[str, str] = MappingProxyType({"pinocchio": "pin"})
    """Module and distribution of the libraries the solver needs."""

    _kinematics: Kinematics

    def __init__(self) -> None:
        self._is_ready = False
        self._dt = math.nan  # Unlike any period, so that the first tick sets its own.

    @override
    def initialize(self, urdf_path: str, **kwargs: Any) -> bool:
        options = SolverOptions.from_keywords(kwargs)
        missing = [name for module, name in self.PACKAGES.items() if find_spec(module) is None]
        if missing:
            needed = ", ".join(missing)
            _logger.error(
                "%s needs %s: pip install 'teleop_system[ik]'", type(self).__name__, needed
            )
            return False
        self._options = options
        self._kinematics = self._load(urdf_path, options)
        self._tree = self._kinematics.tree()
        self._limits = self._kinematics.limits
        self._bounds = MotionBounds(self._limits, options.return_speed)
        self._chains = np.zeros(len(options.chains), dtype=chain_kernels.CHAIN)
        self._tasks = {
            name: ChainTask(name, config, options.adaptive_damping, self._chains[index])
            for index, (name, config) in enumerate(options.chains.items())
        }
        self._task_list = tuple(self._tasks.values())
        # The chains that had a target in the last tick, and their indices.
        self._followed: tuple[str, ...] | None = None
        self._indices: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._targets = np.zeros((len(self._chains), 7))
        self._target_views = tuple((row[:3], row[3:]) for row in self._targets)
        self._work = np.zeros((3, 6))
        self._masks = self._tree.frame_masks()
        self._names = self._kinematics.joint_names
        size = len(self._names)
        self._posture = self._kinematics.posture.copy()
        self._joints = np.zeros(size)  # The last result, internal order.
        self._last_step = np.zeros(size)
        self._velocity = np.zeros(size)  # At the next start.
        self._result = np.full(size, np.nan)  # The same in the caller's order.
        self._slack = np.zeros(size)
        self._order = self._kinematics.external_order
        self._position_tolerance = options.position_tolerance
        self._orientation_tolerance = options.orientation_tolerance
        self._dt = math.nan
        self._is_outside = False
        self._is_ready = self._prepare()
        if self._is_ready:
            self.reset()
        return self._is_ready

    @override
    def solve(
        self, target_pose: Pose6D, current_joints: NDArray[np.float64], dt: float = 0.01
    ) -> IKResult:
        self._require_ready()
        return self.solve_multi({self._task_list[0].name: target_pose}, current_joints, dt)

    @override
    def solve_multi(
        self,
        target_poses: dict[str, Pose6D],
        current_joints: NDArray[np.float64],
        dt: float = 0.01,
    ) -> IKResult:
        if dt != self._dt:
            self._set_period(dt)
        self._plan(target_poses, is_new_start=self._start_from(current_joints))
        step, last = self._step(), self._last_step
        # Whatever numbers a model leads to, only finite joint positions are returned.
        is_solved = step is not None and math.isfinite(step.dot(step))
        last[:] = step if step is not None and is_solved else self._bounds.braking_step(last)
        np.add(self._joints, last, self._joints)
        return self._finish_tick(is_solved=is_solved)

    @override
    def get_joint_names(self) -> list[str]:
        self._require_ready()
        return list(self._names)

    @override
    def get_joint_count(self) -> int:
        self._require_ready()
        return len(self._names)

    @override
    def set_posture_target(self, posture: NDArray[np.float64]) -> None:
        self._require_ready()
        self._posture[:] = self._kinematics.to_internal(self._checked(posture, "posture"))

    @override
    def reset(self, velocity: NDArray[np.float64] | None = None) -> None:
        self._require_ready()
        self._result = np.full(len(self._names), np.nan)
        start = np.zeros(len(self._names)) if velocity is None else velocity
        self._velocity[:] = self._kinematics.to_internal(self._checked(start, "velocity"))

    @override
    def shift(self, offset: NDArray[np.float64]) -> None:
        self._require_ready()
        moved = self._kinematics.to_internal(self._checked(offset, "offset"))
        if np.isnan(self._result[0]):
            return  # The next tick starts from the joints it is given.
        self._joints += moved
        self._last_step += moved  # So that accelerations stay what they are.
        self._is_outside = True  # Perhaps; the next tick finds out.
        self._on_shift()
        self._finish_tick(is_solved=True)

    def _load(self, path: str, options: SolverOptions) -> Kinematics:
        """Return the model."""
        # Only here, so that a machine without Pinocchio can report what is missing.
        from teleop_system.solvers.kinematics import KinematicModel

        return KinematicModel(path, options)

    @abc.abstractmethod
    def _prepare(self) -> bool:
        """Build what the solver needs besides the model; False, logged, if it cannot."""

    @abc.abstractmethod
    def _step(self) -> Array | None:
        """Return the joint step of the tick [rad] within its bounds; None if there is none.

        At the call `_tree` is at `_joints` and every task has its plan.
        """

    def _update_bounds(self) -> None:
        """Compute `_bounds` for this tick."""
        if self._is_outside:
            self._is_outside = self._bounds.update_outside(self._joints, self._last_step)
        else:
            self._bounds.update(self._joints, self._last_step)

    def _clip(self, step: Array) -> Array:
        """Bring a step within the bounds, which solvers keep to within a tolerance only."""
        np.maximum(step, self._bounds.lower, out=step)
        return np.minimum(step, self._bounds.upper, out=step)

    def _set_period(self, dt: float) -> None:
        self._require_ready()
        try:
            is_period = math.isfinite(dt) and dt > 0.0
        except TypeError:
            is_period = False
        if not is_period:
            raise InvalidValueError(f"dt must be a positive number of seconds, got {dt!r}")
        if not math.isnan(self._dt):
            self._last_step *= dt / self._dt
        self._dt = dt
        self._bounds.set_period(dt)
        for task in self._task_list:
            task.set_period(dt)
        self._slack = self._limits.velocity * (dt * self._options.rebase_ticks)
        self._slack = self._slack[self._order]

    def _start_from(self, joints: Array) -> bool:
        """Continue from the last result if `joints` are near it, else from `joints`."""
        if joints is self._result:
            return False
        try:
            # The last result is NaN before the first tick, and no distance from NaN is small.
            if (np.abs(joints - self._result) <= self._slack).all() and len(joints) == len(
                self._result
            ):
                return False
        except (TypeError, ValueError):
            pass  # The check below says what is wrong.
        checked = self._checked(joints, "current_joints")
        # After a jump without `reset()` velocities are unknown.
        was_reset = np.isnan(self._result[0])
        self._last_step[:] = self._velocity * self._dt if was_reset else 0.0
        self._joints[:] = self._kinematics.to_internal(checked)
        self._is_outside = True  # Perhaps; the first tick finds out.
        self._on_new_start()
        self._tree.update(self._joints)
        chain_kernels.observe(self._chains, self._tree.frames)
        for task in self._task_list:
            task.release()
        return True

    def _on_new_start(self) -> None:
        """Forget everything of the ticks before: the joints have jumped."""

    def _on_shift(self) -> None:
        """Update whatever was computed from the last result: it has been moved."""

    def _plan(self, poses: Mapping[str, Pose6D], *, is_new_start: bool) -> None:
        """Compute the desired step of every chain."""
        chains = tuple(poses)
        if is_new_start or chains != self._followed:
            for name in chains:
                if name not in self._tasks:
                    raise UnknownNameError("chain", name, self._tasks)
            for name, task in self._tasks.items():
                task.release() if name in chains else task.hold()
            self._followed = chains
            indices = [list(self._tasks).index(name) for name in chains]
            self._indices = np.array(indices, dtype=np.int64)
        # There are views for all chains, and a row for every chain that has a target.
        for views, (name, pose) in zip(self._target_views, poses.items(), strict=False):
            if not pose.valid:
                raise InvalidPoseError(f"the target of {name!r} is marked invalid")
            position, orientation = views
            position[:], orientation[:] = pose.position, pose.orientation
        refused = chain_kernels.plan(
            self._chains, self._targets, self._indices, is_new_start, self._work
        )
        if refused != chain_kernels.ACCEPTED:
            length = float(np.linalg.norm(self._targets[refused, 3:]))
            raise InvalidPoseError(
                f"the target of {chains[refused]!r} needs a unit quaternion, "
                f"got one of length {length:.6g}"
            )

    def _finish_tick(self, *, is_solved: bool) -> IKResult:
        """Return the result at `_joints`, with the errors that are left."""
        self._tree.update(self._joints)
        position, orientation = chain_kernels.measure(
            self._chains, self._tree.frames, self._indices
        )
        success = (
            is_solved
            and position <= self._position_tolerance
            and orientation <= self._orientation_tolerance
        )
        self._result = self._joints[self._order]
        self._result.setflags(write=False)
        return IKResult.unchecked(self._result, success, position, orientation)

    def _checked(self, values: ArrayLike, name: str) -> Array:
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidJointStateError(f"{name} needs numbers, got {values!r}") from error
        if array.shape != (len(self._names),):
            raise InvalidJointStateError(
                f"{name} needs {len(self._names)} values, one per joint "
                f"({', '.join(self._names)}), got shape {array.shape}"
            )
        if not np.isfinite(array).all():
            bad = [n for n, ok in zip(self._names, np.isfinite(array), strict=True) if not ok]
            raise InvalidJointStateError(f"{name} is not finite at {', '.join(bad)}")
        return array

    def _require_ready(self) -> None:
        if not self._is_ready:
            raise ConfigError(f"{type(self).__name__} is not initialised; call initialize() first")
