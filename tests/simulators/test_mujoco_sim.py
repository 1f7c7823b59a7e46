# SPDX-License-Identifier: Apache-2.0
"""The simulator as a whole: names, time, state, reset, failures."""

import logging
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from teleop_system.exceptions import (
    ConfigError,
    InvalidValueError,
    ModelError,
    SimulationError,
    UnknownNameError,
)
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from tests.simulators.conftest import Start
from tests.simulators.small_models import ARM, CART, UNSTABLE
from tests.waiting import run_to_end

TIMESTEP = 0.002


def run(simulator: MuJoCoSimulator, steps: int) -> list[np.ndarray[Any, Any]]:
    """Wave the arms for some steps and return the state after each one."""
    home = simulator.get_joint_targets()
    states = []
    for step in range(steps):
        if step % 5 == 0:
            simulator.set_joint_positions(home + 0.1 * np.sin(0.02 * step))
            simulator.set_base_velocity(0.2, 0.0, 0.3)
        simulator.step()
        states.append(np.concatenate([simulator.data.qpos, simulator.data.qvel]))
    return states


def test_joints_and_actuators_come_in_the_order_of_the_contract(rby1: MuJoCoSimulator) -> None:
    names = rby1.get_joint_names()
    torso = [f"torso_{i}" for i in range(6)]
    arms = [f"{side}_arm_{i}" for side in ("right", "left") for i in range(7)]
    grippers = ["gripper_finger_r1", "gripper_finger_l1"]
    assert names == ["left_wheel", "right_wheel", *torso, *arms, "head_0", "head_1", *grippers]
    last = rby1._world.joints.actuators[24:]
    assert [rby1.model.actuator(a).name for a in last] == ["right_gripper", "left_gripper"]


def test_a_configuration_object_and_a_dictionary_are_equivalent(rby1_path: Path) -> None:
    simulator = MuJoCoSimulator()
    assert simulator.initialize(MuJoCoConfig(str(rby1_path), timestep=0.001)) is True
    assert simulator.timestep == 0.001


def test_the_robot_starts_in_its_ready_pose(rby1: MuJoCoSimulator) -> None:
    index = rby1.joint_indices(["right_arm_3"])
    assert rby1.get_state().joint_positions[index] == pytest.approx(-2.094395102)


