# SPDX-License-Identifier: Apache-2.0
"""Motion that never exceeds its limits of velocity, acceleration and jerk."""

import math

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.utils import rate_kernels as kernels
from teleop_system.utils._arrays import Array, Component, component


class RateLimiter:
    """Follows a target as fast as velocity, acceleration and jerk allow, and no faster.

    Each step looks at where the motion would come to rest if it braked from then on, and steers
    that stopping point towards the target: as hard as the limits allow while it lies short, and
    exactly onto it as soon as it can be reached. A fixed target is therefore reached in about
    the least time and never overshot, whatever the step times; and since the stopping point
    never leaves the range of the targets given, positions stay within any bounds that targets do.

    To be ready to stop at a target that moves is to lag behind it, by v²/2a and more. Where its
    velocity is given as well, the stopping point is steered to where the target could stop by the
    same limits, and the lag is gone; a target that stops harder than that is then overshot.

    The limits hold for the differences of successive positions: v = Δx/dt, a = Δv/dt, j = Δa/dt.

    Args:
        velocity: Largest speed in [unit/s].
        acceleration: Largest acceleration in [unit/s^2].
        jerk: Largest jerk in [unit/s^3]; None leaves it free.
        lower: Least position that is ever taken, given that the motion starts within.
        upper: Greatest position that is ever taken.
        smallest_step: Shortest step time in [s] to be expected. A target so near that one such
            step can take off the speed left over is reached exactly, rather than approached.
    """

    def __init__(
        self,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        jerk: ArrayLike | None = None,
        *,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        smallest_step: float = 1e-3,
    ) -> None:
        limits = (velocity, acceleration, math.inf if jerk is None else jerk, lower, upper)
        self._limits: tuple[Component, ...] = tuple(component(limit) for limit in limits)
        self._has_numbers = all(isinstance(limit, float) for limit in self._limits)
        self._smallest_step = smallest_step
        self._table: Array = np.empty((0, 0))
        self.reset(0.0)

    def reset(self, position: ArrayLike) -> None:
        """Be at rest at `position`."""
        place = component(position)
        if not isinstance(place, float):
            place = place.copy()
        self._motion: tuple[Component, ...] = (place, 0.0 * place, 0.0 * place)

    def resume(self, other: "RateLimiter") -> None:
        """Take over the motion of another limiter, to go on with other limits."""
        self._motion = other._motion

    @property
    def position(self) -> Component:
        """The newest output."""
        return self._motion[0]

    @property
    def velocity(self) -> Component:
        """Velocity of the last step in [unit/s]."""
        return self._motion[1]

    @property
    def acceleration(self) -> Component:
        """Acceleration of the last step in [unit/s^2]."""
        return self._motion[2]

    @property
    def stopping_point(self) -> Component:
        """Where the motion comes to rest if it brakes from now on."""
        position, velocity, acceleration = self._motion
        _, largest, jerk, _, _ = self._limits
        if isinstance(position, float) and isinstance(largest, float) and isinstance(jerk, float):
            way: float = kernels.stopping_distance(velocity, acceleration, largest, jerk)
            return position + way
        return position + np.vectorize(kernels.stopping_distance)(
            velocity, acceleration, largest, jerk
        )

    def halt(self, dt: float) -> Component:
        """Return the position `dt` [s] later, braking as hard as the limits allow."""
        return self.update(math.nan, dt)

    def update(
        self,
        target: ArrayLike,
        dt: float,
        *,
        velocity: ArrayLike | None = None,
        target_velocity: ArrayLike = 0.0,
    ) -> Component:
        """Return the position `dt` [s] later, nearer to the target; no time, no change.

        Args:
            target: Where to go.
            dt: Time since the last call in [s].
            velocity: A speed limit for this step in [unit/s], in place of the general one. If
                it falls faster than the acceleration allows, it is met as soon as possible.
            target_velocity: How fast the target is known to move in [unit/s].
        """
        if not dt > 0.0:
            return self._motion[0]
        goal: Component = target
        pace: Component = target_velocity
        speed: Component = self._limits[0] if velocity is None else velocity
        if (
            self._has_numbers
            and isinstance(self._motion[0], float)
            and isinstance(goal, float)
            and isinstance(pace, float)
            and isinstance(speed, float)
        ):
            _, largest, jerk, lower, upper = self._limits
            position, v, a = self._motion
            motion, smallest = (position, v, a), self._smallest_step
            self._motion = kernels.limited_step(
                motion, goal, pace, dt, speed, largest, jerk, lower, upper, smallest
            )
        else:
            self._motion = self._step_all((goal, pace, speed), dt)
        return self._motion[0]

    def _step_all(self, wishes: tuple[ArrayLike, ...], dt: float) -> tuple[Component, ...]:
        """Return the motions of all elements one step later."""
        shape = np.shape(self._motion[0])
        if np.shape(wishes[0]) not in ((), shape) or self._table.shape[1:] != shape:
            wanted = (*self._motion, *wishes, *self._limits)
            shape = np.broadcast_shapes(*(np.shape(value) for value in wanted))
            # Rows: motion, wishes, limits; an element a column.
            self._table = np.empty((10, *shape))
            for row, limit in enumerate(self._limits[1:], start=6):
                self._table[row] = limit
        table = self._table
        for row, value in enumerate((*self._motion, *wishes)):
            table[row] = value
        rows = table.reshape(10, -1)
        out = np.empty((3, rows.shape[1]))
        kernels.limited_steps(rows[:3], rows[3:6], rows[6:], dt, self._smallest_step, out)
        if not shape:
            return tuple(out[:, 0].tolist())
        position, velocity, acceleration = out.reshape(3, *shape)
        return position, velocity, acceleration
