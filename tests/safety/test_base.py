# SPDX-License-Identifier: Apache-2.0
"""The base speeds up within the limits of its wheels, and brakes faster than that."""

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.safety.base_control import BaseLimiter
from teleop_system.safety.cause_log import CauseLog
from tests.safety.fuzz import base_oracle_of
from tests.safety.rig import Rig, subjects_of


def driven(commands: list[tuple[float, float]], seconds: float = 2.0) -> Rig:
    rig = Rig()
    for command in commands:
        rig.velocity = command
        rig.run(seconds)
    return rig


def judged(rig: Rig) -> list[object]:
    oracle = base_oracle_of(rig.robot, rig.config)
    oracle.start()
    for now, output in zip(rig.nows, rig.outputs, strict=True):
        oracle.add(now, output.base.linear_x, output.base.angular_z)
    return list(oracle.violations())


@pytest.mark.parametrize(
    "commands",
    [
        [(0.5, 0.0), (0.0, 0.0)],
        [(0.5, 0.0), (-0.5, 0.0)],
        [(0.3, 1.0), (0.3, -1.0), (0.0, 0.0)],
        [(9.0, 9.0), (-9.0, -9.0)],
        [(0.5, 0.0), (0.2, 0.0), (0.5, 0.5)],
    ],
)
def test_every_change_of_velocity_keeps_the_limits(commands: list[tuple[float, float]]) -> None:
    assert judged(driven(commands)) == []


def test_the_commanded_velocity_is_reached_exactly_and_standstill_is_zero() -> None:
    rig = driven([(0.4, 0.6)], 4.0)
    base = rig.outputs[-1].base
    assert (base.linear_x, base.angular_z) == pytest.approx((0.4, 0.6), abs=1e-9)
    rig.velocity = (0.0, 0.0)
    base = rig.run(1.0).base
    assert (base.linear_x, base.linear_y, base.angular_z) == (0.0, 0.0, 0.0)


def test_speed_never_overshoots_the_command() -> None:
    rig = driven([(0.3, 0.0), (-0.3, 0.0)], 3.0)
    speeds = np.array([output.base.linear_x for output in rig.outputs])
    assert np.abs(speeds).max() <= 0.3 + 1e-9


def test_wheels_keep_their_acceleration_while_the_base_speeds_up() -> None:
    rig = driven([(0.5, 1.0)], 4.0)
    base = rig.robot.base
    assert base is not None
    arm = np.array([-0.5, 0.5]) * base.track
    wheels = np.array(
        [
            (output.base.linear_x + arm * output.base.angular_z) / base.wheel_radius
            for output in rig.outputs
        ]
    )
    accelerations = np.abs(np.diff(wheels, axis=0)) / rig.config.period
    limit = rig.robot.limits("left_wheel").acceleration
    assert accelerations.max() <= limit * (1.0 + 1e-3)  # The robot's figures are rounded.
    assert accelerations.max() > 0.5 * limit


def test_a_command_that_is_too_fast_is_cut_with_its_cause() -> None:
    rig = driven([(2.0, 0.0)], 4.0)
    assert rig.outputs[-1].base.linear_x == pytest.approx(0.5)
    assert "base linear_x" in subjects_of(rig.outputs[-1], Rule.VELOCITY)


def test_a_base_that_is_not_engaged_stands() -> None:
    rig = Rig()
    rig.engaged.discard("base")
    rig.velocity = (0.5, 0.0)
    output = rig.run(1.0)
    assert output.base.linear_x == 0.0
    assert "base" in output.holding


@pytest.mark.parametrize("seed", range(4))
def test_cycles_of_irregular_length_keep_the_limits_too(seed: int) -> None:
    random = np.random.default_rng(seed)
    rig = Rig()
    assert rig.robot.base is not None
    limiter = BaseLimiter(rig.robot.base, rig.config.base, rig.config.period)
    oracle = base_oracle_of(rig.robot, rig.config)
    oracle.start()
    now, command = 0.0, (0.0, 0.0)
    for index in range(3000):
        step = float(random.uniform(0.002, 0.01)) if index else rig.config.period
        now += step
        if random.random() < (0.02, 0.1, 0.5, 1.0)[seed]:
            command = tuple(random.normal(0.0, 0.3, 2) * (random.random(2) < 0.7))
        limiter.update(np.array([command[0], 0.0, command[1]]), step, 1.0, CauseLog())
        oracle.add(now, limiter.velocity[0], limiter.velocity[2])
    assert list(oracle.violations()) == []
