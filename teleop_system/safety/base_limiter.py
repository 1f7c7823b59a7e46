# SPDX-License-Identifier: Apache-2.0
"""Brings the velocity of a mobile base to what is wished, within its limits.

Speeding up is limited by what the wheels can do, which driving and turning share; slowing down
may be faster, as a base that must stop must stop soon.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from teleop_system.interfaces.causes import Rule
from teleop_system.robots.description import Base
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.config import BaseSafetyConfig
from teleop_system.safety.parts import BASE

LANDING = 0.65
"""Largest part of the wheels' acceleration with which braking ends."""
LANDED = 1e-12
"""Difference of velocities in [m/s] or [rad/s] that is only rounding."""


@dataclass(slots=True)
class _Axis:
    """One direction of motion: x, y or turning.

    Attributes:
        name: As causes should call it.
        speed: Largest speed in [m/s] or [rad/s]; 0 where the base cannot move that way.
        acceleration: Largest acceleration while speeding up.
        jerk: Largest jerk while speeding up.
        braking: Largest deceleration.
        braking_jerk: Largest jerk while braking.
        landing_jerk: Jerk with which braking ends.
        velocity: Present velocity.
        change: Present acceleration.
    """

    name: str
    speed: float
    acceleration: float
    jerk: float
    braking: float
    braking_jerk: float
    landing_jerk: float
    velocity: float = 0.0
    change: float = 0.0

    def plan(self, target: float, step: float) -> "_Plan":
        """Return what the axis should do in the next step."""
        velocity, change = self.velocity, self.change
        if velocity * target < 0.0:
            target = 0.0  # A reversal begins with a stop.
        way = target - velocity
        slowing = abs(target) < abs(velocity)
        limit, fading = self.acceleration, self.jerk
        if slowing:
            limit, fading = self.braking, self.landing_jerk
        wanted = math.copysign(min(limit, _approach(abs(way), fading, step)), way)
        if change * way < 0.0 or velocity == 0.0 != change:
            wanted = 0.0  # The wrong way, or what is left of braking: let go first.
        growing = abs(wanted) > abs(change) and not slowing
        # To let go is never dangerous, so it may be as quick as braking.
        jerk = self.jerk if growing else self.braking_jerk
        change = _towards(change, wanted, jerk * step)
        lands = slowing and abs(way - change * step) < LANDED
        return _Plan(self, change, slowing, lands)

    @property
    def stopping_time(self) -> float:
        """Time in [s] from the largest speed to a standstill."""
        onset = (self.braking + self.acceleration) / self.braking_jerk
        return self.speed / self.braking + 0.5 * (onset + self.braking / self.landing_jerk)


@dataclass(slots=True)
class _Plan:
    """What one axis is to do in a step.

    Attributes:
        axis: The axis.
        change: Its acceleration.
        slowing: Whether that slows it down.
        lands: Whether it then has the velocity that is wished.
    """

    axis: _Axis
    change: float
    slowing: bool
    lands: bool

    @property
    def kept(self) -> float:
        """Part of the wheels' acceleration that it takes already and goes on taking."""
        return min(abs(self.axis.change), abs(self.change)) / self.axis.acceleration

    @property
    def share(self) -> float:
        """Part of the wheels' acceleration that it takes in this step."""
        return abs(self.change) / self.axis.acceleration

    def take(self, share: float, step: float) -> None:
        """Take no more than a part of the wheels' acceleration, as far as the jerk allows."""
        size = min(abs(self.change), share * self.axis.acceleration)
        size = max(size, abs(self.axis.change) - self.axis.braking_jerk * step)
        self.change = math.copysign(size, self.change)


