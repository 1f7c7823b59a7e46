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
        self.state = MotionState.at_rest(self._vector(position))

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
            target: Positions to reach, shape (N,); a joint whose target is not finite brakes.
            dt: Time since the last call in [s].
            max_speed: Speed limits of this step in [unit/s], instead of the general ones. A
                faster joint slows down as quickly as its other limits allow.
            target_velocity: Velocity of the target in [unit/s]; NaN makes the joint brake.
        """
        if not dt > 0.0:
            return self.position
        self._limits.speed[:] = self._max_speed if max_speed is None else max_speed
        goal = self._stopping_point(self._vector(target), self._vector(target_velocity))
        self.state = self._limits.stepped(self.state, goal, self._braking, dt)
        return self.position

    def brake(self, dt: float) -> Array:
        """Return the positions `dt` [s] later, braking as hard as the limits allow."""
        if dt > 0.0:
            self.state = self._limits.braked(self.state, dt)
        return self.position

    def braking_pose(self, state: MotionState, share: float) -> Array:
        """Return where the joints are after a share of the time in which all come to rest."""
        return self._limits.braking_pose(state, share)

    def _stopping_point(self, target: Array, velocity: Array) -> Array:
        """Return where a moving target could come to rest by the same limits, shape (N,)."""
        limits = self._limits
        velocity = np.minimum(np.maximum(velocity, -limits.speed), limits.speed)
        unlimited, goal = np.empty((2, target.size))
        zero = np.zeros(target.size)
        find_targets(
            target,
            velocity,
            zero,
            zero,
            limits.acceleration,
            limits.jerk,
            self._lower,
            self._upper,
            unlimited,
            goal,
        )
        # A target that is not finite must stay so, or its joint would head for an end.
        goal[~np.isfinite(unlimited)] = np.nan
        return goal

    def _vector(self, values: ArrayLike) -> Array:
        """Return one value per joint, in memory of its own."""
        vector = np.empty(self._max_speed.size)
        vector[:] = values
        return vector
