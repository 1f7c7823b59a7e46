# SPDX-License-Identifier: Apache-2.0
"""What all solvers share: checking inputs, keeping state, measuring results.

A solver continues from its own last result, so that the joint positions it returns keep to
velocity and acceleration limits from one tick to the next even where the joints it is given lag
behind or carry noise. Joints further away than `rebase_ticks` ticks at full speed mean that the
robot was moved by someone else; the solver then starts anew from them, at rest. Whoever knows that
the robot merely falls behind uses `shift()`.
"""

import abc
import logging
import math
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import override

from teleop_system.exceptions import (
    ConfigError,
    InvalidJointStateError,
    InvalidValueError,
    UnknownNameError,
)
from teleop_system.interfaces import IIKSolver, IKResult, Pose6D
from teleop_system.solvers import chain_kernels
from teleop_system.solvers.chain_task import ChainTask
from teleop_system.solvers.motion_bounds import JointLimitArrays, MotionBounds
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.target_rows import refusal, rows_of

Array = NDArray[np.float64]
RowResult = tuple[Array, bool, float, float]

_logger = logging.getLogger(__name__)


class Kinematics(Protocol):
    """The robot as a solver needs to know it; see `KinematicModel`."""

    joint_names: list[str]
    external_order: NDArray[np.intp]
    limits: JointLimitArrays
    posture: Array

    def to_internal(self, joints: Array) -> Array:
        """Return a joint vector of the caller in internal order."""

    def chain_masks(self) -> Array:
        """Return 1 where a joint moves a chain's frame, 0 elsewhere, shape (chains, N)."""


class State(Protocol):
    """The robot at one posture; see `KinematicState`."""

    frames: Array
    """Rotation, row by row, and position of every chain's frame, shape (chains, 12)."""

    def update(self, joints: Array) -> None:
        """Compute everything for joint positions in internal order."""


