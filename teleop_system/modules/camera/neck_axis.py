# SPDX-License-Identifier: Apache-2.0
"""One joint of the robot's neck: follows a moving target with little lag, within its limits."""

from teleop_system.modules.camera.config import CameraConfig
from teleop_system.safety.joint_limiter import JointLimiter
from teleop_system.utils.filters import OneEuroFilter


class NeckAxis:
    """A joint limiter that estimates how fast its target moves.

    Args:
        config: Limits, and how far to rely on that speed.
        lower: Smallest angle in [rad].
        upper: Largest angle in [rad].
    """

    def __init__(self, config: CameraConfig, lower: float, upper: float) -> None:
        self._lead = config.lead
        self._lower, self._upper = lower, upper
        self._limiter = JointLimiter(
            1, config.velocity, config.acceleration, config.jerk, lower=lower, upper=upper
        )
        self._speed = OneEuroFilter(config.lead_cutoff)
        self._target = 0.0

    @property
    def position(self) -> float:
        """The newest command in [rad]."""
        # The limiter keeps within the range except for rounding.
        return min(self._upper, max(self._lower, float(self._limiter.position[0])))

    def reset(self, position: float) -> None:
        """Be at rest at `position` [rad], or at the nearest end of the range."""
        self._limiter.reset(min(self._upper, max(self._lower, float(position))))

    def begin(self) -> float:
        """Prepare to follow; return where the present motion would come to rest in [rad]."""
        self._speed.reset()
        self._speed.update(0.0, 0.0)
        self._target = float(self._limiter.rest[0])
        return self._target

    def follow(self, target: float, dt: float) -> None:
        """Approach the target [rad] for `dt` [s]."""
        speed = float(self._speed.update((target - self._target) / dt, dt))
        self._target = target
        self._limiter.update([target], dt, target_velocity=[self._lead * speed])

    def hold(self, dt: float) -> None:
        """Brake for `dt` [s]."""
        self._limiter.brake(dt)
