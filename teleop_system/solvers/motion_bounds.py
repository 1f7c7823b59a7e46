# SPDX-License-Identifier: Apache-2.0
"""Largest motion of each joint in one tick, so that it can always stop before its limit."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import add, minimum, multiply, negative, sqrt, subtract
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError
from teleop_system.solvers import ik_kernels as kernels

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class JointLimitArrays:
    """Limits of the joints of a solver, one element per joint, in one common order.

    Attributes:
        lower: Smallest positions in [rad].
        upper: Largest positions in [rad].
        velocity: Greatest speeds in [rad/s].
        acceleration: Greatest accelerations in [rad/s^2].
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        if not (self.lower <= self.upper).all():
            raise ConfigError("a lower position limit lies above the upper one")
        for name in ("velocity", "acceleration"):
            values = getattr(self, name)
            if not (np.isfinite(values) & (values > 0.0)).all():
                raise ConfigError(f"{name} limits must be positive and finite, got {values}")


class BrakingState(NamedTuple):
    """A state of the robot, and where it comes to rest if all joints brake; each of shape (N,).

    Attributes:
        joints: Joint positions [rad].
        step: The step that led there [rad].
        rest: Resting positions [rad].
    """

    joints: Array
    step: Array
    rest: Array


class MotionBounds:
    """Smallest and largest joint steps of a tick, from positions and the last steps.

    With `d` the distance to a limit, a velocity `v` towards it is allowed if the joint can
    still stop at the limit afterwards: `v dt + v² / (2 a) <= d`. A joint that met this in the
    last tick meets it again by braking with the full acceleration, whatever `dt` is, so the
    bounds are never empty. In steps `x = v dt` and with `c = a dt²`, the largest
    change of a step from one tick to the next, this is `x <= sqrt(c² + 2 c d) - c`.

    Acceleration limits come first if a start meets neither; a joint outside its
    limits moves back with `return_speed`.

    Attributes:
        lower: Most negative steps of the tick in [rad]; updated in place, as `upper` is.
        upper: Most positive steps of the tick in [rad].
        change: `c`, the largest change of a step in [rad]; set by `set_period()`.
        limits: The same limits for `ik_kernels.is_within_limits`, shape (N,).
    """

    def __init__(self, limits: JointLimitArrays, return_speed: float) -> None:
        size = limits.lower.size
        self.lower = np.zeros(size)
        self.upper = np.zeros(size)
        self.change = np.zeros(size)
        self.limits = np.zeros(size, dtype=kernels.LIMIT)
        self._limits = limits
        self._return_speed = np.minimum(return_speed, limits.velocity)
        self._work = np.empty(size)
        # Row 0 is towards the upper limits, row 1 towards the lower ones.
        self._braking = np.empty((2, size))
        self._towards_upper, self._towards_lower = self._braking
        self._steps = np.empty((2, size))
        self._most_up, self._most_down = self._steps
        # A joint without limits, such as a wheel, is always within them.
        is_bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        self._middle = np.zeros(size)
        self._middle[is_bounded] = 0.5 * (limits.lower[is_bounded] + limits.upper[is_bounded])

    def set_period(self, dt: float) -> None:
        """Prepare the constants of ticks that last `dt` [s]."""
        limits = self._limits
        self.change = limits.acceleration * dt * dt
        self._twice = 2.0 * self.change
        square = self.change**2
        self._upper_term = self._twice * limits.upper + square
        self._lower_term = square - self._twice * limits.lower
        # Constants have the shape of their operands: broadcasting costs more than the sum.
        self._changes = np.tile(self.change, (2, 1))
        self._fastest = np.tile(limits.velocity * dt, (2, 1))
        self._return_step = self._return_speed * dt
        half_range = np.minimum(limits.upper - self._middle, self._middle - limits.lower)
        self.limits["change"], self.limits["step"] = self.change, limits.velocity * dt
        self.limits["middle"], self.limits["half_range"] = self._middle, half_range

    def update(self, positions: Array, last: Array) -> None:
        """Compute the bounds of a tick from positions and the steps of the tick before."""
        braking, steps = self._braking, self._steps
        multiply(self._twice, positions, self._work)
        subtract(self._upper_term, self._work, self._towards_upper)
        add(self._lower_term, self._work, self._towards_lower)
        sqrt(braking, braking)
        subtract(braking, self._changes, braking)
        minimum(braking, self._fastest, out=braking)
        add(self.change, last, self._most_up)
        subtract(self.change, last, self._most_down)
        minimum(braking, steps, out=steps)
        negative(self._most_down, self.lower)
        self.upper[:] = self._most_up

    def is_outside(self, positions: Array) -> bool:
        """Return whether a joint is outside its position limits."""
        limits = self._limits
        return bool(((positions < limits.lower) | (positions > limits.upper)).any())

    def update_outside(self, positions: Array, last: Array) -> bool:
        """Compute the bounds from any start; return False if `update()` is enough from now on."""
        limits = self._limits
        self.update(np.clip(positions, limits.lower, limits.upper), last)
        is_outside = self.is_outside(positions)
        if not is_outside and (self.lower <= self.upper).all():
            return False
        over, under = positions - limits.upper, limits.lower - positions
        # Just enough to reach the limit: the joint stops there and not further inside.
        upper = np.where(over > 0.0, np.maximum(-over, -self._return_step), self.upper)
        lower = np.where(under > 0.0, np.minimum(under, self._return_step), self.lower)
        upper = np.clip(upper, last - self.change, last + self.change)
        lower = np.clip(lower, last - self.change, last + self.change)
        self.upper[:], self.lower[:] = np.maximum(upper, lower), np.minimum(upper, lower)
        return True

    def braking_step(self, last: Array) -> Array:
        """Return the steps of a tick in which every joint brakes with its full acceleration."""
        slower: Array = np.maximum(np.abs(last) - self.change, 0.0)
        return np.copysign(slower, last)
