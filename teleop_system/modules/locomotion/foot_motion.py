# SPDX-License-Identifier: Apache-2.0
"""One foot: whether it is lifted, where it last stood, and how long it has been still."""

import math

from teleop_system.interfaces import Pose6D
from teleop_system.modules.locomotion.config import GaitConfig

FLOOR_RISE_TIME = 1.0
"""Time constant in [s] at which the floor rises to a planted foot."""
FLOOR_FALL_TIME = 0.1
"""Time constant in [s] at which the floor falls to a foot below it."""
SMALLEST_TWIST = 0.2
"""Length of the twist part of a quaternion below which it has no yaw worth the name."""


def yaw_between(reference: Pose6D, pose: Pose6D) -> float | None:
    """Return the turn about the vertical from one orientation to another, in (-pi, pi] [rad].

    The twist is free of drift and of how the tracker is strapped on, and blind to the pitch of
    a rolling foot. None where the body has been turned nearly upside down and yaw means nothing.
    """
    ax, ay, az, aw = reference.orientation.tolist()
    bx, by, bz, bw = pose.orientation.tolist()
    z = bz * aw - bw * az + by * ax - bx * ay
    w = bw * aw + bx * ax + by * ay + bz * az
    if z * z + w * w < SMALLEST_TWIST * SMALLEST_TWIST:
        return None
    return math.remainder(2.0 * math.atan2(z, w), 2.0 * math.pi)


class FootMotion:
    """Follows one foot from sample to sample."""

    def __init__(self, config: GaitConfig, pose: Pose6D) -> None:
        self._config = config
        self._floor = float(pose.position[2])
        self._stood = self._still = pose
        self._time = self._moved_at = pose.timestamp
        self.is_lifted = False
        self.lifted_at = -math.inf
        """Time of the last lift in [s]."""
        self.landed_in_place = True
        """Whether the last step ended where it began, facing the same way."""

    def update(self, pose: Pose6D) -> bool:
        """Take a new sample; return whether the foot was lifted just now."""
        config = self._config
        height = float(pose.position[2])
        dt, self._time = pose.timestamp - self._time, pose.timestamp
        self._note_rest(pose)
        above = height - self._floor
        was_lifted = self.is_lifted
        self.is_lifted = above > (config.plant_height if was_lifted else config.lift_height)
        if not self.is_lifted:
            time = FLOOR_RISE_TIME if above > 0.0 else FLOOR_FALL_TIME
            self._floor += above * -math.expm1(-dt / time)
            if was_lifted:
                self.landed_in_place = self._is_in_place(pose)
            if above < config.plant_height:
                self._stood = pose
        elif not was_lifted:
            self.lifted_at = pose.timestamp
        return self.is_lifted and not was_lifted

    @property
    def resting_time(self) -> float:
        """How long the foot has been still, on the floor or above it, in [s]."""
        return self._time - self._moved_at

    def _note_rest(self, pose: Pose6D) -> None:
        """Move the place of rest after a foot that has left it."""
        moved = math.dist(pose.position.tolist(), self._still.position.tolist())
        turned = yaw_between(self._still, pose) or 0.0
        if moved > self._config.rest_radius or abs(turned) > self._config.rest_turn:
            self._still = pose
            self._moved_at = pose.timestamp

    def _is_in_place(self, pose: Pose6D) -> bool:
        moved = math.dist(pose.position[:2].tolist(), self._stood.position[:2].tolist())
        turned = yaw_between(self._stood, pose) or 0.0
        return moved <= self._config.step_radius and abs(turned) <= self._config.step_turn
