# SPDX-License-Identifier: Apache-2.0
"""One joint of the robot's neck: follows a moving wish with little lag, within its limits."""

from teleop_system.modules.camera.config import CameraConfig
from teleop_system.utils.filters import OneEuroFilter, RateLimiter


class NeckAxis:
    """A rate limiter that is told how fast its target moves.

    Args:
        config: Limits, and how far to rely on that speed.
        lower: Least angle in [rad].
        upper: Greatest angle in [rad].
    """

    def __init__(self, config: CameraConfig, lower: float, upper: float) -> None:
        self._lead = config.lead
        self._lower, self._upper = lower, upper
        self._limiter = RateLimiter(
            config.velocity, config.acceleration, config.jerk, lower=lower, upper=upper
        )
        self._pace = OneEuroFilter(config.lead_cutoff)
        self._wish = 0.0

    @property
    def position(self) -> float:
        """The newest command in [rad]."""
        # The limiter keeps within the range but for rounding.
        return min(self._upper, max(self._lower, float(self._limiter.position)))

    def reset(self, position: float) -> None:
        """Be at rest at `position` [rad], or at the nearest end of the range."""
        self._limiter.reset(min(self._upper, max(self._lower, float(position))))

    def begin(self) -> float:
        """Prepare to follow, and return where the motion at hand would end in [rad]."""
        self._pace.reset()
        self._pace.update(0.0, 0.0)
        self._wish = float(self._limiter.stopping_point)
        return self._wish

    def follow(self, wish: float, dt: float) -> None:
        """Go on towards the wish [rad] for `dt` [s]."""
        pace = self._pace.update((wish - self._wish) / dt, dt)
        self._wish = wish
        self._limiter.update(wish, dt, target_velocity=self._lead * pace)

    def hold(self, dt: float) -> None:
        """Brake to rest for `dt` [s]."""
        self._limiter.halt(dt)
