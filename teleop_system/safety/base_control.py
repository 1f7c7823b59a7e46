# SPDX-License-Identifier: Apache-2.0
"""The mobile base as a part: its commands, whether it follows them, and its velocity."""

import numpy as np

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import VelocityCommand
from teleop_system.robots.description import Base
from teleop_system.safety.base_limiter import BaseLimiter
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import SafetyConfig
from teleop_system.safety.part_control import HoldReason, PartControl
from teleop_system.safety.parts import BASE, Part
from teleop_system.safety.staleness import STANDSTILL_TIME
from teleop_system.safety.values import PartCommand

AXES = ("linear_x", "linear_y", "angular_z")
STANDSTILL = (0.0, 0.0, 0.0)


class BaseControl:
    """Turns commands of the base into its velocity.

    Args:
        base: The base and its limits.
        config: Ages, times and our own limits.

    Attributes:
        control: Whether the base follows.

    Raises:
        ConfigError: The base would take too long to stop.
    """

    def __init__(self, base: Base, config: SafetyConfig) -> None:
        self.control = PartControl(Part(BASE, AXES, slice(0, len(AXES))), config)
        self._limiter = BaseLimiter(base, config.base, config.period)
        # One cycle for the sample's age, and one for the last step of the ramp.
        longest = STANDSTILL_TIME - config.stale_after - 2.0 * config.period
        if self._limiter.stopping_time > longest:
            raise ConfigError(
                f"the base takes {self._limiter.stopping_time:.2f} s to stop, where "
                f"{longest:.2f} s are allowed; raise base.braking, base.angular_braking or their "
                f"jerks, or lower base.max_linear or base.max_angular"
            )
        self.reset()

    def reset(self) -> None:
        """Start anew from a standstill."""
        self.control.reset()
        self._received: VelocityCommand | None = None
        self._command: PartCommand | None = None
        self.come_to_rest()

    def come_to_rest(self) -> None:
        """Take the base to stand still, whatever it was last commanded."""
        self._limiter.reset()
        self._requested = STANDSTILL

    def update(
        self,
        command: VelocityCommand | None,
        *,
        engaged: bool,
        hold: HoldReason | None,
        now: float,
        step: float,
        log: CauseLog,
    ) -> VelocityCommand:
        """Return the velocity of one cycle of `step` [s]; see `PartControl.update`."""
        control, limiter = self.control, self._limiter
        if command is not None and command is not self._received:
            axes = np.array([command.linear_x, command.linear_y, command.angular_z])
            self._received, self._command = command, PartCommand(axes, command.timestamp)
        accepted = control.stream.accept(self._command, now, log)
        if accepted is not None:
            x, y, rotation = accepted.tolist()
            self._requested = (x, y, rotation)
        control.update(
            engaged=engaged,
            hold=hold,
            now=now,
            step=step,
            is_resting=lambda: limiter.is_at_rest,
            log=log,
        )
        if control.following:
            limiter.update(self._requested, step, control.ramp.speed_scale, log)
        else:
            limiter.update(STANDSTILL, step, 1.0, log)
        stamp = control.stream.stamp or 0.0
        return VelocityCommand(*limiter.velocity, stamp if control.following else 0.0)
