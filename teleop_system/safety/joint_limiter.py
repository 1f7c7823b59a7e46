# SPDX-License-Identifier: Apache-2.0
"""Motion of a few joints towards targets, within velocity, acceleration and jerk limits."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.safety.motion.limits import MotionLimits
from teleop_system.safety.motion.pursuit_kernels import find_targets
from teleop_system.safety.motion.state import MotionState

Array = NDArray[np.float64]


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
    """

    def __init__(
        self,
        size: int,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        jerk: ArrayLike,
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        self._max_speed, acceleration, jerk, self._lower, self._upper = (
            np.array(np.broadcast_to(values, size), dtype=np.float64)
            for values in (velocity, acceleration, jerk, lower, upper)
        )
        self._limits = MotionLimits(self._max_speed, acceleration, jerk)
        self._braking = np.zeros(size, dtype=bool)
        self.state = MotionState.at_rest(np.zeros(size))
        """The present motion; a step replaces it and never changes it."""

    @property
    def position(self) -> Array:
        """The newest output, shape (N,)."""
        return self.state.position

    @property
    def velocity(self) -> Array:
        """Its velocity in [unit/s], shape (N,)."""
        return self.state.velocity

    @property
    def rest(self) -> Array:
        """Where the joints come to rest if they brake from now on, shape (N,)."""
        return self.state.rest

    def reset(self, position: ArrayLike) -> None:
        """Be at rest at `position`."""
        zero = np.zeros(self._max_speed.size)
        self.state = MotionState.at_rest(zero + np.asarray(position, dtype=np.float64))

    def update(
        self,
        target: ArrayLike,
        dt: float,
        *,
        max_speed: ArrayLike | None = None,
        target_velocity: ArrayLike = 0.0,
    ) -> Array:
        """Return the positions `dt` [s] later; with `dt` of zero or NaN nothing moves.

        Args:
            target: Where to go, shape (N,); a joint whose target is not finite brakes.
            dt: Time since the last call in [s].
            max_speed: Speed limits of this step in [unit/s], instead of the general ones. A
                faster joint slows down as quickly as its other limits allow.
            target_velocity: Velocity of the target in [unit/s].
        """
        if not dt > 0.0:
            return self.position
        speed = self._max_speed if max_speed is None else max_speed
        self._limits.speed[:] = speed
        self.state = self._limits.stepped(
            self.state, self._goal(target, target_velocity), self._braking, dt
        )
        return self.position

    def brake(self, dt: float) -> Array:
        """Return the positions `dt` [s] later, braking as hard as the limits allow."""
        if dt > 0.0:
            self.state = self._limits.braked(self.state, dt)
        return self.position

    def braking_pose(self, state: MotionState, share: float) -> Array:
        """Return where the joints are after a share of the time in which all come to rest."""
        return self._limits.braking_pose(state, share)

    def _goal(self, target: ArrayLike, velocity: ArrayLike) -> Array:
        """Return where the target could come to rest by the same limits, shape (N,)."""
        zero = np.zeros(self._max_speed.size)
        speed = np.clip(zero + velocity, -self._limits.speed, self._limits.speed)
        goal, unlimited = np.empty_like(zero), np.empty_like(zero)
        find_targets(
            zero + target,
            np.where(np.isfinite(speed), speed, 0.0),
            zero,
            zero,
            self._limits.acceleration,
            self._limits.jerk,
            self._lower,
            self._upper,
            unlimited,
            goal,
        )
        return np.where(np.isfinite(unlimited), goal, np.nan)
