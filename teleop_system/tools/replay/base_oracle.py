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
        driven: Way that the base went, ahead or back, in [m].
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
    turns = np.diff(np.unwrap(person[:, 2]))
    wishes = np.column_stack([_ahead(person), turns]) / step[:, None]
    ways = np.abs(_limited(wishes, step, config) * step[:, None]).sum(axis=0)
    headings = np.unwrap(odometry[::5, 2])
    return WalkScore(
        walked=path_length(person[:, :2]),
        allowed=float(ways[0]),
        driven=float(np.abs(_ahead(odometry[::5])).sum()),
        turned=float(np.abs(turns).sum()),
        turn_allowed=float(ways[1]),
        turn_driven=float(np.abs(np.diff(headings)).sum()),
    )


def _ahead(course: Array) -> Array:
    """Return the way that is gone ahead from tick to tick in [m], negative backwards.

    The origin of a base that turns about its wheels goes sideways, which is no way of its own.
    """
    moved = np.diff(course[:, :2], axis=0)
    heading = np.unwrap(course[:, 2])
    heading = 0.5 * (heading[1:] + heading[:-1])
    result: Array = moved[:, 0] * np.cos(heading) + moved[:, 1] * np.sin(heading)
    return result


def _limited(wishes: Array, steps: Array, config: LocomotionConfig) -> Array:
    """Return speeds that follow wishes as well as the limits let them; ahead and turning, (T, 2).

    Both share the wheels: what the one takes of their acceleration the other does not get.
    """
    found, speeds = np.empty_like(wishes), np.zeros(2)
    largest = np.array([config.max_linear, config.max_angular])
    quickest = np.array([config.linear_acceleration, config.angular_acceleration])
    for tick, step in enumerate(steps.tolist()):
        change = np.clip(wishes[tick], -largest, largest) - speeds
        load = float((np.abs(change) / (quickest * step)).sum())
        speeds = speeds + change / max(load, 1.0)
        found[tick] = speeds
    return found
