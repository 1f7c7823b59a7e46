# SPDX-License-Identifier: Apache-2.0
"""The commands of all parts as motions: positions, their estimated velocity, and targets."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.limits import MotionLimits
from teleop_system.safety.motion.pursuit_kernels import estimate_command, find_targets
from teleop_system.safety.parts import Part, RobotParts

Array = NDArray[np.float64]

LONGEST_AHEAD = 0.05
"""A moving command is taken to continue for its last interval, but never longer than this [s]."""
LONGEST_INTERVAL = 0.1
"""Commands count as no further apart than this [s], however long one was missing."""
ROUNDING = 1e-7
"""Targets keep this distance [rad] from position limits; motions end to within a tenth of it."""


class CommandBuffer:
    """The commanded motion of all joints.

    Args:
        parts: The joints with their limits.
        smoothing: Time constant of the estimated motion in [s].
        least_interval: Commands count as no closer together than this in [s].

    Attributes:
        parts: The same part by part.
        position: Positions last commanded, within the position limits [rad], shape (N,); all
            arrays change in place.
        velocity: Estimated velocities of the commands in [rad/s].
        acceleration: Estimated accelerations of the commands in [rad/s^2].
        excess: How far outside the position limits the command was [rad].
        target: Where each joint should come to rest [rad], within its limits.
        unlimited: Where the commands themselves would come to rest [rad].
    """

    def __init__(self, parts: RobotParts, smoothing: float, least_interval: float) -> None:
        self.position, self.velocity, self.acceleration, self.excess = np.zeros((4, parts.size))
        self.target, self.unlimited = np.zeros((2, parts.size))
        self.ahead = np.zeros(parts.size)
        self.smoothing = smoothing
        self.least_interval = least_interval
        room = np.minimum(ROUNDING, 0.5 * (parts.upper - parts.lower))
        self._lower, self._upper = parts.lower + room, parts.upper - room
        self.parts = {name: PartBuffer(self, parts, part) for name, part in parts.items()}

    def find_targets(self, limits: MotionLimits) -> Array:
        """Return where each joint should come to rest [rad], shape (N,)."""
        find_targets(
            self.position,
            self.velocity,
            self.acceleration,
            self.ahead,
            limits.acceleration,
            limits.jerk,
            self._lower,
            self._upper,
            self.unlimited,
            self.target,
        )
        return self.target


class PartBuffer:
    """The commanded motion of one part.

    Args:
        buffer: That of all joints; this one is a view of it.
        parts: The joints with their limits.
        part: The part.
    """

    def __init__(self, buffer: CommandBuffer, parts: RobotParts, part: Part) -> None:
        columns = part.columns
        # Copies: the limits are read-only, and kernels take writable arrays.
        self._lower, self._upper = parts.lower[columns].copy(), parts.upper[columns].copy()
        self._max_speed = parts.velocity[columns].copy()
        self._max_acceleration = parts.acceleration[columns].copy()
        self.position = buffer.position[columns]
        self._velocity = buffer.velocity[columns]
        self._acceleration = buffer.acceleration[columns]
        self._excess, self._ahead = buffer.excess[columns], buffer.ahead[columns]
        self._smoothing = buffer.smoothing
        self._least_interval = buffer.least_interval

    def start(self, positions: Array) -> None:
        """Take positions [rad] as commanded at rest."""
        self._velocity[:] = self._acceleration[:] = self._ahead[:] = 0.0
        self.position[:] = np.clip(positions, self._lower, self._upper)
        self._excess[:] = positions - self.position

    def accept(self, positions: Array, interval: float) -> None:
        """Take new positions [rad], commanded `interval` [s] after the last."""
        interval = min(max(interval, self._least_interval), LONGEST_INTERVAL)
        smoothing = self._smoothing
        weight = -math.expm1(-interval / smoothing) if smoothing > 0.0 else 1.0
        self._ahead[:] = 0.0
        estimate_command(
            positions,
            interval,
            weight,
            self._lower,
            self._upper,
            self._max_speed,
            self._max_acceleration,
            self.position,
            self._velocity,
            self._acceleration,
            self._excess,
        )

    def extrapolate(self, silence: float, interval: float) -> None:
        """Let the last motion continue, as no command has come for `silence` [s]."""
        self._ahead[:] = min(silence, interval, LONGEST_AHEAD)
