# SPDX-License-Identifier: Apache-2.0
"""Joint commands: modes, limits, switching and bad input."""

import mujoco
import numpy as np
import pytest

from teleop_system.exceptions import InvalidJointStateError, SimulationError, UnknownNameError
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.simulators.conftest import Start
from tests.simulators.small_models import ARM, SCALE

SHOULDER_LIMIT = 20.0  # Of the joint; its actuator could do 30.
ELBOW_LIMIT = 10.0  # Control range 2 times gear 5.

GENERAL = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <body><joint name="finger" type="slide" axis="1 0 0" damping="50"/><geom size="0.1"/></body>
    <body pos="0 1 0"><joint name="other" axis="0 0 1"/><geom size="0.1"/></body>
  </worldbody>
  <actuator>
    <general joint="finger" gear="2" gainprm="4" biastype="affine" biasprm="-1 -1000 -20"
             ctrlrange="0 100" ctrllimited="true"/>
    <intvelocity joint="other" kp="10" actrange="-1 1" ctrlrange="-2 2"/>
  </actuator>
</mujoco>
"""


def settle(simulator: MuJoCoSimulator, seconds: float = 2.0) -> np.ndarray:
    simulator.step(seconds)
    return simulator.get_state().joint_positions


def test_each_joint_starts_in_the_mode_of_its_actuator(rby1: MuJoCoSimulator) -> None:
    assert rby1.get_control_modes() == ["velocity"] * 2 + ["position"] * 24


def test_positions_are_reached_and_wheels_do_not_move(rby1: MuJoCoSimulator) -> None:
    target = rby1.get_joint_targets()
    target[:2] = 99.0
    target[2:24] += 0.1
    rby1.set_joint_positions(target)
    assert rby1.get_joint_targets()[:2].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(settle(rby1)[2:24], target[2:24], atol=3e-3)


def test_positions_beyond_the_range_are_clamped(start: Start) -> None:
    simulator = start(ARM)
    simulator.set_joint_positions([5.0, 0.0])
    assert simulator.get_joint_targets()[0] == 1.0
    assert simulator.data.ctrl[0] == 1.0


@pytest.mark.parametrize("values", [[0.1], [0.1, 0.2, 0.3], [[0.1, 0.2]], [np.nan, 0.0], ["a", 1]])
def test_bad_positions_do_not_replace_the_last_command(start: Start, values: list) -> None:
    simulator = start(ARM)
    simulator.set_joint_positions([0.5, 0.0])
    before = simulator.data.ctrl.copy()
    with pytest.raises(InvalidJointStateError):
        simulator.set_joint_positions(values)
    np.testing.assert_array_equal(simulator.data.ctrl, before)


def test_joints_are_commanded_by_name_in_any_order(rby1: MuJoCoSimulator) -> None:
    rby1.set_joint_targets(["left_arm_6", "right_arm_0"], [0.3, -0.4])
    targets = dict(zip(rby1.get_joint_names(), rby1.get_joint_targets(), strict=True))
    assert (targets["left_arm_6"], targets["right_arm_0"]) == (0.3, -0.4)


def test_an_unknown_joint_is_reported_with_the_nearest_one(rby1: MuJoCoSimulator) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'left_arm_6'"):
        rby1.set_joint_targets(["left_arm6"], [0.3])


def test_a_command_without_one_value_per_name_is_refused(rby1: MuJoCoSimulator) -> None:
    with pytest.raises(InvalidJointStateError):
        rby1.set_joint_targets(["left_arm_6", "head_0"], [0.3])


def test_an_unknown_mode_is_reported_with_the_valid_ones(rby1: MuJoCoSimulator) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'velocity'"):
        rby1.set_control_mode("velocty")


@pytest.mark.parametrize("joint", ["shoulder", "elbow"])
@pytest.mark.parametrize("speed", [0.3, -0.2])
def test_velocities_are_held_against_gravity(start: Start, joint: str, speed: float) -> None:
    simulator = start(ARM)
    simulator.set_control_mode("velocity")
    simulator.set_joint_targets([joint], [speed])
    simulator.step(0.5)
    index = simulator.joint_indices([joint])
    begin = simulator.get_state().joint_positions[index]
    simulator.step(1.0)
    moved = simulator.get_state().joint_positions[index] - begin
    assert moved == pytest.approx(speed, abs=2e-3)


def test_zero_velocity_does_not_creep_under_load(start: Start) -> None:
    simulator = start(ARM)
    simulator.set_control_mode("velocity")
    before = settle(simulator)
    assert np.abs(settle(simulator) - before).max() < 1e-6


def test_velocity_is_limited_as_configured(start: Start) -> None:
    simulator = start(ARM, velocity_limits={"shoulder": 0.25})
    simulator.set_control_mode("velocity")
    simulator.set_joint_targets(simulator.get_joint_names(), [3.0, -3.0])
    assert simulator.get_joint_targets().tolist() == [0.25, -3.0]


def test_velocity_mode_stops_at_the_end_of_the_range(start: Start) -> None:
    simulator = start(ARM)
    simulator.set_control_mode("velocity", ["shoulder"])
    simulator.set_joint_targets(["shoulder"], [-1.0])
    assert settle(simulator, 4.0)[0] == pytest.approx(-1.0, abs=0.05)


def test_velocity_mode_does_not_wind_up_against_its_effort_limit(start: Start) -> None:
    simulator = start(ARM.replace('range="-1.5 1.5"', 'range="-1.5 0.3"'))
    simulator.set_control_mode("velocity", ["shoulder"])
    simulator.set_joint_targets(["shoulder"], [0.5])
    settle(simulator, 3.0)  # More than a second against the joint's stop, before its own limit.
    simulator.set_joint_targets(["shoulder"], [-0.5])
    simulator.step(0.3)
    assert simulator.get_state().joint_velocities[0] == pytest.approx(-0.5, abs=0.05)


def test_efforts_act_on_the_joint_through_any_gear(start: Start) -> None:
    simulator = start(ARM)
    simulator.set_control_mode("effort")
    simulator.set_joint_targets(simulator.get_joint_names(), [3.0, -4.0])
    simulator.step()
    np.testing.assert_allclose(simulator.data.qfrc_actuator, [3.0, -4.0])


def test_efforts_are_limited_by_joint_and_actuator(start: Start) -> None:
    simulator = start(ARM)
    simulator.set_control_mode("effort")
    simulator.set_joint_targets(simulator.get_joint_names(), [1000.0, -1000.0])
    assert simulator.get_joint_targets().tolist() == [SHOULDER_LIMIT, -ELBOW_LIMIT]
    simulator.step()
    np.testing.assert_allclose(simulator.data.qfrc_actuator, [SHOULDER_LIMIT, -ELBOW_LIMIT])


def test_a_bare_motor_can_hold_a_position(start: Start) -> None:
    simulator = start(ARM)
    simulator.set_control_mode("position", ["elbow"])
    simulator.set_joint_positions([0.0, 0.7])
    assert settle(simulator)[1] == pytest.approx(0.7, abs=0.01)


@pytest.mark.parametrize("first", ["position", "velocity", "effort"])
@pytest.mark.parametrize("second", ["position", "velocity", "effort"])
def test_a_change_of_mode_causes_no_jump(start: Start, first: str, second: str) -> None:
    simulator = start(ARM)
    for mode in (first, second):
        before = settle(simulator, 1.0)
        simulator.set_control_mode(mode, ["shoulder"])
        simulator.set_control_mode("position", ["elbow"])
        simulator.step(0.1)
        after = simulator.get_state()
        assert abs(after.joint_positions[0] - before[0]) < 2e-3
        assert abs(after.joint_velocities[0]) < 0.05


def test_modes_change_joint_by_joint(rby1: MuJoCoSimulator) -> None:
    rby1.set_control_mode("velocity", ["head_0"])
    rby1.set_control_mode("effort", ["head_1"])
    modes = dict(zip(rby1.get_joint_names(), rby1.get_control_modes(), strict=True))
    assert (modes["head_0"], modes["head_1"], modes["torso_0"]) == (
        "velocity",
        "effort",
        "position",
    )


def test_returning_to_the_first_mode_restores_the_models_gains(rby1: MuJoCoSimulator) -> None:
    model = rby1.model
    names = ("actuator_gainprm", "actuator_biasprm", "actuator_biastype", "actuator_ctrllimited")
    before = [getattr(model, name).copy() for name in names]
    rby1.set_control_mode("effort")
    rby1.set_control_mode("position")
    rby1.set_control_mode("velocity", ["left_wheel", "right_wheel"])
    for name, values in zip(names, before, strict=True):
        np.testing.assert_array_equal(getattr(model, name), values)


def test_the_robot_holds_its_pose_in_velocity_mode(rby1: MuJoCoSimulator) -> None:
    before = settle(rby1, 0.5)
    rby1.set_control_mode("velocity")
    assert np.abs(settle(rby1, 1.0) - before)[2:].max() < 1e-3


def test_general_actuators_accept_joint_positions_whatever_the_unit_of_their_control(
    start: Start,
) -> None:
    # Effort 4 ctrl - 1 - 1000 (2 q): ctrl 0..100 spans q from -0.0005 to 0.1995.
    simulator = start(GENERAL)
    simulator.set_joint_positions([0.1, 0.0])
    assert settle(simulator)[0] == pytest.approx(0.1, abs=1e-4)
    simulator.set_joint_positions([1.0, 0.0])
    assert simulator.get_joint_targets()[0] == pytest.approx(0.1995)
    assert simulator.data.ctrl[0] == pytest.approx(100.0)


def test_an_actuator_with_internal_state_keeps_its_mode(start: Start) -> None:
    simulator = start(GENERAL)
    assert simulator.get_control_modes()[1] == "velocity"
    with pytest.raises(SimulationError, match="other"):
        simulator.set_control_mode("position", ["other"])


def test_the_first_of_two_actuators_of_a_joint_commands_it(start: Start) -> None:
    second = '<motor name="extra" joint="lift"/></actuator>'
    simulator = start(SCALE.replace("</actuator>", second))
    assert simulator.get_joint_names() == ["lift"]
    assert simulator._world.joints.actuators.tolist() == [0]
    assert mujoco.mj_name2id(simulator.model, mujoco.mjtObj.mjOBJ_ACTUATOR, "extra") == 1
