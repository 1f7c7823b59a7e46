# SPDX-License-Identifier: Apache-2.0
"""Smooth speeds for a base whose axes share its wheels."""

import numpy as np

from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.modules.locomotion.slew_kernels import AXIS, Array, brake_axes, follow_axes


class BaseSlew:
    """Moves the speeds of several axes towards requested speeds within what the wheels can do.

    The axes drive the same wheels, so each may use only a share of its acceleration limit. The
    shares add up to one and follow what each axis still has to do, so that all arrive together.
    They change no faster than the jerk limit lets accelerations follow.

    Args:
        config: Limits, and the kind of base.

    Attributes:
        speeds: The newest speed forward in [m/s], of rotation in [rad/s] and, for a holonomic
            base, to the left in [m/s]; each step changes the array.
    """

    def __init__(self, config: LocomotionConfig) -> None:
        linear = (
            config.linear_acceleration,
            config.linear_jerk,
            config.braking_acceleration,
            config.braking_jerk,
        )
        angular = (
            config.angular_acceleration,
            config.angular_jerk,
            config.angular_braking,
            config.angular_braking_jerk,
        )
        limits = [linear, angular] if config.drive == "differential" else [linear, angular, linear]
        self._axes = np.array([(*axis, 0.0, 0.0, 0.0) for axis in limits], dtype=AXIS)
        self._share_rate = min(jerk / acceleration for acceleration, jerk, _, _ in limits)
        self.speeds: Array = self._axes["velocity"]
        self.reset()

    def reset(self) -> None:
        """Stand still."""
        self._axes["velocity"] = self._axes["acceleration"] = 0.0
        self._axes["share"] = 1.0 / self._axes.size

    @property
    def is_standing(self) -> bool:
        """Whether every axis is exactly at rest, and stays there."""
        return not (self.speeds.any() or self._axes["acceleration"].any())

    def follow(self, requested: Array, dt: float) -> None:
        """Approach the requested speeds, in the order of `speeds`, for `dt` [s]."""
        follow_axes(self._axes, requested, self._share_rate, dt)

    def brake(self, dt: float) -> None:
        """Brake all axes for `dt` [s]; call it until they stand."""
        brake_axes(self._axes, dt)
