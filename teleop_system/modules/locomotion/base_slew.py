# SPDX-License-Identifier: Apache-2.0
"""Smooth speeds for a base whose axes share its wheels."""

from collections.abc import Sequence
from typing import NamedTuple

from teleop_system.safety.velocity_limiter import VelocityLimiter


class AxisLimits(NamedTuple):
    """How fast the speed of one axis may change.

    Attributes:
        acceleration: Largest acceleration, were the axis alone.
        jerk: Largest jerk.
        braking: Deceleration of an urgent stop.
        braking_jerk: Jerk of an urgent stop.
    """

    acceleration: float
    jerk: float
    braking: float
    braking_jerk: float


class BaseSlew:
    """Moves the speeds of several axes towards requested speeds within what the wheels can do.

    The axes drive the same wheels, so each may use only a share of its acceleration limit. The
    shares add up to one and follow what each axis still has to do, so that all arrive together.
    They change no faster than the jerk limit lets accelerations follow.

    Args:
        axes: Limits of every axis.
    """

    def __init__(self, axes: Sequence[AxisLimits]) -> None:
        self._axes = tuple(axes)
        self._limiters = tuple(VelocityLimiter() for _ in axes)
        self._share_rate = min(axis.jerk / axis.acceleration for axis in axes)
        self.reset()

    def reset(self) -> None:
        """Stand still."""
        for limiter in self._limiters:
            limiter.reset()
        self._shares = (1.0 / len(self._axes),) * len(self._axes)

    @property
    def speeds(self) -> tuple[float, ...]:
        """The newest speed of each axis."""
        return tuple(limiter.velocity for limiter in self._limiters)

    @property
    def is_standing(self) -> bool:
        """Whether every axis is exactly at rest, and stays there."""
        return all(limiter.is_at_rest for limiter in self._limiters)

    def follow(self, requested: Sequence[float], dt: float) -> None:
        """Approach the requested speeds for `dt` [s]."""
        self._update_shares(requested, dt)
        for limiter, axis, target, share in zip(
            self._limiters, self._axes, requested, self._shares, strict=True
        ):
            limiter.update(target, dt, acceleration=share * axis.acceleration, jerk=axis.jerk)

    def brake(self, dt: float) -> None:
        """Brake all axes for `dt` [s]; call it until they stand."""
        for limiter, axis in zip(self._limiters, self._axes, strict=True):
            limiter.update(0.0, dt, acceleration=axis.braking, jerk=axis.braking_jerk)

    def _update_shares(self, requested: Sequence[float], dt: float) -> None:
        needs = [
            abs(target - limiter.velocity) / axis.acceleration
            for target, limiter, axis in zip(requested, self._limiters, self._axes, strict=True)
        ]
        total = sum(needs)
        if total <= 0.0:
            return
        goals = [need / total for need in needs]
        largest = max(abs(a - b) for a, b in zip(goals, self._shares, strict=True))
        # One factor for all, so that the shares still add up to one.
        step = min(1.0, self._share_rate * dt / largest) if largest > 0.0 else 0.0
        self._shares = tuple(b + step * (a - b) for a, b in zip(goals, self._shares, strict=True))
