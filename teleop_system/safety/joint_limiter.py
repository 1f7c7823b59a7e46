# SPDX-License-Identifier: Apache-2.0
"""Motion of a few joints towards targets, within velocity, acceleration and jerk limits."""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.safety.joint_limiter_kernels import (
    JOINT,
    Array,
    Joints,
    brake_along,
    move_joints,
)


class JointLimiter:
    """Follows targets as fast as the limits allow, without overshoot.

    It uses the motion laws of the safety manager, for controllers that need a smooth output of
    their own. A target at rest is reached in the least time. A moving target is followed with a
    lag of about v²/2a, unless its velocity is given: then the joints head for where the target
    could stop by the same limits.

    Args:
        size: Number of joints N.
        velocity: Largest speeds in [unit/s], one for all or shape (N,), as all limits.
        acceleration: Largest accelerations in [unit/s^2].
        jerk: Largest jerks in [unit/s^3].
        lower: Smallest positions that are ever targeted.
        upper: Largest positions that are ever targeted.

    Attributes:
        position: The newest output, shape (N,), as all; each step changes these arrays.
        velocity: Its velocity in [unit/s].
        rest: Where the joints come to rest if they brake from now on.
    """

    def __init__(
        self,
        size: int,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        jerk: ArrayLike,
        *,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
    ) -> None:
        self._joints = np.zeros(size, dtype=JOINT)
        self._joints["max_speed"], self._joints["max_acceleration"] = velocity, acceleration
        self._joints["max_jerk"] = jerk
        self._joints["lower"], self._joints["upper"] = lower, upper
        self.position: Array = self._joints["position"]
        self.velocity: Array = self._joints["velocity"]
        self.rest: Array = self._joints["rest"]
        self._target, self._target_velocity, self._at_rest = np.zeros((3, size))

    @property
    def state(self) -> Joints:
        """A copy of the joints; assign it to restore their motion."""
        return self._joints.copy()

    @state.setter
    def state(self, joints: Joints) -> None:
        self._joints[:] = joints

    def reset(self, position: ArrayLike) -> None:
        """Be at rest at `position`."""
        self.position[:] = self.rest[:] = position
        for name in ("velocity", "acceleration", "excursion"):
            self._joints[name] = 0.0

    def update(
        self,
        target: ArrayLike,
        dt: float,
        *,
        max_speed: float = math.inf,
        target_velocity: ArrayLike | None = None,
    ) -> Array:
        """Return the positions `dt` [s] later; with `dt` of zero or NaN nothing moves.

        Args:
            target: Positions to reach, shape (N,); a joint whose target is not finite brakes.
            dt: Time since the last call in [s].
            max_speed: Speed limit of this step in [unit/s], if it is below the general ones. A
                faster joint slows down as quickly as its other limits allow.
            target_velocity: Velocity of the target in [unit/s]; NaN makes the joint brake, and
                without it the target is at rest.
        """
        if dt > 0.0:
            self._target[:] = target
            velocity = self._at_rest
            if target_velocity is not None:
                velocity = self._target_velocity
                velocity[:] = target_velocity
            move_joints(self._joints, self._target, velocity, max_speed, dt)
        return self.position

    def brake(self, dt: float) -> Array:
        """Return the positions `dt` [s] later, braking as hard as the limits allow."""
        return self.update(math.nan, dt)

    def braking_poses(self, shares: Array) -> Array:
        """Return where the joints are after shares of the time in which all come to rest, (K, N).

        Args:
            shares: Shares of that time, from 0 to 1, shape (K,).
        """
        poses = np.empty((shares.size, self._joints.size))
        brake_along(self._joints, shares, poses)
        return poses
