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


Place = tuple[list[float], list[float]]
"""Position [m] and orientation xyzw as plain floats, which are read again and again."""


def place_of(pose: Pose6D) -> Place:
    """Return a pose as plain floats."""
    return pose.position.tolist(), pose.orientation.tolist()


def yaw_between(reference: list[float], orientation: list[float]) -> float | None:
    """Return the turn about the vertical from one orientation to another, in (-pi, pi] [rad].

    The twist is free of drift and of how the tracker is strapped on, and blind to the pitch of
    a rolling foot. None where the body has been turned nearly upside down and yaw means nothing.
    """
    ax, ay, az, aw = reference
    bx, by, bz, bw = orientation
    z = bz * aw - bw * az + by * ax - bx * ay
    w = bw * aw + bx * ax + by * ay + bz * az
    if z * z + w * w < SMALLEST_TWIST * SMALLEST_TWIST:
        return None
    return math.remainder(2.0 * math.atan2(z, w), 2.0 * math.pi)


class FootMotion:
    """Follows one foot from sample to sample."""

    def __init__(self, config: GaitConfig, place: Place, time: float) -> None:
        self._config = config
        self._floor = place[0][2]
        self._stood = self._still = place
        self._time = self._moved_at = time
        self.is_lifted = False
        self.lifted_at = -math.inf
        """Time of the last lift in [s]."""
        self.landed_in_place = True
        """Whether the last step ended where it began, facing the same way."""

    def update(self, place: Place, time: float) -> bool:
        """Take a sample measured at `time` [s]; return whether the foot was lifted just now."""
        config = self._config
        height = place[0][2]
        dt, self._time = time - self._time, time
        self._note_rest(place, time)
        above = height - self._floor
        was_lifted = self.is_lifted
        self.is_lifted = above > (config.plant_height if was_lifted else config.lift_height)
        if not self.is_lifted:
            settling = FLOOR_RISE_TIME if above > 0.0 else FLOOR_FALL_TIME
            self._floor += above * -math.expm1(-dt / settling)
            if was_lifted:
                self.landed_in_place = self._is_in_place(place)
            if above < config.plant_height:
                self._stood = place
        elif not was_lifted:
            self.lifted_at = time
        return self.is_lifted and not was_lifted

    @property
    def resting_time(self) -> float:
        """How long the foot has been still, on the floor or above it, in [s]."""
        return self._time - self._moved_at

    def _note_rest(self, place: Place, time: float) -> None:
        """Move the place of rest after a foot that has left it."""
        moved = math.dist(place[0], self._still[0])
        turned = yaw_between(self._still[1], place[1]) or 0.0
        if moved > self._config.rest_radius or abs(turned) > self._config.rest_turn:
            self._still = place
            self._moved_at = time

    def _is_in_place(self, place: Place) -> bool:
        moved = math.dist(place[0][:2], self._stood[0][:2])
        turned = yaw_between(self._stood[1], place[1]) or 0.0
        return moved <= self._config.step_radius and abs(turned) <= self._config.step_turn
