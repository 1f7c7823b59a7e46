# SPDX-License-Identifier: Apache-2.0
"""Force/torque sensors, inertial units and contacts."""

import numpy as np
import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.transforms import quat_rotate
from tests.simulators.conftest import Start
from tests.simulators.small_models import SCALE

GRAVITY = 9.81


def test_a_force_sensor_reads_the_weight_of_its_tool(start: Start) -> None:
    simulator = start(SCALE)
    simulator.step(1.0)
    force, torque = simulator.get_force_torque("wrist")
    np.testing.assert_allclose(force, [0, 0, 2 * GRAVITY], atol=1e-3)
    np.testing.assert_allclose(torque, [0, -2 * GRAVITY * 0.1, 0], atol=1e-3)


def test_an_inertial_unit_at_rest_reads_gravity_upwards(start: Start) -> None:
    simulator = start(SCALE)
    simulator.step(1.0)
    reading = simulator.get_imu("body")
    # The unit is rotated by 90 degrees about x, so that its y axis points up.
    np.testing.assert_allclose(reading.orientation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-9)
    np.testing.assert_allclose(reading.linear_acceleration, [0, GRAVITY, 0], atol=1e-3)
    np.testing.assert_allclose(reading.angular_velocity, np.zeros(3), atol=1e-9)


def test_readings_are_read_only_views(start: Start) -> None:
    simulator = start(SCALE)
    force, _ = simulator.get_force_torque("wrist")
    simulator.step(1.0)
    assert force[2] == pytest.approx(2 * GRAVITY, abs=1e-3)
    with pytest.raises(ValueError, match="read-only"):
        force[2] = 0.0


def test_an_incomplete_sensor_is_ignored(start: Start) -> None:
    simulator = start(SCALE)
    assert simulator.get_sensor_names() == (("wrist",), ("body",))
    with pytest.raises(UnknownNameError, match="valid choices: wrist"):
        simulator.get_force_torque("lonely")


def test_an_unknown_inertial_unit_is_reported(start: Start) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'body'"):
        start(SCALE).get_imu("bdy")


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_wrist_sensors_of_the_robot_measure_the_weight_of_the_grippers(
    rby1: MuJoCoSimulator, side: str
) -> None:
    rby1.step(2.0)
    force = rby1.get_force_torque(f"{side}_wrist").force
    site = rby1.data.site(f"{side}_wrist_ft")
    hand = rby1.model.site(f"{side}_wrist_ft").bodyid[0]
    weight = rby1.model.body_subtreemass[hand] * GRAVITY
    in_world = site.xmat.reshape(3, 3) @ force
    np.testing.assert_allclose(in_world, [0, 0, weight], atol=0.02 * weight)


def test_the_chest_sensor_of_the_robot_is_upright(rby1: MuJoCoSimulator) -> None:
    rby1.step(1.0)
    reading = rby1.get_imu("chest")
    up = quat_rotate(reading.orientation, reading.linear_acceleration)
    np.testing.assert_allclose(up, [0, 0, GRAVITY], atol=0.02)


def test_the_ready_robot_does_not_touch_itself(rby1: MuJoCoSimulator) -> None:
    rby1.step(0.5)
    assert rby1.self_contacts() == set()


def test_a_hand_on_the_body_is_reported(rby1: MuJoCoSimulator) -> None:
    indices = rby1.joint_indices(["right_arm_1", "right_arm_2", "right_arm_3"])
    targets = rby1.get_joint_targets()
    targets[indices] = [0.0, 1.5, -2.2]
    rby1.set_joint_positions(targets)
    rby1.step(1.5)
    pairs = rby1.self_contacts()
    assert any("right" in first + second and "torso" in first + second for first, second in pairs)
    assert all(first <= second for first, second in pairs)
