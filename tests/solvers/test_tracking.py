# SPDX-License-Identifier: Apache-2.0
"""How well targets are reached and followed, measured by independent forward kinematics."""

import numpy as np
import pytest
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver, IKResult, Pose6D
from teleop_system.solvers.dls_solver import DLSSolver
from teleop_system.solvers.pink_ik_solver import PinkIKSolver
from teleop_system.solvers.proportional_mapper import ProportionalMapper
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from tests.solvers.rby1 import (
    DT,
    JOINTS,
    LOWER,
    READY,
    UPPER,
    Oracle,
    create,
    errors,
    smooth_targets,
)

Array = NDArray[np.float64]
EXACT = [QPIKSolver, DLSSolver, PinkIKSolver]
ALL = [*EXACT, ProportionalMapper]


def settle(
    solver: IIKSolver, targets: dict[str, Pose6D], joints: Array, ticks: int
) -> tuple[IKResult, Array]:
    """Return the last result and the joints of every tick."""
    path = [joints]
    for _ in range(ticks):
        result = solver.solve_multi(targets, path[-1], DT)
        path.append(result.joint_positions)
    return result, np.array(path)


def shifted(pose: Pose6D, *offset: float) -> Pose6D:
    return pose.translated(np.array(offset))


@pytest.mark.parametrize("solver_class", EXACT)
def test_smooth_targets_are_followed(oracle: Oracle, solver_class: type[IIKSolver]) -> None:
    solver, joints = create(solver_class), READY
    for target in smooth_targets(oracle, 200):
        result = solver.solve_multi(target, joints, DT)
        joints = result.joint_positions
        distance, angle = errors(oracle.poses(joints), target)
        assert distance < 1e-3
        assert angle < 5e-3


@pytest.mark.parametrize("solver_class", ALL)
def test_errors_and_success_are_those_of_the_joints_returned(
    oracle: Oracle, solver_class: type[IIKSolver]
) -> None:
    solver, joints = create(solver_class), READY
    for target in smooth_targets(oracle, 40, seed=2, reach=0.6):
        result = solver.solve_multi(target, joints, DT)
        joints = result.joint_positions
        distance, angle = errors(oracle.poses(joints), target)
        assert result.error_position == pytest.approx(distance, abs=1e-9)
        # The oracle's angle comes from a cosine near 1, which leaves it half the digits.
        assert result.error_orientation == pytest.approx(angle, abs=1e-6)
        assert result.success == (distance <= 1e-3 and angle <= 1e-2)


@pytest.mark.parametrize("seed", range(6))
def test_reachable_targets_are_reached_from_random_starts(oracle: Oracle, seed: int) -> None:
    random = np.random.default_rng(seed)
    while True:
        start, goal = np.clip(
            READY + 0.25 * random.normal(size=(2, 20)), LOWER + 0.05, UPPER - 0.05
        )
        if min(oracle.distance(start), oracle.distance(goal)) > 0.06:
            break
    result, path = settle(create(QPIKSolver), oracle.poses(goal), start, 300)
    assert result.success
    assert errors(oracle.poses(path[-1]), oracle.poses(goal))[0] < 1e-4


@pytest.mark.parametrize("solver_class", EXACT)
def test_a_step_is_reached_in_a_second_without_overshoot(
    oracle: Oracle, solver_class: type[IIKSolver]
) -> None:
    targets = oracle.poses(READY)
    targets["right_arm"] = shifted(targets["right_arm"], 0.15, 0.05, 0.1)
    _, path = settle(create(solver_class), targets, READY, 120)
    left = np.array([errors(oracle.poses(joints), targets)[0] for joints in path])
    assert left[100] < 1e-3
    assert np.diff(left).max() < 3e-3, "the hand moved away from its target"


def test_a_moving_target_is_caught_up_with(oracle: Oracle) -> None:
    solver, joints = create(QPIKSolver), READY
    targets = oracle.poses(READY)
    for tick in range(150):
        moved = shifted(oracle.poses(READY)["left_arm"], 0.05, 0.0, 0.0012 * tick)
        result = solver.solve_multi(targets | {"left_arm": moved}, joints, DT)
        joints = result.joint_positions
    assert result.error_position < 1e-3


@pytest.mark.parametrize("solver_class", ALL)
def test_an_unreachable_target_causes_no_oscillation(
    oracle: Oracle, solver_class: type[IIKSolver]
) -> None:
    targets = {"right_arm": Pose6D(np.array([3.0, -1.0, 2.0]), np.array([0.0, 0.0, 0.0, 1.0]))}
    ticks = 500 if solver_class is not PinkIKSolver else 300
    result, path = settle(create(solver_class), targets, READY, ticks)
    assert not result.success
    assert result.error_position > 1.0
    assert np.abs(np.diff(path[-40:], axis=0)).max() / DT < 0.2


