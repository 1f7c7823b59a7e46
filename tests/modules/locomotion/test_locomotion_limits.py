# SPDX-License-Identifier: Apache-2.0
"""Thousands of hostile inputs, judged by an oracle that uses only commands and causes."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D, VelocityCommand
from teleop_system.interfaces.causes import Severity
from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.modules.locomotion.locomotion_controller import (
    LocomotionController,
    LocomotionOutput,
)
from tests.modules.locomotion.operators import Operator, standing, stepping, turning, walking

# Written out rather than taken from the configuration.
MAX_SPEED, MAX_TURN = 0.5, 1.0
ACCELERATION, TURN_ACCELERATION = 0.314, 1.185
JERK, TURN_JERK = 1.5, 5.6
BRAKING, TURN_BRAKING = 2.0, 4.0
BRAKING_JERK, TURN_BRAKING_JERK = 40.0, 80.0
WHEEL_RADIUS, HALF_TRACK = 0.1, 0.265
WHEEL_ACCELERATION = 3.141592
TOLERANCE = 1.0 + 1e-6


@dataclass
class Oracle:
    """Recomputes the derivatives of all emitted commands."""

    speed: tuple[float, float] = (0.0, 0.0)
    acceleration: tuple[float, float] = (0.0, 0.0)
    is_braking: bool = False
    largest: dict[str, float] = field(default_factory=dict)

    def check(self, output: LocomotionOutput, dt: float) -> None:
        command = output.command
        speed = command.linear_x, command.angular_z
        a, b = ((new - old) / dt for new, old in zip(speed, self.speed, strict=True))
        jerk, turn_jerk = (
            (new - old) / dt for new, old in zip((a, b), self.acceleration, strict=True)
        )
        is_held = any(cause.severity >= Severity.HOLD for cause in output.causes)
        # A stop continues to standstill, and ends with the first tick at rest.
        self.is_braking = is_held or (self.is_braking and any((*self.speed, *self.acceleration)))
        assert command.linear_y == 0.0
        self._within("speed", speed[0], MAX_SPEED)
        self._within("yaw", speed[1], MAX_TURN)
        if self.is_braking:
            self._within("braking", a, BRAKING)
            self._within("yaw braking", b, TURN_BRAKING)
            self._within("braking jerk", jerk, BRAKING_JERK)
            self._within("yaw braking jerk", turn_jerk, TURN_BRAKING_JERK)
            assert abs(speed[0]) <= abs(self.speed[0]) + ACCELERATION * dt
        else:
            self._within("jerk", jerk, JERK)
            self._within("yaw jerk", turn_jerk, TURN_JERK)
            wheel = (abs(a) + abs(b) * HALF_TRACK) / WHEEL_RADIUS
            self._within("wheel", wheel, WHEEL_ACCELERATION)
        self.speed, self.acceleration = speed, (a, b)

    def _within(self, what: str, value: float, limit: float) -> None:
        self.largest[what] = max(self.largest.get(what, 0.0), abs(value) / limit)
        assert abs(value) <= limit * TOLERANCE, f"{what} {value} exceeds {limit}"


@dataclass
class Tick:
    left: Pose6D | None
    right: Pose6D | None
    now: float
    dt: float
    engaged: bool


def hostile_ticks(seed: int, count: int) -> Iterator[Tick]:
    """Yield an operator with every motion, and a system with every fault."""
    rng = random.Random(seed)
    now, engaged, trouble = 0.0, True, "none"
    operator: Operator = standing
    silent: tuple[Pose6D, Pose6D] = standing(0.0).poses(0.0)
    for _ in range(count):
        if rng.random() < 0.005:
            operator = _any_operator(rng, now)
        if rng.random() < 0.02:
            trouble = rng.choice(TROUBLES)
        if rng.random() < 0.003:
            engaged = not engaged or rng.random() < 0.7
        dt = rng.choice([0.01, 0.02, 0.02, 0.02, 0.005, 0.037])
        if trouble == "stall" and rng.random() < 0.05:
            dt = rng.uniform(0.1, 2.0)
        now += dt
        feet = operator(now).poses(now - rng.uniform(0.0, 0.01), rng)
        silent = silent if trouble == "silent" else feet
        left, right = _spoil(silent, trouble, rng)
        seen = now - 1.0 if trouble == "clock" and rng.random() < 0.02 else now
        yield Tick(left, right, seen, dt, engaged)


TROUBLES = ["none"] * 14 + [
    *("silent", "lost", "jump", "swap", "non-unit", "noise", "backwards", "stall", "clock")
]


def _any_operator(rng: random.Random, now: float) -> Operator:
    kind, start = rng.randrange(5), now + 0.2
    if kind == 0:
        return stepping(rng.uniform(1.2, 4.0), start)
    if kind == 1:
        return turning(rng.uniform(-3.0, 3.0), start)
    if kind == 2:
        return standing
    return walking(rng.uniform(0.1, 2.0), rng.uniform(-3.2, 3.2), start)


def _spoil(
    feet: tuple[Pose6D, Pose6D], trouble: str, rng: random.Random
) -> tuple[Pose6D | None, Pose6D | None]:
    left, right = feet
    if trouble == "swap":
        return right, left
    if rng.random() > 0.1:
        return feet
    if trouble == "lost":
        return None, Pose6D.lost(right.timestamp)
    if trouble == "jump":
        return _moved(left, rng, 1.0), right
    if trouble == "non-unit":
        return Pose6D(
            left.position, [rng.gauss(0.0, 1.0) for _ in range(4)], left.timestamp
        ), right
    if trouble == "noise":
        return _moved(left, rng, 0.1), _moved(right, rng, 0.1)
    if trouble == "backwards":
        back = -rng.uniform(0.0, 0.3)
        return tuple(p.translated(np.zeros(3), timestamp=p.timestamp + back) for p in feet)
    return feet


def _moved(pose: Pose6D, rng: random.Random, size: float) -> Pose6D:
    return pose.translated(np.array([rng.gauss(0.0, size) for _ in range(3)]))


@pytest.mark.parametrize("seed", range(4))
def test_no_command_ever_exceeds_a_limit(seed: int) -> None:
    controller, oracle = LocomotionController(LocomotionConfig()), Oracle()
    moved = 0
    for tick in hostile_ticks(seed, 5000):
        output = controller.update(
            tick.left, tick.right, now=tick.now, dt=tick.dt, engaged=tick.engaged
        )
        oracle.check(output, tick.dt)
        moved += output.command.linear_x != 0.0
    # The limits were tried, not avoided.
    assert moved > 500
    assert min(oracle.largest[what] for what in ("jerk", "wheel", "braking")) > 0.99


def test_the_same_inputs_give_the_same_commands_to_the_last_bit() -> None:
    def record() -> list[VelocityCommand]:
        controller = LocomotionController(LocomotionConfig())
        return [
            controller.update(t.left, t.right, now=t.now, dt=t.dt, engaged=t.engaged).command
            for t in hostile_ticks(9, 500)
        ]

    assert record() == record()


def test_wheels_are_shared_between_driving_and_rotating() -> None:
    controller, oracle = LocomotionController(LocomotionConfig()), Oracle()
    dt = 0.02
    for tick in range(1, 500):
        now = tick * dt
        rotating, walking_ahead = turning(1.5)(now), walking(0.8)(now)
        left, right = (
            Pose6D([a[0] + b[0], a[1] + b[1] - math.copysign(0.12, a[1]), 0.1 + a[2]], q, now)
            for a, b, q in (
                (rotating.left, walking_ahead.left, rotating.poses(now)[0].orientation),
                (rotating.right, walking_ahead.right, rotating.poses(now)[1].orientation),
            )
        )
        oracle.check(controller.update(left, right, now=now, dt=dt), dt)
    assert oracle.largest["wheel"] > 0.99
    assert oracle.largest["yaw"] > 0.99
