# SPDX-License-Identifier: Apache-2.0
"""Pose and velocity of the robot's base, and its differential drive."""

import logging
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError, SimulationError
from teleop_system.robots.description import Base
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.mujoco_actuation import Actuation
from teleop_system.simulators.mujoco_joints import IndexArray, JointTable, free_joint
from teleop_system.simulators.mujoco_servos import ControlMode
from teleop_system.utils.transforms import (
    mujoco_to_ros2_quaternion,
    quat_conjugate,
    quat_multiply,
    quat_rotate,
)

logger = logging.getLogger(__name__)

NEGLIGIBLE_SPEED = 1e-9
"""A commanded speed below this in [m/s] or [rad/s] counts as zero."""

Array = NDArray[np.float64]
ROUND_GEOMS = ("SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER")


class BaseState:
    """Pose and velocity of the root body."""

    def __init__(self, model: Any, data: Any, root: int) -> None:
        self._data = data
        self._root = root
        joint = free_joint(model, root)
        self.is_free = joint is not None
        self._qpos = int(model.jnt_qposadr[joint]) if joint is not None else 0
        self._qvel = int(model.jnt_dofadr[joint]) if joint is not None else 0
        self._start = self.pose()

    def restart(self) -> None:
        """Reset odometry to the current pose."""
        self._start = self.pose()

    def pose(self) -> tuple[Array, Array]:
        """Return position [m], shape (3,), and orientation xyzw, shape (4,), in the world."""
        if not self.is_free:
            quaternion = self._data.xquat[self._root]
            return self._data.xpos[self._root].copy(), mujoco_to_ros2_quaternion(quaternion)
        state = self._data.qpos[self._qpos : self._qpos + 7]
        return state[:3].copy(), mujoco_to_ros2_quaternion(state[3:])

    def odometry(self) -> tuple[Array, Array]:
        """Return position [m] and orientation xyzw relative to the start of the run."""
        position, orientation = self.pose()
        back = quat_conjugate(self._start[1])
        return quat_rotate(back, position - self._start[0]), quat_multiply(back, orientation)

    def twist(self) -> tuple[Array, Array]:
        """Return linear [m/s] and angular [rad/s] velocity in the base frame, shape (3,) each."""
        if not self.is_free:
            return np.zeros(3), np.zeros(3)
        velocity = self._data.qvel[self._qvel : self._qvel + 6]
        # MuJoCo gives the linear velocity of a free joint in the world, the angular in the body.
        return quat_rotate(quat_conjugate(self.pose()[1]), velocity[:3]), velocity[3:].copy()


class DifferentialDrive:
    """Converts a base velocity to the speeds of two wheels."""

    def __init__(self, base: Base, table: JointTable, wheel_limits: Array) -> None:
        self._base = base
        self.indices = table.indices(base.joints)
        limits = wheel_limits[self.indices]
        self._wheel_limit = float(limits.min())
        self._sideways = False

    def command(
        self, actuation: Actuation, linear_x: float, linear_y: float, angular_z: float
    ) -> None:
        """Command a base velocity to the wheels.

        Raises:
            SimulationError: The wheels are not in velocity mode.
        """
        if not actuation.are_in(ControlMode.VELOCITY, self.indices):
            raise SimulationError("the wheels are not in velocity mode")
        actuation.command(self.indices, self.wheel_speeds(linear_x, linear_y, angular_z))

    def wheel_speeds(self, linear_x: float, linear_y: float, angular_z: float) -> Array:
        """Return the wheel speeds [rad/s], left first, within all limits on the same curve."""
        self._report_sideways(linear_y)
        base = self._base
        forward = min(max(linear_x, -base.max_linear), base.max_linear)
        yaw_rate = min(max(angular_z, -base.max_angular), base.max_angular)
        half = 0.5 * base.track * yaw_rate
        fastest = (abs(forward) + abs(half)) / base.wheel_radius
        # Scale both wheels, so that the curve stays the same.
        scale = min(1.0, self._wheel_limit / fastest) if fastest > 0.0 else 1.0
        scale *= base.wheel_sign / base.wheel_radius
        return np.array([(forward - half) * scale, (forward + half) * scale])

    def _report_sideways(self, linear_y: float) -> None:
        sideways = abs(linear_y) > NEGLIGIBLE_SPEED
        if sideways and not self._sideways:
            logger.warning("two wheels cannot move sideways: %.3g m/s is ignored", linear_y)
        self._sideways = sideways


def require_finite_speeds(*speeds: float) -> None:
    """Check a commanded base velocity.

    Raises:
        InvalidValueError: A speed is not a finite number.
    """
    for name, speed in zip(("linear_x", "linear_y", "angular_z"), speeds, strict=True):
        if not isinstance(speed, int | float | np.floating) or not math.isfinite(speed):
            raise InvalidValueError(f"{name} must be a finite speed, got {speed!r}")


def find_wheel_pair(model: Any, data: Any, table: JointTable, driven: IndexArray) -> Base | None:
    """Return the wheels of a robot on a free base, or None without exactly two.

    A wheel is a hinge without limits, about a horizontal axis, with a velocity actuator; `data`
    has to be in the reference pose, with x forward.

    Args:
        model: MuJoCo's model.
        data: Its state in the reference pose.
        table: The joints that can be commanded.
        driven: Those among them with a velocity actuator.
    """
    found = [index for index in driven if _is_wheel(model, data, int(table.joints[index]))]
    if len(found) != 2:
        return None
    left, right = sorted(found, key=lambda index: -data.xanchor[table.joints[index], 1])
    joint = int(table.joints[left])
    radius = _radius(model, int(model.jnt_bodyid[joint]))
    track = float(data.xanchor[joint, 1] - data.xanchor[table.joints[right], 1])
    if radius <= 0.0 or track <= 0.0:
        return None
    return Base(
        kind="differential",
        left_wheel=table.names[left],
        right_wheel=table.names[right],
        wheel_radius=radius,
        track=track,
        axle_offset=float(data.xanchor[joint, 0] - data.xpos[_root(model, joint), 0]),
        wheel_sign=1 if data.xaxis[joint, 1] > 0.0 else -1,
        max_linear=math.inf,
        max_angular=math.inf,
    )


def _is_wheel(model: Any, data: Any, joint: int) -> bool:
    return bool(
        model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        and not model.jnt_limited[joint]
        and free_joint(model, _root(model, joint)) is not None
        and abs(data.xaxis[joint, 1]) > 0.99
    )


def _root(model: Any, joint: int) -> int:
    return int(model.body_rootid[model.jnt_bodyid[joint]])


def _radius(model: Any, body: int) -> float:
    """Return the radius of the largest round shape of a body with contacts enabled."""
    kinds = [getattr(mujoco.mjtGeom, f"mjGEOM_{name}").value for name in ROUND_GEOMS]
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body]))
    return max(
        (
            # The size of a cylinder is its radius and half its width, of an ellipsoid all three.
            float(model.geom_size[geom].max() if kind == kinds[2] else model.geom_size[geom, 0])
            for geom in geoms
            if (kind := model.geom_type[geom]) in kinds and model.geom_contype[geom]
        ),
        default=0.0,
    )