class ModelSolver(IIKSolver):
    """A solver that knows the robot's kinematics; what it does in a tick is `_step()`."""

    PACKAGES: Mapping[str, str] = {}
    """Module and distribution of the libraries the solver cannot do without."""

    _kinematics: Kinematics
    _state: State

    def __init__(self) -> None:
        self._is_ready = False

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
        self._load(urdf_path, options)
        self._limits = self._kinematics.limits
        self._bounds = MotionBounds(self._limits, options.return_speed)
        self._table = np.zeros((len(options.chains), chain_kernels.SIZE))
        self._tasks = {
            name: ChainTask(name, config, row)
            for (name, config), row in zip(options.chains.items(), self._table, strict=True)
        }
        self._task_list = tuple(self._tasks.values())
        # The chains that had a target in the last tick, and their rows in the table.
        self._aimed: tuple[str, ...] | None = None
        self._places: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._away = self._table[:, chain_kernels.AWAY : chain_kernels.AWAY + 2]
        self._work = np.zeros(18)
        self._masks = self._kinematics.chain_masks()
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
        self._dt = math.nan  # Unlike any period, so that the first tick sets its own.
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
        chains, targets = tuple(target_poses), rows_of(target_poses)
        return _trusted_result(*self.solve_rows(chains, targets, current_joints, dt))

    def solve_rows(
        self, chains: tuple[str, ...], targets: Array, current_joints: Array, dt: float = 0.01
    ) -> RowResult:
        """Do what `solve_multi` does, for callers whose targets are numbers in a table.

        Args:
            chains: The chains that have a target.
            targets: Their positions in [m] and quaternions xyzw, shape (K, 7).
            current_joints: As of `solve_multi`.
            dt: As of `solve_multi`.

        Returns:
            What an `IKResult` holds, in that order.

        Raises:
            TeleopError: As `solve_multi` does.
        """
        if not self._is_ready:
            self._require_ready()
        if dt != self._dt:
            self._set_period(dt)
        self._aim(chains, targets, is_new=self._start_from(current_joints))
        step, last = self._step(), self._last_step
        # Whatever numbers a model has led to, joints are only ever told to go to a place.
        is_solved = step is not None and math.isfinite(step.dot(step))
        last[:] = step if step is not None and is_solved else self._bounds.braking_step(last)
        np.add(self._joints, last, self._joints)
        return self._measure(chains, is_solved=is_solved)

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

    def reset(self, velocity: ArrayLike | None = None) -> None:
        """Forget the last result; the next tick starts from the joints it is given.

        Args:
            velocity: Joint velocities at that moment in [rad/s], solver order; by default zero.

        Raises:
            InvalidJointStateError: `velocity` has another length or is not finite.
        """
        self._require_ready()
        self._result = np.full(len(self._names), np.nan)
        start = np.zeros(len(self._names)) if velocity is None else velocity
        self._velocity[:] = self._kinematics.to_internal(self._checked(start, "velocity"))

    def chain_error(self, chain: str) -> tuple[float, float]:
        """Return how far a chain's frame was from its target after the last tick, [m] and [rad].

        Raises:
            UnknownNameError: There is no such chain.
        """
        self._require_ready()
        if chain not in self._tasks:
            raise UnknownNameError("chain", chain, self._tasks)
        return self._tasks[chain].away

    def shift(self, way: ArrayLike) -> Array:
        """Go on from elsewhere: move the last result, and return it.

        This counts as motion of the last tick, so that accelerations stay what they are.

        Args:
            way: How far to move each joint in [rad], solver order.

        Raises:
            InvalidJointStateError: `way` has another length or is not finite, or there is no
                result to move.
        """
        self._require_ready()
        if np.isnan(self._result[0]):
            raise InvalidJointStateError("there is no last result to shift; solve first")
        moved = self._kinematics.to_internal(self._checked(way, "way"))
        self._joints += moved
        self._last_step += moved
        self._is_outside = True  # Perhaps; the next tick finds out.
        self._state.update(self._joints)
        chain_kernels.locate(self._table, self._state.frames)
        self._on_shift()
        self._result = self._joints[self._order]
        self._result.setflags(write=False)
        return self._result

    @abc.abstractmethod
    def _load(self, path: str, options: SolverOptions) -> None:
        """Load the model into `_kinematics` and `_state`."""

    @abc.abstractmethod
    def _prepare(self) -> bool:
        """Build what the solver needs besides the model; False, logged, where it cannot."""

    @abc.abstractmethod
    def _step(self) -> Array | None:
        """Return the joint step of the tick [rad] within its bounds; None where there is none.

        At the call `_state` is at `_joints` and every task has its plan.
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
        """Continue from the last result where `joints` are near it, else from `joints`."""
        if joints is self._result:
            return False
        try:
            # The last result is NaN before the first tick, and no distance from NaN is small.
            if (np.abs(joints - self._result) <= self._slack).all() and len(joints) == len(
                self._result
            ):
                return False
        except (TypeError, ValueError):
            pass  # Whatever was given, the check below says what is wrong with it.
        checked = self._checked(joints, "current_joints")
        # A jump that nobody announced by `reset()` says nothing of velocities.
        was_reset = np.isnan(self._result[0])
        self._last_step[:] = self._velocity * self._dt if was_reset else 0.0
        self._joints[:] = self._kinematics.to_internal(checked)
        self._is_outside = True  # Perhaps; the first tick finds out.
        self._on_new_start()
        self._state.update(self._joints)
        chain_kernels.observe(self._table, self._state.frames)
        for task in self._task_list:
            task.release()
        return True

    def _on_new_start(self) -> None:
        """Forget what was remembered of the ticks before, for the joints have jumped."""

    def _on_shift(self) -> None:
        """Correct what was computed of the last result, for it has been moved."""

    def _aim(self, chains: tuple[str, ...], targets: ArrayLike, *, is_new: bool) -> None:
        if is_new or chains != self._aimed:
            for name in chains:
                if name not in self._tasks:
                    raise UnknownNameError("chain", name, self._tasks)
            for name, task in self._tasks.items():
                task.take_aim() if name in chains else task.hold()
            self._aimed = chains
            places = [list(self._tasks).index(name) for name in chains]
            self._places = np.array(places, dtype=np.int64)
        rows = np.ascontiguousarray(targets, dtype=np.float64)
        bad = chain_kernels.aim(self._table, rows, self._places)
        if bad != chain_kernels.TAKEN:
            raise refusal(chains, rows, bad)
        if is_new:
            for task in self._task_list:
                task.forget_motion()
        chain_kernels.plan(self._table, self._work)

    def _measure(self, poses: Iterable[str], *, is_solved: bool) -> RowResult:
        self._state.update(self._joints)
        chain_kernels.locate(self._table, self._state.frames)
        worst_position = worst_orientation = 0.0
        for name, (position, orientation) in zip(self._tasks, self._away.tolist(), strict=True):
            if name in poses:
                if position > worst_position:
                    worst_position = position
                if orientation > worst_orientation:
                    worst_orientation = orientation
        success = (
            is_solved
            and worst_position <= self._position_tolerance
            and worst_orientation <= self._orientation_tolerance
        )
        self._result = self._joints[self._order]
        self._result.setflags(write=False)
        return self._result, success, worst_position, worst_orientation

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


def _trusted_result(
    joints: Array, success: bool, error_position: float, error_orientation: float
) -> IKResult:
    """Return a result of fields known to be sound; checking them again takes a tenth of a tick."""
    result = object.__new__(IKResult)
    write = object.__setattr__
    write(result, "joint_positions", joints)
    write(result, "success", success)
    write(result, "error_position", error_position)
    write(result, "error_orientation", error_orientation)
    return result
