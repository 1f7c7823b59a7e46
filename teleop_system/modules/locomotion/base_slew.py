# SPDX-License-Identifier: Apache-2.0
"""Smooth speeds for a base: acceleration and jerk limited, the wheels shared, brakes apart."""

from collections.abc import Sequence

from teleop_system.utils.filters import RateLimiter


class BaseSlew:
    """Moves the speeds of several axes towards wishes without upsetting the wheels.

    The axes of a base drive the same wheels, so each may use its acceleration limit only in part:
    the parts add up to one, and follow what each axis still has to do, so that all of them arrive
    together. The parts change no faster than jerk lets accelerations follow.

    Args:
        acceleration: Largest acceleration of each axis, were it alone.
        jerk: Largest jerk of each axis.
        braking: Deceleration of each axis in a stop that cannot wait.
        braking_jerk: Jerk of each axis in such a stop.
    """

    def __init__(
        self,
        acceleration: Sequence[float],
        jerk: Sequence[float],
        braking: Sequence[float],
        braking_jerk: Sequence[float],
    ) -> None:
        self._acceleration = tuple(acceleration)
        # A speed is to acceleration and jerk what a position is to velocity and acceleration.
        self._moving = tuple(
            RateLimiter(*limits) for limits in zip(acceleration, jerk, strict=True)
        )
        self._braking = tuple(
            RateLimiter(*limits) for limits in zip(braking, braking_jerk, strict=True)
        )
        self._share_rate = min(j / a for a, j in zip(acceleration, jerk, strict=True))
        self.reset()

    def reset(self) -> None:
        """Stand still."""
        for limiter in (*self._moving, *self._braking):
            limiter.reset(0.0)
        self._shares = (1.0 / len(self._acceleration),) * len(self._acceleration)

    @property
    def speeds(self) -> tuple[float, ...]:
        """The newest speed of each axis."""
        return tuple([limiter.position for limiter in self._moving])

    @property
    def is_standing(self) -> bool:
        """Tell whether every axis is exactly at rest, and stays there."""
        return not any([axis.position or axis.velocity for axis in self._moving])

    def follow(self, wishes: Sequence[float], dt: float) -> None:
        """Go on towards the wishes for `dt` [s]."""
        if not any(wishes) and self.is_standing:
            return  # As most of the time.
        self._share_out(wishes, dt)
        limits = zip(self._moving, wishes, self._acceleration, self._shares, strict=True)
        for limiter, wish, acceleration, share in limits:
            limiter.update(wish, dt, velocity=share * acceleration)

    def brake(self, dt: float) -> None:
        """Brake all axes for `dt` [s]; to be continued until they stand."""
        for moving, braking in zip(self._moving, self._braking, strict=True):
            braking.resume(moving)
            braking.update(0.0, dt)
            moving.resume(braking)

    def _share_out(self, wishes: Sequence[float], dt: float) -> None:
        needs = [
            abs(wish - limiter.position) / acceleration
            for wish, limiter, acceleration in zip(
                wishes, self._moving, self._acceleration, strict=True
            )
        ]
        total = sum(needs)
        if total <= 0.0:
            return
        wanted = [need / total for need in needs]
        largest = max(abs(a - b) for a, b in zip(wanted, self._shares, strict=True))
        # One factor for all, so that the parts still add up to one.
        step = min(1.0, self._share_rate * dt / largest) if largest > 0.0 else 0.0
        self._shares = tuple(b + step * (a - b) for a, b in zip(wanted, self._shares, strict=True))