class BaseLimiter:
    """The velocity of the base, from one cycle to the next.

    Args:
        base: The base and its limits.
        config: Our own limits.
        period: Time between two cycles in [s].
    """

    def __init__(self, base: Base, config: BaseSafetyConfig, period: float) -> None:
        linear, angular = base.max_linear_acceleration, base.max_angular_acceleration
        self._axes = (
            _Axis(
                f"{BASE} linear_x",
                min(base.max_linear, config.max_linear),
                linear,
                config.linear_jerk,
                max(config.braking, linear),
                config.braking_jerk,
                _landing_jerk(config.braking_jerk, linear, period),
            ),
            # Two driven wheels cannot go sideways.
            _Axis(f"{BASE} linear_y", 0.0, 1.0, 1.0, 1.0, 1.0, 1.0),
            _Axis(
                f"{BASE} angular_z",
                min(base.max_angular, config.max_angular),
                angular,
                config.angular_jerk,
                max(config.angular_braking, angular),
                config.angular_braking_jerk,
                _landing_jerk(config.angular_braking_jerk, angular, period),
            ),
        )

    @property
    def stopping_time(self) -> float:
        """Longest time in [s] from full speed to a standstill."""
        return max(axis.stopping_time for axis in self._axes if axis.speed > 0.0)

    def reset(self) -> None:
        """Start anew from a standstill."""
        for axis in self._axes:
            axis.velocity = axis.change = 0.0

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Present velocity: forward, to the left [m/s], turning [rad/s]."""
        x, y, turning = self._axes
        return x.velocity, y.velocity, turning.velocity

    @property
    def is_at_rest(self) -> bool:
        """Whether the base stands still."""
        x, y, turning = self._axes
        return (
            x.velocity == 0.0 == x.change
            and y.velocity == 0.0 == y.change
            and turning.velocity == 0.0 == turning.change
        )

    def update(
        self, wish: tuple[float, float, float], step: float, scale: float, log: CauseLog
    ) -> None:
        """Advance by `step` [s] towards the wished velocity [m/s, m/s, rad/s].

        Args:
            wish: Forward, to the left, turning.
            step: Duration of the cycle in [s].
            scale: Part of the largest speeds that is allowed, between 0 and 1.
            log: Where interventions are reported.
        """
        plans = []
        for axis, wished in zip(self._axes, wish, strict=True):
            limit = axis.speed * scale
            if abs(wished) > limit * (1.0 + 1e-9):
                rule = Rule.VELOCITY if axis.speed > 0.0 else Rule.UNSUPPORTED
                log.add(rule, axis.name, wished, limit)
            plans.append(axis.plan(max(-limit, min(limit, wished)), step))
        _share_wheels(plans, step)
        for plan in plans:
            axis = plan.axis
            axis.change = plan.change
            axis.velocity = _settled(axis.velocity + plan.change * step)


def _share_wheels(plans: Sequence[_Plan], step: float) -> None:
    """Lower accelerations to what the wheels can give, as driving and turning share them.

    Braking takes what it needs, but what is left of it when it ends does count. So an axis that
    brakes has its part reserved, and ends no faster than the others leave room for.
    """
    speeding = [plan for plan in plans if not plan.slowing]
    slowing = [plan for plan in plans if plan.slowing]
    room = max(0.0, 1.0 - LANDING * len(slowing))
    kept = sum(plan.kept for plan in speeding)
    grown = sum(plan.share for plan in speeding) - kept
    if kept + grown > room:
        growth = max(0.0, room - kept) / grown if grown > 0.0 else 0.0
        keep = min(1.0, room / kept) if kept > 0.0 else 1.0
        for plan in speeding:
            plan.take(keep * plan.kept + growth * (plan.share - plan.kept), step)
    left = max(0.0, 1.0 - sum(plan.share for plan in speeding))
    for plan in slowing:
        if plan.lands:
            plan.take(left / len(slowing), step)


def _approach(way: float, jerk: float, step: float) -> float:
    """Return the acceleration from which the speed still ends, without overshoot, after `way`."""
    # a step + a (a / (j step) - 1) step / 2 = way, where a falls by j step in every cycle.
    fading = jerk * (math.sqrt(0.25 * step * step + 2.0 * way / jerk) - 0.5 * step)
    return min(fading, way / step)


def _landing_jerk(jerk: float, acceleration: float, period: float) -> float:
    """Return a jerk with which braking ends so gently that the wheels can go on from there."""
    # Half of what is allowed, as the next cycle may be shorter than this one.
    return min(0.5 * jerk, LANDING * acceleration / period)


def _towards(value: float, target: float, largest: float) -> float:
    return value + max(-largest, min(largest, target - value))


def _settled(velocity: float) -> float:
    # Rounding must not leave a base rolling at a femtometre a second.
    return 0.0 if abs(velocity) < LANDED else velocity
