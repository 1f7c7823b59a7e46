# SPDX-License-Identifier: Apache-2.0
"""Where the commands of all parts lead: positions, their own motion, and where to aim.

A limiter that heads for the commanded position itself and plans to stop there lags behind by its
own braking time. It aims at the place where the *command* would come to rest instead: there it
has to stop, and until then it may keep up.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.runtime.safety.motion.motion_state import MotionState
from teleop_system.runtime.safety.motion.trajectories import Trajectories
from teleop_system.runtime.safety.parts import RobotParts

Array = NDArray[np.float64]

LONGEST_AHEAD = 0.05
"""A command's motion is taken to go on for its last interval, but never longer than this [s]."""
ROUNDING = 1e-7
"""Aims keep this much [rad] from position limits, as motions end to within a tenth of it."""


class Wishes:
    """The commanded motion of all joints.

    Args:
        parts: The joints and their limits.
        trajectories: How the joints brake.
        smoothing: Time constant of the estimated motion in [s].

    Attributes:
        positions: Positions last commanded, within the position limits [rad], shape (N,).
        beyond: How far outside the limits the command was [rad], shape (N,).
        is_beyond: Whether any may be.
        velocities: Estimated velocities of the commands in [rad/s], shape (N,).
        aims: Where each joint should come to rest [rad], within its limits, shape (N,).
        unclipped: Where the commands themselves would come to rest [rad], shape (N,).
    """

    def __init__(self, parts: RobotParts, trajectories: Trajectories, smoothing: float) -> None:
        self._trajectories = trajectories
        self._smoothing = smoothing
        self._lower, self._upper = parts.lower, parts.upper
        room = np.minimum(ROUNDING, 0.5 * (parts.upper - parts.lower))
        self._lowest_aim, self._highest_aim = parts.lower + room, parts.upper - room
        self._velocity, self._acceleration = parts.velocity, parts.acceleration
        self._negative_velocity = -parts.velocity
        self._negative_acceleration = -parts.acceleration
        size = parts.size
        self.positions, self.beyond, self.velocities = np.zeros((3, size))
        self.aims, self.unclipped = np.zeros((2, size))
        self._accelerations, self._raw, self._shares, self._rates = np.zeros((4, size))
        self._ahead = np.zeros(size)
        # What was last written to the arrays, by where each part begins: most of it stays.
        self._intervals: dict[int, float] = {}
        self._extents: dict[int, float] = {}
        self._is_new = False
        self.is_beyond = False

    def start(self, columns: slice, positions: Array) -> None:
        """Take positions of some joints [rad] as commanded at rest."""
        self._raw[columns] = positions
        self.positions = self.positions.copy()  # Others may still look at the last ones.
        self.positions[columns] = np.clip(positions, self._lower[columns], self._upper[columns])
        self.beyond[columns] = self._raw[columns] - self.positions[columns]
        self.is_beyond = True
        self.velocities[columns] = 0.0
        self._accelerations[columns] = 0.0
        self.pass_over(columns)
        self.extend(columns, 0.0)

    def take(self, columns: slice, positions: Array, interval: float) -> None:
        """Take new positions of some joints [rad], commanded `interval` [s] after the last."""
        self._raw[columns] = positions
        self._is_new = True
        # A period is not the same to the last bit from cycle to cycle.
        if abs(self._intervals.get(columns.start, -1.0) - interval) > 1e-6:
            self._intervals[columns.start] = interval
            smoothing = self._smoothing
            share = -math.expm1(-interval / smoothing) if smoothing > 0.0 else 1.0
            self._shares[columns] = share
            self._rates[columns] = 1.0 / interval

    def pass_over(self, columns: slice) -> None:
        """Leave some joints as they are, for they have no new command."""
        if self._intervals.pop(columns.start, None) is not None:
            self._shares[columns] = 0.0
            self._rates[columns] = 0.0

    def extend(self, columns: slice, ahead: float) -> None:
        """Let the command's motion of some joints go on for `ahead` [s] past its last sample."""
        if self._extents.get(columns.start, 0.0) != ahead:
            self._extents[columns.start] = ahead
            self._ahead[columns] = ahead

    def update_aims(self) -> Array:
        """Compute and return `aims` from all that was taken."""
        if self._is_new:
            self._estimate()
        wish = MotionState(
            self.positions.tolist(), self.velocities.tolist(), self._accelerations.tolist()
        )
        self.unclipped = self._trajectories.rest(wish)
        if any(self._extents.values()):
            self.unclipped += self.velocities * self._ahead
        self.aims = np.maximum(self.unclipped, self._lowest_aim)
        np.minimum(self.aims, self._highest_aim, out=self.aims)
        return self.aims

    def _estimate(self) -> None:
        """Update positions, velocities and accelerations of the joints with new commands."""
        clipped = np.maximum(self._raw, self._lower)
        np.minimum(clipped, self._upper, out=clipped)
        np.subtract(self._raw, clipped, self.beyond)
        self.is_beyond = bool(self.beyond.any())
        velocities, accelerations, shares = self.velocities, self._accelerations, self._shares
        measured = clipped - self.positions
        measured *= self._rates
        np.maximum(measured, self._negative_velocity, out=measured)
        np.minimum(measured, self._velocity, out=measured)
        # Joints that were passed over have a share and a rate of zero, and stay as they are.
        measured -= velocities
        measured *= shares
        velocities += measured
        measured *= self._rates
        np.maximum(measured, self._negative_acceleration, out=measured)
        np.minimum(measured, self._acceleration, out=measured)
        measured -= accelerations
        measured *= shares
        accelerations += measured
        self.positions = clipped
        self._is_new = False
