# SPDX-License-Identifier: Apache-2.0
"""Force/torque sensors, inertial units and contacts, found by name.

A force/torque sensor NAME is the pair `NAME_ft_force`, `NAME_ft_torque`; an inertial unit NAME is
the triple `NAME_imu_quat`, `NAME_imu_gyro`, `NAME_imu_accel`.
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
    """What the arm exerts on the tool beyond a sensor, in the sensor's frame.

    A tool at rest reads its weight, pointing upwards. The arrays are read-only views that stay
    current.

    Attributes:
        force: In [N], shape (3,).
        torque: In [N m], shape (3,).
    """

    force: Array
    torque: Array


class ImuReading(NamedTuple):
    """What an inertial unit measures.

    Attributes:
        orientation: Of the unit in the world, xyzw, shape (4,).
        angular_velocity: In the unit's frame in [rad/s], shape (3,), a view that stays current.
        linear_acceleration: With gravity, so +g upwards at rest, in the unit's frame in
            [m/s^2], shape (3,), a view that stays current.
    """

    orientation: Array
    angular_velocity: Array
    linear_acceleration: Array


class Sensors:
    """The named sensors of one model."""

    def __init__(self, model: Any, data: Any) -> None:
        views = _views(model, data)
        self._wrenches = {
            name: Wrench(*parts) for name, parts in _groups(views, FORCE_TORQUE).items()
        }
        self._imus = _groups(views, INERTIAL)

    @property
    def force_torque_names(self) -> tuple[str, ...]:
        """Names of the force/torque sensors."""
        return tuple(self._wrenches)

    @property
    def imu_names(self) -> tuple[str, ...]:
        """Names of the inertial units."""
        return tuple(self._imus)

    def force_torque(self, name: str) -> Wrench:
        """Return a force/torque reading.

        Raises:
            UnknownNameError: There is no such sensor.
        """
        if name not in self._wrenches:
            raise UnknownNameError("force/torque sensor", name, self._wrenches)
        return self._wrenches[name]

    def imu(self, name: str) -> ImuReading:
        """Return an inertial reading.

        Raises:
            UnknownNameError: There is no such sensor.
        """
        if name not in self._imus:
            raise UnknownNameError("inertial unit", name, self._imus)
        quaternion, gyro, acceleration = self._imus[name]
        return ImuReading(mujoco_to_ros2_quaternion(quaternion), gyro, acceleration)


def touching_bodies(model: Any, data: Any, roots: NDArray[np.int32]) -> set[tuple[str, str]]:
    """Return the pairs of bodies on some roots that touch each other, names sorted."""
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


def _groups(views: dict[str, Array], endings: tuple[str, ...]) -> dict[str, tuple[Array, ...]]:
    """Return the sensors of which every part is there, by the name before the endings."""
    stems = [name.removesuffix(endings[0]) for name in views if name.endswith(endings[0])]
    return {
        stem: tuple(views[stem + ending] for ending in endings)
        for stem in stems
        if all(stem + ending in views for ending in endings)
    }