def test_an_unreachable_chain_does_not_shake_the_others(oracle: Oracle) -> None:
    targets = oracle.poses(READY)
    targets["right_arm"] = Pose6D(np.array([90.0, -1.0, 2.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    chains = {
        "right_arm": {"ee_frame": "ee_right", "position_weight": 5.0},
        "left_arm": {"ee_frame": "ee_left"},
        "torso": {"ee_frame": "link_torso_5"},
    }
    _, path = settle(create(QPIKSolver, chains=chains), targets, READY, 400)
    for joints in path[::5]:
        here = oracle.poses(joints)["left_arm"].position
        assert np.linalg.norm(here - targets["left_arm"].position) < 0.005
    here = oracle.poses(path[-1])["left_arm"].position
    assert np.linalg.norm(here - targets["left_arm"].position) < 1e-3


@pytest.mark.parametrize("offset", [(0.0, 0.0, -0.15), (0.0, 0.0, 0.15), (0.25, -0.05, 0.2)])
def test_straight_arms_cause_no_high_velocities(oracle: Oracle, offset: tuple[float, ...]) -> None:
    straight = np.zeros(20)
    targets = oracle.poses(straight)
    for name in ("right_arm", "left_arm"):
        mirrored = (offset[0], offset[1] if name == "right_arm" else -offset[1], offset[2])
        targets[name] = shifted(targets[name], *mirrored)
    result, path = settle(create(QPIKSolver), targets, straight, 500)
    assert np.abs(np.diff(path[-40:], axis=0)).max() / DT < 0.05
    assert result.error_position < np.linalg.norm(offset)


def test_chains_that_are_not_named_keep_their_pose(oracle: Oracle) -> None:
    start = oracle.poses(READY)
    target = shifted(start["right_arm"], 0.0, 0.05, 0.12)
    _, path = settle(create(QPIKSolver), {"right_arm": target}, READY, 150)
    end = oracle.poses(path[-1])
    assert np.linalg.norm(end["right_arm"].position - target.position) < 1e-3
    for name in ("left_arm", "torso"):
        assert np.linalg.norm(end[name].position - start[name].position) < 1e-3


def test_solve_moves_the_first_chain(oracle: Oracle) -> None:
    target = shifted(oracle.poses(READY)["right_arm"], 0.05, 0.0, 0.0)
    solver, joints = create(QPIKSolver), READY
    for _ in range(100):
        joints = solver.solve(target, joints, DT).joint_positions
    assert np.linalg.norm(oracle.poses(joints)["right_arm"].position - target.position) < 1e-3


def test_the_posture_is_approached_in_the_null_space_of_the_targets(oracle: Oracle) -> None:
    targets, preferred = oracle.poses(READY), READY.copy()
    preferred[6:13] += 0.3
    plain, changed = create(QPIKSolver), create(QPIKSolver)
    changed.set_posture_target(preferred)
    _, path = settle(plain, targets, READY, 300)
    result, changed_path = settle(changed, targets, READY, 300)
    assert result.success
    assert result.error_position < 1e-3
    assert (
        np.linalg.norm(changed_path[-1] - preferred) < np.linalg.norm(path[-1] - preferred) - 0.03
    )


def test_the_same_rotation_with_the_other_sign_gives_the_same_result(oracle: Oracle) -> None:
    targets = smooth_targets(oracle, 5)[-1]
    flipped = {name: Pose6D(pose.position, -pose.orientation) for name, pose in targets.items()}
    one = create(QPIKSolver).solve_multi(targets, READY, DT)
    other = create(QPIKSolver).solve_multi(flipped, READY, DT)
    np.testing.assert_array_equal(one.joint_positions, other.joint_positions)


@pytest.mark.parametrize("solver_class", ALL)
def test_joints_are_matched_by_name_and_not_by_order(
    oracle: Oracle, solver_class: type[IIKSolver]
) -> None:
    order = np.random.default_rng(8).permutation(20)
    names = tuple(JOINTS[index] for index in order)
    plain, shuffled = create(solver_class), create(solver_class, joint_names=names)
    assert shuffled.get_joint_names() == list(names)
    joints, other = READY, READY[order]
    for target in smooth_targets(oracle, 20):
        joints = plain.solve_multi(target, joints, DT).joint_positions
        other = shuffled.solve_multi(target, other, DT).joint_positions
        np.testing.assert_allclose(other, joints[order], atol=1e-9)


def test_two_runs_give_the_same_bits(oracle: Oracle) -> None:
    runs = []
    for _ in range(2):
        solver, joints = create(QPIKSolver), READY
        for target in smooth_targets(oracle, 50, reach=0.5):
            joints = solver.solve_multi(target, joints, DT).joint_positions
        runs.append(joints)
    np.testing.assert_array_equal(*runs)
