# SPDX-License-Identifier: Apache-2.0
"""The base: it follows velocity commands, and its odometry is right."""

import logging

import numpy as np
import pytest

from teleop_system.exceptions import (
    ConfigError,
    InvalidValueError,
    SimulationError,
    UnknownNameError,
)
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.simulators.conftest import Start
from tests.simulators.small_models import ARM, CART


def drive(simulator: MuJoCoSimulator, x: float, yaw_rate: float, seconds: float = 3.0) -> None:
    simulator.set_base_velocity(x, 0.0, yaw_rate)
    simulator.step(seconds)


@pytest.mark.parametrize("speed", [0.3, -0.3])
def test_the_robot_drives_at_the_commanded_speed(rby1: MuJoCoSimulator, speed: float) -> None:
    drive(rby1, speed, 0.0)
    linear, angular = rby1.get_base_velocity()
    assert linear[0] == pytest.approx(speed, rel=0.05)
    assert abs(angular[2]) < 0.01


@pytest.mark.parametrize("yaw_rate", [0.5, -0.5])
def test_positive_yaw_rates_rotate_the_robot_to_the_left(
    rby1: MuJoCoSimulator, yaw_rate: float
) -> None:
    drive(rby1, 0.0, yaw_rate)
    _, angular = rby1.get_base_velocity()
    assert angular[2] == pytest.approx(yaw_rate, rel=0.05)


def test_the_cart_follows_an_arc(start: Start) -> None:
    simulator = start(CART)
    drive(simulator, 0.2, 0.4)
    linear, angular = simulator.get_base_velocity()
    assert linear[0] == pytest.approx(0.2, rel=0.05)
    assert angular[2] == pytest.approx(0.4, rel=0.05)


def test_wheel_speeds_follow_from_the_kinematics(start: Start) -> None:
    simulator = start(CART)
    simulator.set_base_velocity(0.2, 0.0, 0.5)
    # (0.2 -+ 0.5 * 0.2) / 0.1 for wheels of 0.1 m, 0.4 m apart.
    np.testing.assert_allclose(simulator.get_joint_targets(), [1.0, 3.0])


def test_the_curvature_stays_the_same_when_a_wheel_reaches_its_limit(start: Start) -> None:
    simulator = start(CART)
    simulator.set_base_velocity(2.0, 0.0, 5.0)  # Would be 10 and 30 rad/s; 10 is the limit.
    np.testing.assert_allclose(simulator.get_joint_targets(), [10.0 / 3.0, 10.0])


def test_speeds_are_limited_as_in_the_description_of_the_base(start: Start) -> None:
    base = {"kind": "differential", "left_wheel": "wheel_a", "right_wheel": "wheel_b"}
    limits = {"wheel_radius": 0.1, "track": 0.4, "max_linear": 0.3, "max_angular": 0.5}
    simulator = start(CART, base=base | limits)
    simulator.set_base_velocity(1.0, 0.0, -9.0)
    np.testing.assert_allclose(simulator.get_joint_targets(), [4.0, 2.0])


def test_a_sideways_command_is_ignored_and_logged_once(
    rby1: MuJoCoSimulator, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            rby1.set_base_velocity(0.2, 0.1, 0.0)
    assert caplog.text.count("sideways") == 1
    np.testing.assert_allclose(rby1.get_joint_targets()[:2], [-2.0, -2.0])
    with caplog.at_level(logging.WARNING):
        rby1.set_base_velocity(0.2, 0.0, 0.0)
        rby1.set_base_velocity(0.2, 0.1, 0.0)
    assert caplog.text.count("sideways") == 2


@pytest.mark.parametrize("bad", [(np.nan, 0, 0), (0, np.inf, 0), (0, 0, np.nan), ("1", 0, 0)])
def test_a_command_that_is_not_finite_stops_the_base(rby1: MuJoCoSimulator, bad: tuple) -> None:
    drive(rby1, 0.3, 0.0, 1.0)
    with pytest.raises(InvalidValueError):
        rby1.set_base_velocity(*bad)
    assert rby1.get_joint_targets()[:2].tolist() == [0.0, 0.0]


def test_a_robot_without_wheels_ignores_commands_and_logs_it_once(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    simulator = start(ARM)
    with caplog.at_level(logging.WARNING):
        simulator.set_base_velocity(0.0, 0.0, 0.0)
        assert caplog.text == ""
        for _ in range(3):
            simulator.set_base_velocity(0.1, 0.0, 0.0)
    assert caplog.text.count("no driven wheels") == 1
    with pytest.raises(InvalidValueError):
        simulator.set_base_velocity(np.nan, 0.0, 0.0)


def test_wheels_in_another_mode_cannot_be_driven(rby1: MuJoCoSimulator) -> None:
    rby1.set_control_mode("effort", ["left_wheel"])
    with pytest.raises(SimulationError, match="velocity mode"):
        rby1.set_base_velocity(0.1, 0.0, 0.0)


def test_a_described_wheel_has_to_exist(start: Start) -> None:
    base = {"kind": "differential", "left_wheel": "wheel_c", "right_wheel": "wheel_b"}
    with pytest.raises(UnknownNameError, match="wheel_c"):
        start(CART, base=base)


def test_a_described_wheel_needs_a_velocity_actuator(start: Start) -> None:
    base = {"kind": "differential", "left_wheel": "shoulder", "right_wheel": "elbow"}
    with pytest.raises(ConfigError, match="shoulder"):
        start(ARM, base=base)


def test_odometry_starts_at_zero_in_the_frame_of_the_start(start: Start) -> None:
    rotated_model = CART.replace(
        '<body name="chassis" pos="0 0 0.1">',
        '<body name="chassis" pos="3 4 0.1" euler="0 0 1.5707963">',
    )
    base = {
        "kind": "differential",
        "left_wheel": "wheel_a",
        "right_wheel": "wheel_b",
        "wheel_radius": 0.1,
        "track": 0.4,
    }
    simulator = start(rotated_model, base=base)
    np.testing.assert_allclose(simulator.get_odometry()[0], np.zeros(3), atol=1e-12)
    drive(simulator, 0.3, 0.0, 2.0)
    position, orientation = simulator.get_odometry()
    assert position[0] == pytest.approx(0.6, rel=0.1)
    assert abs(position[1]) < 0.02
    np.testing.assert_allclose(orientation, [0, 0, 0, 1], atol=0.02)
