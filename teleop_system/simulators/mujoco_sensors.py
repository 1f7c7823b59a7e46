# SPDX-License-Identifier: Apache-2.0
"""Force/torque sensors, inertial sensors and contacts.

A force/torque sensor NAME is the pair `NAME_ft_force`, `NAME_ft_torque`; an inertial sensor NAME
is the triple `NAME_imu_quat`, `NAME_imu_gyro`, `NAME_imu_accel`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.utils.transforms import mujoco_to_ros2_quaternion

Array = NDArray[np.float64]
FORCE_TORQUE = ("_ft_force", "_ft_torque")
INERTIAL = ("_imu_quat", "_imu_gyro", "_imu_accel")


class Wrench(NamedTuple):
    """Force and torque of the arm on the tool, in the frame of the sensor.

    A tool at rest reads its weight, pointing upwards. The arrays are read-only views of the
    current values.

    Attributes:
        force: Force in [N], shape (3,).
        torque: Torque in [N m], shape (3,).
    """

    force: Array
    torque: Array


class ImuReading(NamedTuple):
    """Measurement of an inertial sensor; vectors are in its frame and views of current values.

    Attributes:
        orientation: Orientation of the sensor in the world, xyzw, shape (4,).
        angular_velocity: Angular velocity in [rad/s], shape (3,).
        linear_acceleration: Acceleration in [m/s^2], shape (3,), with gravity: +g upwards at rest.
    """

    orientation: Array
    angular_velocity: Array
    linear_acceleration: Array


class Sensors:
    """The named sensors of one model."""

    def __init__(self, model: Any, data: Any) -> None:
        views = _views(model, data)
        self._wrenches = {
            name: Wrench(*parts) for name, parts in _complete_sensors(views, FORCE_TORQUE).items()
        }
        self._imus = _complete_sensors(views, INERTIAL)

    @property
    def force_torque_names(self) -> tuple[str, ...]:
        """Names of the force/torque sensors."""
        return tuple(self._wrenches)

    @property
    def imu_names(self) -> tuple[str, ...]:
        """Names of the inertial sensors."""
        return tuple(self._imus)

    def force_torque(self, name: str) -> Wrench:
        """Return a force/torque reading.

        Raises:
            UnknownNameError: The sensor does not exist.
        """
        if name not in self._wrenches:
            raise UnknownNameError("force/torque sensor", name, self._wrenches)
        return self._wrenches[name]

    def imu(self, name: str) -> ImuReading:
        """Return an inertial reading.

        Raises:
            UnknownNameError: The sensor does not exist.
        """
        if name not in self._imus:
            raise UnknownNameError("inertial sensor", name, self._imus)
        quaternion, gyro, acceleration = self._imus[name]
        return ImuReading(mujoco_to_ros2_quaternion(quaternion), gyro, acceleration)


def touching_bodies(model: Any, data: Any, roots: NDArray[np.int32]) -> set[tuple[str, str]]:
    """Return the pairs of bodies below the given roots that touch each other, names sorted."""
    contact = data.contact
    touching = contact.geom[contact.dist <= 0.0]
    pairs = model.geom_bodyid[touching].reshape(-1, 2)
    own = np.isin(model.body_rootid[pairs], roots).all(axis=1)
    named = ([model.body(int(body)).name for body in pair] for pair in pairs[own])
    return {(min(pair), max(pair)) for pair in named}


def _views(model: Any, data: Any) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for sensor in range(model.nsensor):
        start = int(model.sensor_adr[sensor])
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, sensor) or ""
        view = data.sensordata[start : start + int(model.sensor_dim[sensor])]
        view.setflags(write=False)
        found[name] = view
    return found


def _complete_sensors(
    views: dict[str, Array], endings: tuple[str, ...]
) -> dict[str, tuple[Array, ...]]:
    """Return the sensors with all parts, by the name before the endings."""
    stems = [name.removesuffix(endings[0]) for name in views if name.endswith(endings[0])]
    return {
        stem: tuple(views[stem + ending] for ending in endings)
        for stem in stems
        if all(stem + ending in views for ending in endings)
    }
