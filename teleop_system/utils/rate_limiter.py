# SPDX-License-Identifier: Apache-2.0
"""Motion that never exceeds its limits of velocity, acceleration and jerk."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from teleop_system.utils._arrays import Component, choose, component, root

Function: TypeAlias = Callable[[Component], Component]

_SOLVER_STEPS = 10
_SOLVER_TOLERANCE = 1e-13
"""Distance between stopping point and target that counts as none."""


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
        jerk: Largest jerk in [unit/s^3]; None leaves it free, which is far cheaper.
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
        self._lower, self._upper = component(lower), component(upper)
        self._max_velocity = component(velocity)
        self._max_acceleration = component(acceleration)
        self._max_jerk = None if jerk is None else component(jerk)
        self._smallest_step = smallest_step
        self.reset(0.0)

    def reset(self, position: ArrayLike) -> None:
        """Be at rest at `position`."""
        self._position = component(position)
        self._velocity: Component = 0.0 * self._position
        self._acceleration: Component = 0.0 * self._position

    def resume(self, other: "RateLimiter") -> None:
        """Take over the motion of another limiter, to go on with other limits."""
        self._position = other._position
        self._velocity = other._velocity
        self._acceleration = other._acceleration

    @property
    def position(self) -> Component:
        """The newest output."""
        return self._position

    @property
    def velocity(self) -> Component:
        """Velocity of the last step in [unit/s]."""
        return self._velocity

    @property
    def acceleration(self) -> Component:
        """Acceleration of the last step in [unit/s^2]."""
        return self._acceleration

    @property
    def stopping_point(self) -> Component:
        """Where the motion comes to rest if it brakes from now on."""
        return self._position + self._stopping_distance(self._velocity, self._acceleration)

    def halt(self, dt: float) -> Component:
        """Return the position `dt` [s] later, braking as hard as the limits allow."""
        return self.update(self.stopping_point, dt)

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
            return self._position
        limit = self._max_velocity if velocity is None else component(velocity)
        goal = component(target)
        pace = component(target_velocity)
        if not isinstance(pace, float) or pace != 0.0:
            pace = _clip(choose(_is_finite(pace), pace, 0.0), -limit, limit)
            goal = goal + self._stopping_distance(pace, 0.0 * pace)
        # A target that is not a number is no target: then the motion comes to rest.
        goal = choose(_is_finite(goal), goal, self.stopping_point)
        goal = _clip(goal, self._lower, self._upper)
        way = goal - self._position
        step = self._direct_step if self._max_jerk is None else self._jerk_limited_step
        speed, lands = step(way, dt, limit)
        self._acceleration = (speed - self._velocity) / dt
        self._velocity = speed
        self._position = choose(lands, goal, self._position + speed * dt)
        return self._position

    def _direct_step(self, way: Component, dt: float, limit: Component) -> tuple[Component, ...]:
        """Return the speed of this step, and whether it ends on the target; jerk is free."""
        change = self._max_acceleration * dt
        low, high = self._velocity - change, self._velocity + change
        speed = _clip(_approach(way, dt, self._max_acceleration), -limit, limit)
        speed = _clip(speed, low, high)
        direct = way / dt
        lands = (abs(direct) <= self._max_acceleration * self._smallest_step) & (
            (direct >= low) & (direct <= high) & (abs(direct) <= limit)
        )
        return choose(lands, direct, speed), lands

    def _jerk_limited_step(
        self, way: Component, dt: float, limit: Component
    ) -> tuple[Component, ...]:
        """Return the speed of this step, and whether it ends on the target."""
        assert self._max_jerk is not None
        low, high = self._acceleration_range(dt, limit)

        def beyond(acceleration: Component) -> Component:
            """Return how far past the target the motion would come to rest."""
            speed = self._velocity + acceleration * dt
            return speed * dt + self._stopping_distance(speed, acceleration) - way

        speed = self._velocity + _solve_rising(beyond, low, high) * dt
        direct = way / dt
        change = (direct - self._velocity) / dt
        # What is left over can be taken off within the next two steps.
        rest = 0.25 * self._max_jerk * self._smallest_step
        lands = (abs(direct) <= rest * self._smallest_step) & (
            (abs(change) <= rest) & (change >= low) & (change <= high)
        )
        return choose(lands, direct, speed), lands

    def _acceleration_range(self, dt: float, limit: Component) -> tuple[Component, Component]:
        """Return the accelerations allowed by jerk, by the limit itself and by the speed limit."""
        assert self._max_jerk is not None
        jerk, largest = self._max_jerk, self._max_acceleration
        # Steering the speed's own stopping point keeps it from overshooting the speed limit.
        low = _most(-largest, _approach(-limit - self._velocity, dt, jerk))
        high = _least(largest, _approach(limit - self._velocity, dt, jerk))
        change = jerk * dt
        least, most = self._acceleration - change, self._acceleration + change
        return _clip(low, least, most), _clip(high, least, most)

    def _stopping_distance(self, velocity: Component, acceleration: Component) -> Component:
        """Return how far the motion still goes when brought to rest in the least time."""
        largest, jerk = self._max_acceleration, self._max_jerk
        if jerk is None:
            return velocity * abs(velocity) / (2.0 * largest)
        # Mirrored so that the speed left when the acceleration has faded out is positive.
        onward = velocity + acceleration * abs(acceleration) / (2.0 * jerk)
        sign = _sign(onward)
        v, a = sign * velocity, sign * acceleration
        peak_squared = _most(jerk * v + 0.5 * a * a, 0.0)
        peak = _least(largest, root(peak_squared))
        fading = (a + peak) / jerk
        steady = _most(peak_squared / largest - largest, 0.0) / jerk
        first = fading * (v + fading * (0.5 * a - jerk * fading / 6.0))
        second = 0.5 * steady * largest * (largest / jerk + steady)
        return sign * (first + second + peak * peak * peak / (6.0 * jerk * jerk))


def _approach(way: Component, dt: float, braking: Component) -> Component:
    """Return the speed at which one step and a full braking after it cover the way exactly."""
    # The positive root of v dt + v²/(2 b) = way, in a form that keeps its digits near zero.
    distance = abs(way)
    speed = 2.0 * distance / (dt + root(dt * dt + 2.0 * distance / braking))
    return speed * _sign(way)


def _solve_rising(function: Function, low: Component, high: Component) -> Component:
    """Return where a rising function crosses zero in a range, or the end that comes nearest."""
    below, above = function(low), function(high)
    ends = (above <= 0.0) | (below >= 0.0)
    if _all(ends):
        return choose(above <= 0.0, high, low)
    # Where an end is the answer the range is closed, so that the search stays there.
    left, right = choose(above <= 0.0, high, low), choose(below >= 0.0, low, high)
    stayed: Component = 0.0
    for _ in range(_SOLVER_STEPS):
        # Both values are of opposite signs, but for closed ranges, where any weight will do.
        weight = below / choose(above > below, below - above, -1.0)
        guess = _clip(left + weight * (right - left), left, right)
        value = function(guess)
        if _all(ends | (abs(value) <= _SOLVER_TOLERANCE)):
            break
        under = value <= 0.0
        side = -_sign(value)
        # An end that stays twice counts half (Illinois), or the steps would stall at it.
        share = choose(side == stayed, 0.5, 1.0)
        below, above = choose(under, value, share * below), choose(under, share * above, value)
        left, right = choose(under, guess, left), choose(under, right, guess)
        stayed = side
    return guess


def _sign(value: Component) -> Component:
    return math.copysign(1.0, value) if isinstance(value, float) else np.copysign(1.0, value)


def _is_finite(value: Component) -> Component:
    return math.isfinite(value) if isinstance(value, float) else np.isfinite(value)


def _all(condition: Component) -> bool:
    return condition if isinstance(condition, bool) else bool(condition.all())


def _least(a: Component, b: Component) -> Component:
    if isinstance(a, float) and isinstance(b, float):
        return a if a <= b else b
    return np.minimum(a, b)


def _most(a: Component, b: Component) -> Component:
    if isinstance(a, float) and isinstance(b, float):
        return a if a >= b else b
    return np.maximum(a, b)


def _clip(value: Component, low: Component, high: Component) -> Component:
    return _least(_most(value, low), high)
