# SPDX-License-Identifier: Apache-2.0
"""A velocity that changes within acceleration and jerk limits, from cycle to cycle."""

import math

LEAST_STEP = 1e-3
"""A target so near that the acceleration left fades within such a step [s] is reached exactly."""


class VelocityLimiter:
    """Brings a velocity to its target as fast as the limits allow, without overshoot.

    Velocities are sent once a cycle and held until the next, so the limits hold for the
    differences of successive outputs: a = Δv / dt and j = Δa / dt, whatever the steps are.

    Attributes:
        velocity: The newest output.
        acceleration: Its change in the last step, per [s].
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Stand still."""
        self.velocity = self.acceleration = 0.0

    @property
    def is_at_rest(self) -> bool:
        """Whether it stands still, and no acceleration is left."""
        return self.velocity == 0.0 == self.acceleration

    def update(self, target: float, dt: float, *, acceleration: float, jerk: float) -> None:
        """Advance by `dt` [s] towards a target.

        Args:
            target: The velocity to reach.
            dt: Time since the last call in [s].
            acceleration: Largest acceleration of this step. If it falls faster than the jerk
                allows, it is met as soon as possible.
            jerk: Largest jerk of this step.
        """
        distance, change = target - self.velocity, jerk * dt
        low, high = self.acceleration - change, self.acceleration + change
        direct = distance / dt
        if abs(direct) <= min(acceleration, jerk * LEAST_STEP) and low <= direct <= high:
            self.velocity, self.acceleration = target, direct
            return
        wanted = min(acceleration, _approach(abs(distance), jerk, dt))
        self.acceleration = min(max(math.copysign(wanted, distance), low), high)
        self.velocity += self.acceleration * dt


def _approach(distance: float, jerk: float, dt: float) -> float:
    """Return the acceleration from which one step and fading out cover the distance exactly."""
    # The positive root of a dt + a²/(2 j) = distance, in a form that keeps its digits near zero.
    return 2.0 * distance / (dt + math.sqrt(dt * dt + 2.0 * distance / jerk))
