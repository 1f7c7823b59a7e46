# SPDX-License-Identifier: Apache-2.0
"""How far an ideal base within given limits could have followed a person."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.mocap.metrics import path_length
from teleop_system.modules.locomotion.config import LocomotionConfig

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WalkScore:
    """How well a base followed a walk.

    Attributes:
        walked: Path length of the person in [m].
        allowed: Path length in [m] of an ideal base with the same speed and acceleration limits.
        driven: Path length of the base, forward or backward, in [m].
        rotation: Sum of the person's absolute rotations in [rad].
        rotation_allowed: The same of the ideal base in [rad].
        rotation_driven: The same of the base in [rad].
    """

    walked: float
    allowed: float
    driven: float
    rotation: float
    rotation_allowed: float
    rotation_driven: float

    @property
    def share(self) -> float:
        """Driven path length as a share of the allowed one."""
        return self.driven / self.allowed if self.allowed > 0.05 else 1.0


def judge_walk(time: Array, person: Array, odometry: Array, config: LocomotionConfig) -> WalkScore:
    """Return how well a base followed a person.

    Args:
        time: Time of the ticks in [s], shape (T,).
        person: Position [m] and heading [rad] of the person, shape (T, 3).
        odometry: Position and heading of the base, shape (T, 3).
        config: Limits of the base.
    """
    step = np.diff(time)
    rotations = np.diff(np.unwrap(person[:, 2]))
    requested = np.column_stack([_forward_steps(person), rotations]) / step[:, None]
    allowed = np.abs(_limited(requested, step, config) * step[:, None]).sum(axis=0)
    headings = np.unwrap(odometry[::5, 2])
    return WalkScore(
        walked=path_length(person[:, :2]),
        allowed=float(allowed[0]),
        driven=float(np.abs(_forward_steps(odometry[::5])).sum()),
        rotation=float(np.abs(rotations).sum()),
        rotation_allowed=float(allowed[1]),
        rotation_driven=float(np.abs(np.diff(headings)).sum()),
    )


def _forward_steps(course: Array) -> Array:
    """Return the forward displacement from tick to tick in [m], negative for backward.

    The origin of a base that rotates about its wheels moves sideways; this does not count.
    """
    moved = np.diff(course[:, :2], axis=0)
    heading = np.unwrap(course[:, 2])
    heading = 0.5 * (heading[1:] + heading[:-1])
    result: Array = moved[:, 0] * np.cos(heading) + moved[:, 1] * np.sin(heading)
    return result


def _limited(requested: Array, steps: Array, config: LocomotionConfig) -> Array:
    """Return linear and angular speeds that follow the requested ones within limits, (T, 2).

    Both share the acceleration of the wheels.
    """
    result, speeds = np.empty_like(requested), np.zeros(2)
    top_speed = np.array([config.max_linear, config.max_angular])
    acceleration = np.array([config.linear_acceleration, config.angular_acceleration])
    for tick, step in enumerate(steps.tolist()):
        change = np.clip(requested[tick], -top_speed, top_speed) - speeds
        load = float((np.abs(change) / (acceleration * step)).sum())
        speeds = speeds + change / max(load, 1.0)
        result[tick] = speeds
    return result
