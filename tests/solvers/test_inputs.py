# SPDX-License-Identifier: Apache-2.0
"""Which inputs are refused, with which message, and how a solver starts again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teleop_system.exceptions import (
    ConfigError,
    InvalidJointStateError,
    InvalidPoseError,
    InvalidValueError,
    ModelError,
    TeleopError,
    UnknownNameError,
)
from teleop_system.interfaces import IIKSolver, Pose6D
from teleop_system.solvers import ChainConfig, SolverOptions
from teleop_system.solvers.dls_solver import DLSSolver
from teleop_system.solvers.pink_ik_solver import PinkIKSolver
from teleop_system.solvers.proportional_mapper import ProportionalMapper
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from tests.solvers.rby1 import DT, MJCF, READY, URDF, Oracle, create, options

ALL = [QPIKSolver, PinkIKSolver, DLSSolver, ProportionalMapper]
every_solver = pytest.mark.parametrize("solver_class", ALL)


@every_solver
@pytest.mark.parametrize("content", ["no xml", "<robot/>", "<sdf/>", "<robot><link/></robot>"])
def test_a_broken_model_raises_a_model_error(
    tmp_path: Path, solver_class: type[IIKSolver], content: str
) -> None:
    file = tmp_path / "broken.urdf"
    file.write_text(content)
    with pytest.raises((ModelError, UnknownNameError)):
        solver_class().initialize(str(file), chains={"arm": ChainConfig("hand")})


@every_solver
def test_an_unknown_frame_is_reported_with_a_hint(solver_class: type[IIKSolver]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ee_left'"):
        create(solver_class, chains={"left_arm": ChainConfig("ee_leftt")})


@every_solver
def test_an_unknown_joint_is_reported_with_a_hint(solver_class: type[IIKSolver]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'torso_3'"):
        create(solver_class, joint_names=("torso_0", "torso3"))


@every_solver
def test_an_unknown_option_is_reported_with_a_hint(solver_class: type[IIKSolver]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'joint_names'"):
        create(solver_class, joint_name=("torso_0",))


@every_solver
def test_a_solver_needs_a_chain(solver_class: type[IIKSolver]) -> None:
    with pytest.raises(ConfigError, match="chain"):
        solver_class().initialize(URDF)


@every_solver
def test_a_solver_must_be_initialised_first(solver_class: type[IIKSolver]) -> None:
    with pytest.raises(TeleopError, match="initialize"):
        solver_class().get_joint_names()


@every_solver
@pytest.mark.parametrize("dt", [0.0, -0.01, float("nan"), float("inf"), "soon"])
def test_an_invalid_period_is_refused(solver_class: type[IIKSolver], dt: Any) -> None:
    with pytest.raises(InvalidValueError, match="dt"):
        create(solver_class).solve_multi({}, READY, dt)


@pytest.mark.parametrize(
    ("length", "is_taken"), [(1.0009, True), (0.9991, True), (1.0011, False), (0.9989, False)]
)
def test_quaternions_may_differ_from_unit_length_by_a_thousandth(
    oracle: Oracle, length: float, is_taken: bool
) -> None:
    pose = oracle.poses(READY)["right_arm"]
    scaled = Pose6D(pose.position, pose.orientation * length)
    solver = create(QPIKSolver)
    if is_taken:
        assert solver.solve(scaled, READY, DT).success
    else:
        with pytest.raises(InvalidPoseError, match="right_arm"):
            solver.solve(scaled, READY, DT)


@every_solver
def test_a_refused_target_leaves_the_solver_usable(
    oracle: Oracle, solver_class: type[IIKSolver]
) -> None:
    solver, fresh, targets = create(solver_class), create(solver_class), oracle.poses(READY)
    with pytest.raises(InvalidPoseError):
        solver.solve_multi(targets | {"torso": Pose6D.lost()}, READY, DT)
    np.testing.assert_array_equal(
        solver.solve_multi(targets, READY, DT).joint_positions,
        fresh.solve_multi(targets, READY, DT).joint_positions,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"posture_weight": -1.0},
        {"damping": float("nan")},
        {"position_tolerance": 0.0},
        {"collision_slow": 0.005},
        {"joint_names": ("a", "a")},
        {"chains": {"arm": {"ee_frame": "hand", "wait": 1.0}}},
        {"chains": {"arm": {"ee_frame": ""}}},
        {"chains": {"arm": {"ee_frame": "hand", "position_weight": -1.0}}},
        {"chains": {"arm": {"ee_frame": "hand", "linear_speed": 0.0}}},
        {"chains": {"arm": {"ee_frame": "h", "position_weight": 0, "orientation_weight": 0}}},
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        SolverOptions.from_keywords(changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"velocity_limits": {"torso_0": 0.0}},
        {"acceleration_limits": {"torso_0": float("inf")}},
        {"acceleration_limits": -1.0},
        {"position_limits": {"torso_0": (0.1, -0.1)}},
        {"reference_posture": {"torso_0": float("nan")}},
    ],
)
def test_limits_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="torso_0"):
        create(QPIKSolver, **changes)


@pytest.mark.parametrize("option", ["velocity_limits", "acceleration_limits"])
def test_a_limit_of_an_unknown_joint_is_refused(option: str) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'torso_0'"):
        create(QPIKSolver, **{option: {"torso0": 1.0}})


def test_an_unknown_back_end_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="daqp"):
        create(QPIKSolver, backend="quadprog")


def test_none_means_the_default() -> None:
    assert SolverOptions.from_keywords({"joint_names": None, "damping": None}) == SolverOptions()


def test_without_joint_names_those_of_the_chains_are_used() -> None:
    solver = QPIKSolver()
    assert solver.initialize(URDF, chains={"left": ChainConfig("ee_left")})
    expected = [f"torso_{i}" for i in range(6)] + [f"left_arm_{i}" for i in range(7)]
    assert solver.get_joint_names() == expected


def test_missing_libraries_are_logged_and_not_raised(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("teleop_system.solvers.base_solver.find_spec", lambda name: None)
    assert QPIKSolver().initialize(URDF, **options()) is False
    assert "teleop_system[ik]" in caplog.text


def test_a_missing_back_end_is_logged_and_not_raised(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("teleop_system.solvers.qp_ik_solver.installed_backends", list)
    assert QPIKSolver().initialize(URDF, **options()) is False
    assert "daqp" in caplog.text


def test_joints_far_from_the_last_result_restart_the_solver_at_rest(oracle: Oracle) -> None:
    solver, joints = create(QPIKSolver), READY
    targets = oracle.poses(READY)
    targets["right_arm"] = targets["right_arm"].translated(np.array([0.0, 0.0, 0.3]))
    for _ in range(20):
        joints = solver.solve_multi(targets, joints, DT).joint_positions
    assert np.abs(joints - READY).max() > 0.1
    moved = READY + 0.2
    moved = np.where(np.arange(20) == 11, moved, READY)
    result = solver.solve_multi(targets, moved, DT).joint_positions
    fresh = create(QPIKSolver).solve_multi(targets, moved, DT).joint_positions
    np.testing.assert_allclose(result, fresh, atol=1e-12)


def test_joints_near_the_last_result_do_not_disturb_the_motion(oracle: Oracle) -> None:
    first, second, targets = create(QPIKSolver), create(QPIKSolver), oracle.poses(READY)
    targets["left_arm"] = targets["left_arm"].translated(np.array([0.0, 0.0, 0.2]))
    one = two = READY
    for tick in range(30):
        one = first.solve_multi(targets, one, DT).joint_positions
        two = second.solve_multi(targets, two + (1e-3 if tick else 0.0), DT).joint_positions
    np.testing.assert_array_equal(one, two)


def test_reset_forgets_the_motion(oracle: Oracle) -> None:
    solver, joints, targets = create(QPIKSolver), READY, oracle.poses(READY)
    targets["left_arm"] = targets["left_arm"].translated(np.array([0.0, 0.0, 0.2]))
    for _ in range(20):
        joints = solver.solve_multi(targets, joints, DT).joint_positions
    solver.reset()
    result = solver.solve_multi(targets, joints, DT).joint_positions
    fresh = create(QPIKSolver).solve_multi(targets, joints, DT).joint_positions
    np.testing.assert_allclose(result, fresh, atol=1e-12)


def test_reset_with_a_velocity_continues_from_it(oracle: Oracle) -> None:
    solver, velocity = create(QPIKSolver), np.zeros(20)
    velocity[6] = 0.5
    solver.reset(velocity)
    moved = solver.solve_multi(oracle.poses(READY), READY, DT).joint_positions - READY
    # It cannot brake by more than its acceleration times the period, 0.1 rad/s.
    assert moved[6] / DT >= 0.4 - 1e-9


def test_the_proportional_mapper_reports_that_it_reads_urdf_only() -> None:
    with pytest.raises(ModelError, match="URDF"):
        ProportionalMapper().initialize(MJCF, **options())


def test_gains_of_the_proportional_mapper_are_used(oracle: Oracle) -> None:
    gains = np.zeros((20, 6))
    gains[6, 2] = -1.0
    solver, joints, target = create(ProportionalMapper, gains={"right_arm": gains}), READY, 0.2
    poses = oracle.poses(READY)
    poses["right_arm"] = poses["right_arm"].translated(np.array([0.0, 0.0, target]))
    for _ in range(200):
        joints = solver.solve_multi(poses, joints, DT).joint_positions
    np.testing.assert_allclose(joints[6], READY[6] - target, atol=1e-6)


def test_gains_of_another_shape_are_refused() -> None:
    with pytest.raises(ConfigError, match="right_arm"):
        create(ProportionalMapper, gains={"right_arm": np.zeros((6, 20))})


def test_the_solver_continues_from_a_result_with_an_offset(oracle: Oracle) -> None:
    solver, joints = create(QPIKSolver), READY
    targets = oracle.poses(READY)
    targets["right_arm"] = targets["right_arm"].translated(np.array([0.0, 0.0, 0.2]))
    for _ in range(10):
        joints = solver.solve_multi(targets, joints, DT).joint_positions
    offset = np.full(20, -1e-3)
    solver.shift(offset)
    shifted = joints + offset
    after = solver.solve_multi(targets, shifted, DT).joint_positions
    # The offset counts as motion, so every step stays within the acceleration limits.
    last = joints - READY
    assert (np.abs(after - shifted) <= np.abs(last) + 1e-3 + 10.0 * DT**2).all()


def test_before_the_first_tick_an_offset_changes_nothing(oracle: Oracle) -> None:
    solver, targets = create(QPIKSolver), oracle.poses(READY)
    solver.shift(np.full(20, 0.1))
    shifted = solver.solve_multi(targets, READY, DT).joint_positions
    expected = create(QPIKSolver).solve_multi(targets, READY, DT).joint_positions
    np.testing.assert_array_equal(shifted, expected)


@pytest.mark.parametrize("offset", [np.zeros(3), np.full(20, np.nan)])
def test_an_offset_that_does_not_fit_is_refused(offset: Any) -> None:
    with pytest.raises(InvalidJointStateError, match="offset"):
        create(QPIKSolver).shift(offset)


@every_solver
def test_an_unknown_chain_is_reported_with_the_known_ones(solver_class: type[IIKSolver]) -> None:
    pose = Pose6D(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    with pytest.raises(UnknownNameError, match="did you mean 'left_arm'"):
        create(solver_class).solve_multi({"left_ram": pose}, READY, DT)
