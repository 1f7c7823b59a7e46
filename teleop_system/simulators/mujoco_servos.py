# SPDX-License-Identifier: Apache-2.0
"""Native mode, stiffness, damping and limits of every actuator of a model."""

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.mujoco_joints import JointTable

SERVO_FREQUENCY = 100.0
"""Natural frequency in [rad/s] of the servo added to a joint whose actuator has none."""
SERVO_STEP = 0.2
"""Largest product of that frequency and the time step; every integrator is stable well above."""

Array = NDArray[np.float64]


class ControlMode(enum.IntEnum):
    """What a joint's command means."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Servos:
    """Servo and limits of every commanded joint, in joint units, each of shape (N,).

    Attributes:
        native: The mode of each actuator in the model.
        stiffness: Effort per position error in [N m/rad] or [N/m].
        damping: Effort per velocity error in [N m s/rad] or [N s/m].
        fixed: True where the actuator has a state of its own, so that its mode cannot change.
        lower: Smallest command of each mode, shape (3, N).
        upper: Largest command of each mode, shape (3, N).
    """

    native: NDArray[np.int8]
    stiffness: Array
    damping: Array
    fixed: NDArray[np.bool_]
    lower: Array
    upper: Array


def read_servos(model: Any, table: JointTable, config: MuJoCoConfig) -> Servos:
    """Return the servos of the model, and ours for actuators that have none.

    Raises:
        UnknownNameError: A joint of `velocity_limits` does not exist.
    """
    native = np.array([_native_mode(model, a) for a in table.actuators], dtype=np.int8)
    gears_squared = table.gears**2
    own = native == ControlMode.POSITION
    inertia = model.dof_M0[table.dofs]
    frequency = min(SERVO_FREQUENCY, SERVO_STEP / model.opt.timestep)
    bias = model.actuator_biasprm[table.actuators]
    position = _position_range(model, table, native)
    velocity = _velocity_limit(model, table, native, config)
    effort = _effort_limit(model, table, native)
    return Servos(
        native,
        stiffness=np.where(own, -bias[:, 1] * gears_squared, inertia * frequency**2),
        damping=np.where(own, -bias[:, 2] * gears_squared, 2.0 * inertia * frequency),
        fixed=model.actuator_actnum[table.actuators] > 0,
        lower=np.stack([position[0], -velocity, -effort]),
        upper=np.stack([position[1], velocity, effort]),
    )


def _native_mode(model: Any, actuator: int) -> ControlMode:
    if model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_INTEGRATOR:
        return ControlMode.VELOCITY
    if model.actuator_biastype[actuator] != mujoco.mjtBias.mjBIAS_AFFINE:
        return ControlMode.EFFORT
    _, stiffness, damping = model.actuator_biasprm[actuator, :3]
    if stiffness != 0.0:
        return ControlMode.POSITION
    return ControlMode.VELOCITY if damping != 0.0 else ControlMode.EFFORT


def _position_range(
    model: Any, table: JointTable, native: NDArray[np.int8]
) -> tuple[Array, Array]:
    limited = model.jnt_limited[table.joints].astype(bool)
    lower = np.where(limited, model.jnt_range[table.joints, 0], -np.inf)
    upper = np.where(limited, model.jnt_range[table.joints, 1], np.inf)
    own = _has_control_range(model, table) & (native == ControlMode.POSITION)
    gain = model.actuator_gainprm[table.actuators, :1]
    bias = model.actuator_biasprm[table.actuators]
    slope = np.where(own, -bias[:, 1] * table.gears, 1.0)[:, None]
    ends = (gain * model.actuator_ctrlrange[table.actuators] + bias[:, :1]) / slope
    ends.sort(axis=1)
    return np.where(own, ends[:, 0], lower), np.where(own, ends[:, 1], upper)


def _velocity_limit(
    model: Any, table: JointTable, native: NDArray[np.int8], config: MuJoCoConfig
) -> Array:
    own = _has_control_range(model, table) & (native == ControlMode.VELOCITY)
    limit = np.where(own, _largest(model.actuator_ctrlrange[table.actuators]), np.inf)
    limit /= np.abs(table.gears)
    for joint, speed in config.velocity_limits.items():
        index = table.index(joint)
        limit[index] = min(limit[index], speed)
    return limit


def _effort_limit(model: Any, table: JointTable, native: NDArray[np.int8]) -> Array:
    actuators, gears = table.actuators, np.abs(table.gears)
    forced = model.actuator_forcelimited[actuators].astype(bool)
    limit = np.where(forced, _largest(model.actuator_forcerange[actuators]), np.inf) * gears
    joint_limited = model.jnt_actfrclimited[table.joints].astype(bool)
    joint_limit = _largest(model.jnt_actfrcrange[table.joints])
    limit = np.where(joint_limited, np.minimum(limit, joint_limit), limit)
    motor = _has_control_range(model, table) & (native == ControlMode.EFFORT)
    gain = np.abs(model.actuator_gainprm[actuators, 0]) * gears
    motor_limit = _largest(model.actuator_ctrlrange[actuators]) * gain
    return np.where(motor, np.minimum(limit, motor_limit), limit)


def _has_control_range(model: Any, table: JointTable) -> NDArray[np.bool_]:
    limited: NDArray[np.bool_] = model.actuator_ctrllimited[table.actuators].astype(bool)
    return limited


def _largest(ranges: Array) -> Array:
    largest: Array = np.abs(ranges).max(axis=1)
    return largest
