# SPDX-License-Identifier: Apache-2.0
"""Joint commands in three modes, limited, and switched without a jump.

A position servo of a MuJoCo model is `effort = kp (target - q) - kv dq`. With the target moved
along at the commanded speed v and raised by `v kv / kp`, it becomes `kp (∫v - q) + kv (v - dq)`: a
velocity servo with integral action that carries gravity without creeping. Velocity mode is that,
with the target kept within what the effort limit can pull, so that it never winds up against an
obstacle. Only effort mode, and servos lent to actuators that have none, rewrite gains.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.exceptions import InvalidJointStateError, SimulationError, UnknownNameError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators import control_kernels as kernels
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.mujoco_joints import IndexArray, JointTable
from teleop_system.simulators.mujoco_servos import Array, ControlMode, read_servos

MODE_NAMES = tuple(mode.name.lower() for mode in ControlMode)


class Actuation:
    """Turns joint commands into the control vector of one MuJoCo model.

    Attributes:
        is_servoing: Whether `advance()` has to be called before every step.
    """

    def __init__(self, model: Any, data: Any, table: JointTable, config: MuJoCoConfig) -> None:
        self._model, self._data, self._table = model, data, table
        self._servos = read_servos(model, table, config)
        self._control: Array = data.ctrl
        self._original = {
            name: getattr(model, name)[table.actuators].copy()
            for name in ("actuator_gainprm", "actuator_biasprm", "actuator_biastype")
        }
        self._limited = model.actuator_ctrllimited[table.actuators].copy()
        self._modes = self._servos.native.copy()
        self._commands = np.zeros(len(table))
        self._targets = np.zeros(len(table))  # Position targets of the servos in velocity mode.
        self._scratch = np.zeros(len(table))
        self._ramp_start = self._control.copy()
        self._ramp = np.empty((0, self._control.size))
        self._refresh()

    @property
    def commands(self) -> Array:
        """The commands in force, each in the unit of its joint's mode, shape (N,)."""
        return self._commands

    @property
    def position_limits(self) -> tuple[Array, Array]:
        """Smallest and largest position command in [rad] or [m], shape (N,) each."""
        return self._servos.lower[ControlMode.POSITION], self._servos.upper[ControlMode.POSITION]

    @property
    def velocity_limits(self) -> Array:
        """Largest speed command in [rad/s] or [m/s], shape (N,)."""
        limits: Array = self._servos.upper[ControlMode.VELOCITY]
        return limits

    def modes(self) -> list[str]:
        """Return the mode of every joint: "position", "velocity" or "effort"."""
        return [MODE_NAMES[mode] for mode in self._modes]

    def joints_in(self, mode: ControlMode) -> IndexArray:
        """Return the indices of the joints in a mode."""
        return self._by_mode[mode]

    def are_in(self, mode: ControlMode, indices: IndexArray) -> bool:
        """Return whether all joints of `indices` are in a mode."""
        return bool((self._modes[indices] == mode).all())

    def reset(self, positions: Array) -> None:
        """Return every joint to the mode its actuator was made for, holding `positions`."""
        self._restore(np.arange(len(self._table)))
        self._modes[:] = self._servos.native
        self._refresh()
        self._commands[:] = 0.0
        self._targets[:] = positions
        self.command(np.arange(len(self._table)), np.where(self._modes == 0, positions, 0.0))
        self.settle()

    def ramp(self, steps: int) -> Array | None:
        """Return position controls on a straight line from the last step to the present command.

        Returns:
            The control vector of each step, shape (steps, nu), valid until the next call; None
            where no control has changed, with a single step, and while servos write the controls.
        """
        if steps < 2 or self.is_servoing:
            return None
        if len(self._ramp) != steps:
            self._ramp = np.empty((steps, self._control.size))
        moved = kernels.ramp(self._control, self._ramp_start, self._ramped, self._ramp)
        return self._ramp if moved else None

    def settle(self) -> None:
        """Start the next ramp from the present controls."""
        self._ramp_start[:] = self._control

    def command_all(self, mode: ControlMode, values: ArrayLike) -> None:
        """Command the joints that are in `mode`; entries of other joints are ignored.

        Raises:
            InvalidJointStateError: `values` is not one finite number per joint.
        """
        try:
            self._scratch[:] = values  # It may be read-only, which the kernel does not take.
            fits = np.shape(values) == self._scratch.shape
        except (TypeError, ValueError):
            fits = False
        if not fits or not kernels.write_commands(
            self._scratch, self._writing[mode], self._command_map, self._commands, self._control
        ):
            _checked(values, len(self._table), MODE_NAMES[mode])  # Raises the error that says why.

    def command(self, indices: IndexArray, values: ArrayLike) -> None:
        """Command some joints, each in the unit of its own mode.

        Raises:
            InvalidJointStateError: `values` is not one finite number per index.
        """
        checked = _checked(values, len(indices), "joint")
        limited = np.maximum(checked, self._lower[indices])
        self._commands[indices] = np.minimum(limited, self._upper[indices])
        self._write(indices)

    def set_mode(self, name: str, indices: IndexArray) -> None:
        """Put joints into a mode, at a command that holds them where they are.

        Raises:
            UnknownNameError: There is no such mode.
            SimulationError: An actuator has a state of its own and cannot change.
        """
        if name not in MODE_NAMES:
            raise UnknownNameError("control mode", name, MODE_NAMES)
        mode = ControlMode(MODE_NAMES.index(name))
        changed = indices[self._modes[indices] != mode]
        stuck = changed[self._servos.fixed[changed]]
        if stuck.size:
            joint = self._table.names[stuck[0]]
            raise SimulationError(f"the actuator of {joint!r} has a state, so its mode is fixed")
        holding = self._holding_positions(changed)
        load = self._load(changed)
        self._modes[changed] = mode
        self._install(changed, mode)
        self._refresh()
        self._targets[changed] = holding
        held = {ControlMode.POSITION: holding, ControlMode.EFFORT: load}
        self.command(changed, held.get(mode, np.zeros(changed.size)))
        actuators = self._table.actuators[changed]
        self._ramp_start[actuators] = self._control[actuators]  # In the unit of the new mode.

    def advance(self, dt: float) -> None:
        """Advance the targets of the joints in velocity mode by one step of `dt` [s]."""
        indices = self._servoed
        velocity = self._commands[indices]
        measured = self._data.qpos[self._table.positions[indices]]
        target = self._targets[indices] + velocity * dt
        np.maximum(target, measured - self._reach, out=target)
        np.minimum(target, measured + self._reach, out=target)
        limits = self._servos.lower[0, indices], self._servos.upper[0, indices]
        ahead = np.where((target >= limits[0]) & (target <= limits[1]), velocity, 0.0)
        np.maximum(target, limits[0], out=target)
        np.minimum(target, limits[1], out=target)
        self._targets[indices] = target
        pulled = target + self._lead * ahead
        self._control[self._table.actuators[indices]] = (
            self._scale[indices] * pulled + self._offset[indices]
        )

    def _holding_positions(self, indices: IndexArray) -> Array:
        """Return position commands under which neither position nor effort steps."""
        measured = self._data.qpos[self._table.positions[indices]]
        loaded = measured + self._load(indices) / self._servos.stiffness[indices]
        mode = self._modes[indices]
        held = np.where(mode == ControlMode.POSITION, self._commands[indices], loaded)
        return np.where(self._is_servoed[indices], self._targets[indices], held)

    def _load(self, indices: IndexArray) -> Array:
        """Return the effort that keeps joints at rest, beyond gravity compensation."""
        dofs = self._table.dofs[indices]
        load: Array = self._data.qfrc_bias[dofs] - self._data.qfrc_gravcomp[dofs]
        return load

    def _write(self, indices: IndexArray) -> None:
        """Copy commands to the control vector; velocity servos are left to `advance()`."""
        actuators = self._table.actuators[indices]
        values = self._commands[indices] * self._scale[indices] + self._offset[indices]
        if self.is_servoing:
            kept = ~self._is_servoed[indices]
            actuators, values = actuators[kept], values[kept]
        self._control[actuators] = values

    def _install(self, indices: IndexArray, mode: ControlMode) -> None:
        """Set the gains of actuators for a mode."""
        self._restore(indices)
        model = self._model
        for index in indices:
            actuator = self._table.actuators[index]
            native = self._servos.native[index]
            if mode == native:
                continue
            model.actuator_ctrllimited[actuator] = 0  # `command` applies the limits of this mode.
            if (mode, native) == (ControlMode.VELOCITY, ControlMode.POSITION):
                continue
            model.actuator_gainprm[actuator] = 0.0
            model.actuator_biasprm[actuator] = 0.0
            if mode == ControlMode.EFFORT:
                model.actuator_gainprm[actuator, 0] = 1.0
                model.actuator_biastype[actuator] = mujoco.mjtBias.mjBIAS_NONE
                continue
            square = self._table.gears[index] ** 2
            model.actuator_biastype[actuator] = mujoco.mjtBias.mjBIAS_AFFINE
            model.actuator_gainprm[actuator, 0] = self._servos.stiffness[index] / square
            model.actuator_biasprm[actuator, 1] = -self._servos.stiffness[index] / square
            model.actuator_biasprm[actuator, 2] = -self._servos.damping[index] / square

    def _restore(self, indices: IndexArray) -> None:
        """Restore the gains of the model."""
        actuators = self._table.actuators[indices]
        for name, values in self._original.items():
            getattr(self._model, name)[actuators] = values[indices]
        self._model.actuator_ctrllimited[actuators] = self._limited[indices]

    def _refresh(self) -> None:
        """Recompute everything that depends on the modes."""
        all_joints = np.arange(len(self._table))
        self._by_mode = tuple(np.flatnonzero(self._modes == mode) for mode in ControlMode)
        self._lower = self._servos.lower[self._modes, all_joints]
        self._upper = self._servos.upper[self._modes, all_joints]
        positioned = self._by_mode[ControlMode.POSITION]
        self._ramped = self._table.actuators[positioned].astype(np.int64)
        moving = self._by_mode[ControlMode.VELOCITY]
        lent = self._servos.native[moving] != ControlMode.VELOCITY
        self._servoed: IndexArray = moving[lent]
        self._is_servoed = np.isin(all_joints, self._servoed)
        self.is_servoing = bool(self._servoed.size)
        stiffness = self._servos.stiffness[self._servoed]
        self._lead = self._servos.damping[self._servoed] / stiffness
        self._reach = self._servos.upper[ControlMode.EFFORT, self._servoed] / stiffness
        self._scale, self._offset = self._control_map()
        self._command_map = np.stack([self._lower, self._upper, self._scale, self._offset])
        # The actuator each joint writes; `advance()` writes those of velocity servos.
        writes = np.where(self._is_servoed, -1, self._table.actuators)
        self._writing = tuple(np.stack([p, writes[p]]).astype(np.int64) for p in self._by_mode)

    def _control_map(self) -> tuple[Array, Array]:
        """Return scale and offset from joint commands to the control vector.

        MuJoCo's effort is `gear (gain ctrl + b0 + b1 gear q + b2 gear dq)`. A position or velocity
        command is reached where the bracket is zero; an effort is the bracket itself.
        """
        actuators, gears = self._table.actuators, self._table.gears
        gain = self._model.actuator_gainprm[actuators, 0]
        gain = np.where(gain == 0.0, 1.0, gain)
        bias = self._model.actuator_biasprm[actuators, :3].copy()
        bias[self._model.actuator_biastype[actuators] == mujoco.mjtBias.mjBIAS_NONE] = 0.0
        by_mode = np.stack([-bias[:, 1] * gears, -bias[:, 2] * gears, 1.0 / gears]) / gain
        modes = self._modes.copy()
        modes[self._servoed] = ControlMode.POSITION
        return by_mode[modes, np.arange(len(modes))], -bias[:, 0] / gain


def _checked(values: ArrayLike, count: int, what: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidJointStateError(f"{what} commands must be numbers, got {values!r}") from error
    if array.shape != (count,):
        raise InvalidJointStateError(f"needed {count} {what} commands, got shape {array.shape}")
    if not np.isfinite(array).all():
        bad: Sequence[int] = np.flatnonzero(~np.isfinite(array)).tolist()
        raise InvalidJointStateError(f"{what} commands {bad} are not finite, got {array[bad]}")
    return array