def test_keyframe_and_initial_pose_can_be_chosen(start: Start) -> None:
    simulator = start(ARM, keyframe="bent", initial_pose={"shoulder": -0.3})
    np.testing.assert_array_equal(simulator.get_state().joint_positions, [-0.3, 1.0])


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"keyframe": "redy"}, "keyframe"),
        ({"camera": "eye"}, "camera"),
        ({"initial_pose": {"elbo": 0.0}}, "joint"),
        ({"velocity_limits": {"elbo": 1.0}}, "joint"),
        ({"scene": "moon"}, "scene"),
    ],
)
def test_a_setting_with_an_unknown_name_is_refused(
    start: Start, settings: dict[str, Any], kind: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        start(ARM, **settings)
    assert caught.value.kind == kind


def test_a_model_without_driven_joints_is_refused(start: Start) -> None:
    with pytest.raises(ModelError, match="no actuator"):
        start("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")


def test_a_failed_initialize_keeps_the_old_model(start: Start) -> None:
    simulator = start(ARM)
    with pytest.raises(ConfigError):
        simulator.initialize({"mjcf_path": "arm.xml", "speed": 1})
    simulator.step()
    assert simulator.get_time() == pytest.approx(TIMESTEP)


def test_nothing_works_before_initialize() -> None:
    simulator = MuJoCoSimulator()
    for use in (simulator.step, simulator.get_state, simulator.reset, simulator.render):
        with pytest.raises(SimulationError, match="initialize"):
            use()


def test_without_mujoco_initialize_names_the_missing_extra(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("teleop_system.simulators.mujoco_sim.mujoco", None)
    assert MuJoCoSimulator().initialize({"mjcf_path": "arm.xml"}) is False
    assert "teleop_system[sim]" in caplog.text


def test_the_module_can_be_imported_without_mujoco() -> None:
    script = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from teleop_system.simulators.mujoco_sim import MuJoCoSimulator\n"
        "assert MuJoCoSimulator().initialize({'mjcf_path': 'x.xml'}) is False\n"
    )
    done = run_to_end([sys.executable, "-c", script])
    assert done.returncode == 0, done.stderr


def test_a_reset_run_repeats_to_the_last_bit(rby1: MuJoCoSimulator) -> None:
    first = run(rby1, 300)
    rby1.set_control_mode("effort", ["torso_1", "left_arm_0"])  # The reset has to undo this, too.
    rby1.single_step(10)
    rby1.reset()
    np.testing.assert_array_equal(run(rby1, 300), first)


def test_two_simulators_of_one_seed_agree_to_the_last_bit(start: Start, rby1_path: Path) -> None:
    first, second = (start(rby1_path, initial_noise=0.02, seed=7) for _ in range(2))
    np.testing.assert_array_equal(run(first, 100), run(second, 100))


def test_noise_moves_the_start_within_its_bounds_and_by_its_seed(
    start: Start, rby1_path: Path
) -> None:
    plain = start(rby1_path).get_state().joint_positions
    starts = [
        start(rby1_path, initial_noise=0.02, seed=seed).get_state().joint_positions
        for seed in (1, 2)
    ]
    for noisy in starts:
        assert 0.01 < np.abs(noisy - plain).max() <= 0.02
    assert np.abs(starts[0] - starts[1]).max() > 0.005


def test_dt_is_filled_with_whole_steps_and_the_rest_is_kept(start: Start) -> None:
    simulator = start(ARM)
    for _ in range(30):
        simulator.step(1.0 / 60.0)
    assert simulator.get_time() == pytest.approx(0.5, abs=TIMESTEP)


@pytest.mark.parametrize("dt", [-0.01, np.nan, np.inf])
def test_a_negative_or_infinite_time_step_is_refused(start: Start, dt: float) -> None:
    with pytest.raises(InvalidValueError, match="dt"):
        start(ARM).step(dt)


def test_a_paused_simulation_moves_by_single_steps_only(start: Start) -> None:
    simulator = start(ARM)
    simulator.pause()
    simulator.step(0.1)
    assert simulator.is_paused
    assert simulator.get_time() == 0.0
    simulator.single_step(3)
    assert simulator.get_time() == pytest.approx(3 * TIMESTEP)
    simulator.resume()
    simulator.step()
    assert simulator.get_time() == pytest.approx(4 * TIMESTEP)


@pytest.mark.parametrize("servoing", [False, True])
def test_two_half_steps_equal_a_whole_step(start: Start, rby1_path: Path, servoing: bool) -> None:
    whole, halves = (start(rby1_path) for _ in range(2))
    for simulator in (whole, halves):
        simulator.set_base_velocity(0.3, 0.0, 0.5)
        if servoing:
            simulator.set_control_mode("velocity", ["torso_2"])
            simulator.set_joint_targets(["torso_2"], [0.2])
    for _ in range(200):
        whole.step()
        halves.step1()
        halves.step2()
    np.testing.assert_array_equal(whole.data.qpos, halves.data.qpos)
    np.testing.assert_array_equal(whole.data.qvel, halves.data.qvel)


def test_a_command_between_the_halves_counts_for_this_step(start: Start) -> None:
    simulator = start(ARM)
    simulator.step1()
    simulator.set_joint_targets(["elbow"], [5.0])
    simulator.step2()
    assert simulator.data.actuator_force[1] == pytest.approx(1.0)


def test_the_second_half_needs_the_first(start: Start) -> None:
    with pytest.raises(SimulationError, match="step1"):
        start(ARM).step2()


def test_an_integrator_without_half_steps_is_refused(start: Start) -> None:
    simulator = start(ARM.replace("implicitfast", "RK4"))
    with pytest.raises(SimulationError, match="RK4"):
        simulator.step1()


def test_divergence_is_reported_and_does_not_reset_the_robot(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    simulator = start(UNSTABLE)
    simulator.set_joint_positions([1.0])
    with caplog.at_level(logging.WARNING), pytest.raises(SimulationError, match="joint 'spin'"):
        for _ in range(100):
            simulator.step()
    with pytest.raises(SimulationError, match="reset"):
        simulator.step()
    simulator.reset()
    simulator.step()
    assert not Path("MUJOCO_LOG.TXT").exists()


def test_divergence_in_the_first_step_is_detected(start: Start) -> None:
    simulator = start(UNSTABLE)
    simulator.data.qvel[0] = 1e20
    with pytest.raises(SimulationError, match="BADQVEL"):
        simulator.step()


def test_reads_fill_the_given_arrays(rby1: MuJoCoSimulator) -> None:
    run(rby1, 50)
    state = rby1.get_state()
    positions, velocities, efforts = np.full((3, 26), np.nan)
    rby1.read_joint_positions(positions)
    rby1.read_joint_velocities(velocities)
    rby1.read_joint_efforts(efforts)
    np.testing.assert_array_equal(positions, state.joint_positions)
    np.testing.assert_array_equal(velocities, state.joint_velocities)
    assert np.isfinite(efforts).all()


def test_the_state_holds_the_base_pose_in_ros_order(start: Start) -> None:
    simulator = start(CART, scene=None)
    half = np.sqrt(0.5)
    simulator.data.qpos[:7] = [1.0, 2.0, 3.0, half, 0.0, 0.0, half]
    state = simulator.get_state()
    np.testing.assert_array_equal(state.base_position, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(state.base_orientation, [0.0, 0.0, half, half])


def test_a_new_position_is_interpolated_over_the_steps_of_one_call(
    rby1: MuJoCoSimulator,
) -> None:
    index = rby1.joint_indices(["torso_5"])[0]
    actuator = rby1.model.actuator("torso_5").id
    controls: list[float] = []
    step = mujoco.mj_step

    def spy(model: Any, data: Any, count: int = 1) -> None:
        controls.append(float(data.ctrl[actuator]))
        step(model, data, count)

    rby1._steps._mj_step = spy
    targets = rby1.get_joint_targets()
    targets[index] = 0.05
    rby1.set_joint_positions(targets)
    rby1.step(0.01)
    np.testing.assert_allclose(controls, [0.01, 0.02, 0.03, 0.04, 0.05], atol=1e-12)
    rby1.step(0.01)
    assert controls[5:] == [0.05]


def test_a_cycle_in_halves_ends_where_whole_steps_end(rby1_path: Path) -> None:
    ends = []
    for in_halves in (False, True):
        simulator = MuJoCoSimulator()
        simulator.initialize({"mjcf_path": str(rby1_path)})
        goal = simulator.get_joint_targets() + 0.02
        for _ in range(20):
            if in_halves:
                simulator.step1()
                simulator.set_joint_positions(goal)
                simulator.step2(5)
            else:
                simulator.set_joint_positions(goal)
                simulator.single_step(5)
        ends.append(simulator.get_state().joint_positions)
        assert simulator.get_time() == pytest.approx(0.2)
    # Except for velocity servos, both apply the same controls in the same steps.
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
