# SPDX-License-Identifier: Apache-2.0
"""How far a base with given limits could have followed a person, whoever steers it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.metrics import path_length
from teleop_system.modules.locomotion.config import LocomotionConfig

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WalkScore:
    """How a base followed a walk.

    Attributes:
        walked: Way of the person in [m].
        allowed: Way of a base that follows at once, within its limits of speed and acceleration.
        driven: Way that the base went in [m].
        turned: Angle that the person turned, all turns added up, in [rad].
        turn_allowed: The same of a base within its limits in [rad].
        turn_driven: The same of the base in [rad].
    """

    walked: float
    allowed: float
    driven: float
    turned: float
    turn_allowed: float
    turn_driven: float

    @property
    def share(self) -> float:
        """What the base went of what its limits allow."""
        return self.driven / self.allowed if self.allowed > 0.05 else 1.0


def judge_walk(time: Array, person: Array, odometry: Array, config: LocomotionConfig) -> WalkScore:
    """Return how a base followed.

    Args:
        time: Of the ticks in [s], shape (T,).
        person: Place [m] and heading [rad] of the person, shape (T, 3).
        odometry: Place and heading of the base, shape (T, 3).
        config: With the limits of the base.
    """
    step = np.diff(time)
    moved = np.diff(person[:, :2], axis=0)
    ahead = moved[:, 0] * np.cos(person[:-1, 2]) + moved[:, 1] * np.sin(person[:-1, 2])
    turns = np.diff(np.unwrap(person[:, 2]))
    speed = _limited(ahead / step, step, config.max_linear, config.linear_acceleration)
    rate = _limited(turns / step, step, config.max_angular, config.angular_acceleration)
    headings = np.unwrap(odometry[:, 2])
    return WalkScore(
        walked=path_length(person[:, :2]),
        allowed=float(np.abs(speed * step).sum()),
        driven=path_length(odometry[::5, :2]),
        turned=float(np.abs(turns).sum()),
        turn_allowed=float(np.abs(rate * step).sum()),
        turn_driven=float(np.abs(np.diff(headings[::5])).sum()),
    )


def _limited(wishes: Array, steps: Array, largest: float, acceleration: float) -> Array:
    """Return speeds that follow wishes as well as the limits let them."""
    found, speed = np.empty_like(wishes), 0.0
    for tick, (wish, step) in enumerate(zip(wishes.tolist(), steps.tolist(), strict=True)):
        wish = min(max(wish, -largest), largest)
        speed += min(max(wish - speed, -acceleration * step), acceleration * step)
        found[tick] = speed
    return found
