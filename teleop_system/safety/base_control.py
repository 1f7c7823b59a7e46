# SPDX-License-Identifier: Apache-2.0
"""The mobile base as a part: its commands, whether it follows them, and its velocity."""

import numpy as np

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import VelocityCommand
from teleop_system.robots.description import Base
from teleop_system.safety.base_limiter import BaseLimiter
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.part_control import PartControl, Reason
from teleop_system.safety.parts import BASE, Part
from teleop_system.safety.staleness import STANDSTILL_TIME
from teleop_system.safety.values import PartCommand

AXES = ("linear_x", "linear_y", "angular_z")
NO_VELOCITY = VelocityCommand()
STANDSTILL = (0.0, 0.0, 0.0)


class BaseControl:
    """Commands of the base in, velocity of the base out.

    Args:
        base: The base and its limits.
        config: Ages, times and our own limits.

    Attributes:
        control: Whether it follows.

    Raises:
        ConfigError: The base would take too long to stop.
    """

    def __init__(self, base: Base, config: SafetyConfig) -> None:
        self.control = PartControl(Part(BASE, AXES, slice(0, len(AXES))), config)
        self._limiter = BaseLimiter(base, config.base, config.period)
        # A cycle for the sample's age, and one for the last step of the ramp.
        longest = STANDSTILL_TIME - config.stale_after - 2.0 * config.period
        if self._limiter.stopping_time > longest:
            raise ConfigError(
                f"the base takes {self._limiter.stopping_time:.2f} s to stop, where "
                f"{longest:.2f} s are allowed; raise base.braking, base.angular_braking or their "
                f"jerks, or lower base.max_linear or base.max_angular"
            )
        self._wish = STANDSTILL
        self._last: VelocityCommand | None = None
        self._command: PartCommand | None = None

    def reset(self) -> None:
        """Start anew from a standstill."""
        self.control.reset()
        self._limiter.reset()
        self._wish = STANDSTILL
        self._last = self._command = None

    def come_to_rest(self) -> None:
        """Take the base to stand, whatever it was last told."""
        self._limiter.reset()
        self._wish = STANDSTILL

    def update(
        self,
        wish: VelocityCommand | None,
        *,
        engaged: bool,
        block: Reason | None,
        now: float,
        step: float,
        log: CauseLog,
    ) -> VelocityCommand:
        """Return the velocity of one cycle of `step` [s]; see `PartControl.decide`."""
        control, limiter = self.control, self._limiter
        if wish is not None and wish is not self._last:
            axes = np.array([wish.linear_x, wish.linear_y, wish.angular_z])
            self._last, self._command = wish, PartCommand(axes, wish.timestamp)
        taken = control.stream.take(self._command, now, log)
        if taken is not None:
            x, y, turning = taken.tolist()
            self._wish = (x, y, turning)
        if not (engaged and block is None and control.goes_on(now)):
            resting = limiter.is_at_rest
            control.decide(engaged=engaged, block=block, now=now, resting=resting, log=log)
        if control.following:
            control.advance(step)
            # A base that stands and shall stand is spared the arithmetic.
            if self._wish != STANDSTILL or not limiter.is_at_rest:
                limiter.update(self._wish, step, control.scale, log)
        elif limiter.is_at_rest:
            return NO_VELOCITY
        else:
            limiter.update(STANDSTILL, step, 1.0, log)
        return self._command_of(limiter.velocity, control.stream.stamp or 0.0)

    def _command_of(self, velocity: tuple[float, float, float], stamp: float) -> VelocityCommand:
        last = self._last
        # What goes, or stands, as it is wished to gets the wish itself: to make one takes longer.
        if (
            last is not None
            and last.timestamp == stamp
            and (last.linear_x, last.linear_y, last.angular_z) == velocity
        ):
            return last
        return VelocityCommand(*velocity, stamp)
