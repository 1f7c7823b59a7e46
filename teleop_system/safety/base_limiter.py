# SPDX-License-Identifier: Apache-2.0
"""Brings the velocity of a mobile base to its command, within its limits.

Speeding up is limited by the acceleration of the wheels, which driving and rotating share. Slowing
down may be faster, because a base that must stop must stop soon.
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
"""Largest share of the wheels' acceleration with which braking ends."""
LANDED = 1e-12
"""Difference of velocities in [m/s] or [rad/s] that is only rounding."""


@dataclass(slots=True)
class _Axis:
    """One direction of motion: x, y or rotation.

    Attributes:
        name: Its name in causes.
        speed: Largest speed in [m/s] or [rad/s]; 0 where the base cannot move so.
        acceleration: Largest acceleration while speeding up.
        jerk: Largest jerk while speeding up.
        braking: Largest deceleration.
        braking_jerk: Largest jerk while braking.
        landing_jerk: Jerk with which braking ends.
        velocity: Present velocity.
        rate: Present acceleration.
    """

    name: str
    speed: float
    acceleration: float
    jerk: float
    braking: float
    braking_jerk: float
    landing_jerk: float
    velocity: float = 0.0
    rate: float = 0.0

    def plan(self, target: float, step: float) -> "_Plan":
        """Return what the axis should do in the next step."""
        velocity, rate = self.velocity, self.rate
        if velocity * target < 0.0:
            target = 0.0  # A reversal begins with a stop.
        gap = target - velocity
        slowing = abs(target) < abs(velocity)
        limit, fading = self.acceleration, self.jerk
        if slowing:
            limit, fading = self.braking, self.landing_jerk
        wanted = math.copysign(min(limit, _approach(abs(gap), fading, step)), gap)
        if rate * gap < 0.0 or velocity == 0.0 != rate:
            wanted = 0.0  # Opposite, or left over from braking: it has to fade first.
        growing = abs(wanted) > abs(rate) and not slowing
        # Fading is never dangerous, so it may be as quick as braking.
        jerk = self.jerk if growing else self.braking_jerk
        rate = _towards(rate, wanted, jerk * step)
        lands = slowing and abs(gap - rate * step) < LANDED
        return _Plan(self, rate, slowing, lands)

    @property
    def stopping_time(self) -> float:
        """Time in [s] from the largest speed to a standstill."""
        onset = (self.braking + self.acceleration) / self.braking_jerk
        return self.speed / self.braking + 0.5 * (onset + self.braking / self.landing_jerk)


@dataclass(slots=True)
class _Plan:
    """What one axis should do in a step.

    Attributes:
        axis: The axis.
        rate: Its acceleration.
        slowing: Whether that slows it down.
        lands: Whether it then has the commanded velocity.
    """

    axis: _Axis
    rate: float
    slowing: bool
    lands: bool

    @property
    def kept(self) -> float:
        """Share of the wheels' acceleration that it uses already and continues to use."""
        return min(abs(self.axis.rate), abs(self.rate)) / self.axis.acceleration

    @property
    def share(self) -> float:
        """Share of the wheels' acceleration that it uses in this step."""
        return abs(self.rate) / self.axis.acceleration

    def limit_to(self, share: float, step: float) -> None:
        """Use no more than a share of the wheels' acceleration, as far as the jerk allows."""
        size = min(abs(self.rate), share * self.axis.acceleration)
        size = max(size, abs(self.axis.rate) - self.axis.braking_jerk * step)
        self.rate = math.copysign(size, self.rate)


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
            # Two driven wheels cannot move it sideways.
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
            axis.velocity = axis.rate = 0.0

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Present velocity: forward, to the left [m/s], rotation [rad/s]."""
        x, y, rotation = self._axes
        return x.velocity, y.velocity, rotation.velocity

    @property
    def is_at_rest(self) -> bool:
        """Whether the base stands still."""
        return all(axis.velocity == 0.0 == axis.rate for axis in self._axes)

    def update(
        self, requested: tuple[float, float, float], step: float, scale: float, log: CauseLog
    ) -> None:
        """Advance by `step` [s] towards the requested velocity [m/s, m/s, rad/s].

        Args:
            requested: Forward, to the left, rotation.
            step: Duration of the cycle in [s].
            scale: Share of the largest speeds that is allowed, between 0 and 1.
            log: Where interventions are reported.
        """
        plans = []
        for axis, speed in zip(self._axes, requested, strict=True):
            limit = axis.speed * scale
            if abs(speed) > limit * (1.0 + 1e-9):
                rule = Rule.VELOCITY if axis.speed > 0.0 else Rule.UNSUPPORTED
                log.add(rule, axis.name, speed, limit)
            plans.append(axis.plan(max(-limit, min(limit, speed)), step))
        _share_wheels(plans, step)
        for plan in plans:
            axis = plan.axis
            axis.rate = plan.rate
            axis.velocity = _settled(axis.velocity + plan.rate * step)


def _share_wheels(plans: Sequence[_Plan], step: float) -> None:
    """Lower accelerations to what the wheels can provide, since driving and rotating share them.

    Braking uses what it needs, but the acceleration left when it ends does count. So an axis that
    brakes has its share reserved, and ends no faster than the others leave room for.
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
            plan.limit_to(keep * plan.kept + growth * (plan.share - plan.kept), step)
    left = max(0.0, 1.0 - sum(plan.share for plan in speeding))
    for plan in slowing:
        if plan.lands:
            plan.limit_to(left / len(slowing), step)


def _approach(gap: float, jerk: float, step: float) -> float:
    """Return the largest acceleration that closes a velocity gap without overshoot."""
    # a step + a (a / (j step) - 1) step / 2 = gap, where a falls by j step in every cycle.
    fading = jerk * (math.sqrt(0.25 * step * step + 2.0 * gap / jerk) - 0.5 * step)
    return min(fading, gap / step)


def _landing_jerk(jerk: float, acceleration: float, period: float) -> float:
    """Return a jerk with which braking ends so gently that the wheels can continue from there."""
    # Half of what is allowed, because the next cycle may be shorter than this one.
    return min(0.5 * jerk, LANDING * acceleration / period)


def _towards(value: float, target: float, largest: float) -> float:
    return value + max(-largest, min(largest, target - value))


def _settled(velocity: float) -> float:
    # Rounding must not leave a base creeping.
    return 0.0 if abs(velocity) < LANDED else velocity
