# SPDX-License-Identifier: Apache-2.0
"""The robot's neck: pan and tilt follow moving targets with little lag, within their limits."""

import numpy as np

from teleop_system.modules.camera.config import CameraConfig
from teleop_system.safety.joint_limiter import JointLimiter
from teleop_system.utils.filters import OneEuroFilter

Angles = tuple[float, float]
"""Pan, left positive, and tilt, down positive, in [rad]."""


class Neck:
    """A joint limiter that estimates how fast its targets move.

    Args:
        config: Limits, and how far to rely on those speeds.
    """

    def __init__(self, config: CameraConfig) -> None:
        self._lead = config.lead
        self._lower = config.pan_lower, config.tilt_lower
        self._upper = config.pan_upper, config.tilt_upper
        self._limiter = JointLimiter(
            2,
            config.velocity,
            config.acceleration,
            config.jerk,
            lower=self._lower,
            upper=self._upper,
        )
        self._speeds = OneEuroFilter(config.lead_cutoff)
        self._targets = (0.0, 0.0)

    @property
    def angles(self) -> Angles:
        """The newest command."""
        # The limiter keeps within the range except for rounding.
        pan, tilt = self._limiter.position.tolist()
        return self._clamped(pan, tilt)

    def reset(self, pan: float, tilt: float) -> None:
        """Be at rest at these angles [rad], or at the nearest ends of their ranges."""
        self._limiter.reset(self._clamped(pan, tilt))

    def begin(self) -> Angles:
        """Prepare to follow; return where the present motion would come to rest."""
        self._speeds.reset()
        self._speeds.update(np.zeros(2), 0.0)
        pan, tilt = self._limiter.rest.tolist()
        self._targets = pan, tilt
        return self._targets

    def follow(self, pan: float, tilt: float, dt: float) -> None:
        """Approach the targets [rad] for `dt` [s]."""
        last_pan, last_tilt = self._targets
        speeds = self._speeds.update(((pan - last_pan) / dt, (tilt - last_tilt) / dt), dt)
        self._targets = pan, tilt
        self._limiter.update(self._targets, dt, target_velocity=self._lead * speeds)

    def hold(self, dt: float) -> None:
        """Brake for `dt` [s]."""
        self._limiter.brake(dt)

    def _clamped(self, pan: float, tilt: float) -> Angles:
        (pan_lower, tilt_lower), (pan_upper, tilt_upper) = self._lower, self._upper
        return min(pan_upper, max(pan_lower, pan)), min(tilt_upper, max(tilt_lower, tilt))
