# SPDX-License-Identifier: Apache-2.0
"""Tracks one foot: whether it is lifted, where it stood last, and how long it has been still."""

import math

from teleop_system.modules.locomotion.config import GaitConfig
from teleop_system.modules.locomotion.yaw_kernels import yaw_between
from teleop_system.utils.poses import PoseTuple

FLOOR_RISE_TIME = 1.0
"""Time constant in [s] of the floor height towards a planted foot above it."""
FLOOR_FALL_TIME = 0.1
"""Time constant in [s] of the floor height towards a foot below it."""


class FootMotion:
    """State of one foot, updated by every sample."""

    def __init__(self, config: GaitConfig, pose: PoseTuple, time: float) -> None:
        self._config = config
        self._floor = pose[0][2]
        self._last_stand = self._rest_pose = pose
        self._time = self._moved_at = time
        self.is_lifted = False
        self.lifted_at = -math.inf
        """Time of the last lift in [s]."""
        self.landed_in_place = True
        """Whether the last step ended where it began, with the same heading."""

    def update(self, pose: PoseTuple, time: float) -> bool:
        """Add a sample measured at `time` [s]; return whether the foot has just been lifted."""
        config = self._config
        height = pose[0][2]
        dt, self._time = time - self._time, time
        self._update_rest(pose, time)
        above = height - self._floor
        was_lifted = self.is_lifted
        self.is_lifted = above > (config.plant_height if was_lifted else config.lift_height)
        if not self.is_lifted:
            settling = FLOOR_RISE_TIME if above > 0.0 else FLOOR_FALL_TIME
            self._floor += above * -math.expm1(-dt / settling)
            if was_lifted:
                self.landed_in_place = self._is_in_place(pose)
            if above < config.plant_height:
                self._last_stand = pose
        elif not was_lifted:
            self.lifted_at = time
        return self.is_lifted and not was_lifted

    @property
    def resting_time(self) -> float:
        """Time in [s] for which the foot has been still, on the floor or above it."""
        return self._time - self._moved_at

    def _update_rest(self, pose: PoseTuple, time: float) -> None:
        """Restart the resting time if the foot has left its rest pose."""
        displacement = math.dist(pose[0], self._rest_pose[0])
        yaw = yaw_between(self._rest_pose[1], pose[1])
        if displacement > self._config.rest_radius or abs(yaw) > self._config.rest_turn:
            self._rest_pose = pose
            self._moved_at = time

    def _is_in_place(self, pose: PoseTuple) -> bool:
        displacement = math.dist(pose[0][:2], self._last_stand[0][:2])
        yaw = yaw_between(self._last_stand[1], pose[1])
        return displacement <= self._config.step_radius and not abs(yaw) > self._config.step_turn
