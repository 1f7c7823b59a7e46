# SPDX-License-Identifier: Apache-2.0
"""The mobile base as a part: its commands, whether it follows them, and its velocity.

Speeding up is limited by the acceleration of the wheels, which driving and rotating share. Slowing
down may be faster, because a base that must stop must stop soon.
"""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Rule
from teleop_system.robots.description import Base
from teleop_system.safety.base_kernels import AXIS, LANDING, PLAN, TOLERANCE, step_base
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.command_check import CheckedCommand
from teleop_system.safety.config import BaseSafetyConfig, SafetyConfig
from teleop_system.safety.part_control import Cycle, HoldReason, PartControl
from teleop_system.safety.parts import BASE, Part
from teleop_system.safety.staleness import STANDSTILL_TIME

Array = NDArray[np.float64]

AXES = ("linear_x", "linear_y", "angular_z")
STANDSTILL = np.zeros(len(AXES))


class BaseLimiter:
    """The velocity of the base, from one cycle to the next.

    Args:
        base: The base and its limits.
        config: Our own limits.
        period: Time between two cycles in [s].
    """

    def __init__(self, base: Base, config: BaseSafetyConfig, period: float) -> None:
        linear, angular = base.max_linear_acceleration, base.max_angular_acceleration
        self._axes = np.ones(len(AXES), dtype=AXIS)
        self._velocities = self._axes["velocity"]
        self._plans = np.zeros(len(AXES), dtype=PLAN)
        x, y, rotation = self._axes
        x["speed"] = min(base.max_linear, config.max_linear)
        x["acceleration"], x["jerk"] = linear, config.linear_jerk
        x["braking"], x["braking_jerk"] = max(config.braking, linear), config.braking_jerk
        x["landing_jerk"] = _landing_jerk(config.braking_jerk, linear, period)
        # Two driven wheels cannot move it sideways.
        y["speed"] = 0.0
        rotation["speed"] = min(base.max_angular, config.max_angular)
        rotation["acceleration"], rotation["jerk"] = angular, config.angular_jerk
        rotation["braking"] = max(config.angular_braking, angular)
        rotation["braking_jerk"] = config.angular_braking_jerk
        rotation["landing_jerk"] = _landing_jerk(config.angular_braking_jerk, angular, period)
        self.reset()

    @property
    def stopping_time(self) -> float:
        """Longest time in [s] from full speed to a standstill."""
        axes = self._axes[self._axes["speed"] > 0.0]
        braking = axes["braking"]
        onset = (braking + axes["acceleration"]) / axes["braking_jerk"]
        times = axes["speed"] / braking + 0.5 * (onset + braking / axes["landing_jerk"])
        return float(times.max(initial=0.0))

    @property
    def is_at_rest(self) -> bool:
        """Whether the base stands still."""
        return not (self._axes["velocity"].any() or self._axes["rate"].any())

    def reset(self) -> None:
        """Restart from a standstill."""
        self._axes["velocity"] = self._axes["rate"] = 0.0
        self.velocity = [0.0, 0.0, 0.0]
        """Present velocity: forward, to the left [m/s], rotation [rad/s]."""

    def update(self, requested: Array, step: float, scale: float, log: CauseLog) -> None:
        """Advance by `step` [s] towards the requested velocity.

        Args:
            requested: Forward, to the left [m/s], rotation [rad/s].
            step: Duration of the cycle in [s].
            scale: Share of the largest speeds that is allowed, between 0 and 1.
            log: Where interventions are reported.
        """
        if step_base(self._axes, self._plans, requested, scale, step):
            self._report(requested, scale, log)
        self.velocity = self._velocities.tolist()

    def _report(self, requested: Array, scale: float, log: CauseLog) -> None:
        limits = self._axes["speed"] * scale
        for name, speed, limit in zip(AXES, requested.tolist(), limits.tolist(), strict=True):
            if abs(speed) > limit * (1.0 + TOLERANCE):
                rule = Rule.VELOCITY if limit > 0.0 else Rule.UNSUPPORTED
                log.add(rule, f"{BASE} {name}", speed, limit)


class BaseControl(PartControl):
    """Turns commands of the base into its velocity.

    Args:
        base: The base and its limits.
        config: Ages, times and our own limits.

    Raises:
        ConfigError: The base would take too long to stop.
    """

    def __init__(self, base: Base, config: SafetyConfig) -> None:
        self._limiter = BaseLimiter(base, config.base, config.period)
        # One cycle for the sample's age, and one for the last step of the ramp.
        longest = STANDSTILL_TIME - config.stale_after - 2.0 * config.period
        if self._limiter.stopping_time > longest:
            raise ConfigError(
                f"the base takes {self._limiter.stopping_time:.2f} s to stop, where "
                f"{longest:.2f} s are allowed; raise base.braking, base.angular_braking or their "
                f"jerks, or lower base.max_linear or base.max_angular"
            )
        super().__init__(Part(BASE, AXES, slice(0, len(AXES))), config)

    @override
    def reset(self) -> None:
        super().reset()
        self._received: VelocityCommand | None = None
        self._command: CheckedCommand | None = None
        self.come_to_rest()

    def come_to_rest(self) -> None:
        """Take the base to stand still, whatever it was last commanded."""
        self._limiter.reset()
        self._requested = STANDSTILL

    def update(
        self,
        command: VelocityCommand | None,
        cycle: Cycle,
        *,
        engaged: bool,
        hold: HoldReason | None,
    ) -> VelocityCommand:
        """Return the velocity of one cycle; see `_decide`."""
        limiter = self._limiter
        if command is not None and command is not self._received:
            axes = np.array([command.linear_x, command.linear_y, command.angular_z])
            # A velocity command has checked its numbers when it was made.
            self._received, self._command = command, CheckedCommand(axes, command.timestamp)
        if self._command is not None:
            accepted = self._accept(self._command, cycle)
            self._requested = self._requested if accepted is None else accepted
        self._decide(cycle, engaged=engaged, hold=hold)
        step, stamp = cycle.step.duration, 0.0
        if self.following:
            limiter.update(self._requested, step, self._speed_scale, cycle.log)
            stamp = self.stamp
        else:
            limiter.update(STANDSTILL, step, 1.0, cycle.log)
        x, y, rotation = limiter.velocity
        return VelocityCommand.unchecked(x, y, rotation, stamp)

    @override
    def _is_resting(self, cycle: Cycle) -> bool:
        return self._limiter.is_at_rest


def _landing_jerk(jerk: float, acceleration: float, period: float) -> float:
    """Return a jerk with which braking ends so gently that the wheels can continue from there."""
    # Half of what is allowed, because the next cycle may be shorter than this one.
    return min(0.5 * jerk, LANDING * acceleration / period)
