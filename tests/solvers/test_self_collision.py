# SPDX-License-Identifier: Apache-2.0
"""Links of the robot do not touch: coal checks it on shapes that the test loads itself."""

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.interfaces import Pose6D
from teleop_system.solvers.motion_bounds import BrakingState
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from teleop_system.solvers.self_collision import SelfCollision
from tests.solvers.rby1 import DT, FULL, LOWER, READY, UPPER, Oracle, create, hostile_targets

STOP, SLOW = 0.010, 0.050
DOWN = np.array([0.0, 0.0, 0.0, 1.0])


def nearest(oracle: Oracle, targets: list[dict[str, Pose6D]], **options: object) -> float:
    """Return the smallest distance during a run [m]."""
    solver, joints, least = create(QPIKSolver, **options), READY, np.inf
    for target in targets:
        joints = solver.solve_multi(target, joints, DT).joint_positions
        least = min(least, oracle.distance(joints))
    return float(least)


def into_torso() -> list[dict[str, Pose6D]]:
    return [{"right_arm": Pose6D(np.array([0.0, 0.0, 1.05]), DOWN)}] * 250


def into_each_other() -> list[dict[str, Pose6D]]:
    return [
        {
            "right_arm": Pose6D(np.array([0.4, 0.1, 1.0]), DOWN),
            "left_arm": Pose6D(np.array([0.4, -0.1, 1.0]), DOWN),
        }
    ] * 250


@pytest.mark.parametrize("targets", [into_torso(), into_each_other()], ids=["torso", "hands"])
def test_hands_stop_before_they_touch(oracle: Oracle, targets: list[dict[str, Pose6D]]) -> None:
    assert nearest(oracle, targets, collision_pairs=()) < 0.0, "no links came near each other"
    assert STOP <= nearest(oracle, targets) < SLOW


@pytest.mark.parametrize("seed", [11, 12])
def test_hostile_targets_do_not_bring_links_together(oracle: Oracle, seed: int) -> None:
    targets = hostile_targets(oracle, 10_000 if FULL else 500, seed=seed)
    assert nearest(oracle, targets) >= STOP


def test_retreat_is_always_possible(oracle: Oracle) -> None:
    solver, joints = create(QPIKSolver), READY
    for target in into_torso():
        joints = solver.solve_multi(target, joints, DT).joint_positions
    at_body = oracle.distance(joints)
    for _ in range(200):
        result = solver.solve_multi(oracle.poses(READY), joints, DT)
        joints = result.joint_positions
    assert at_body < SLOW
    assert result.error_position < 1e-3


def test_links_that_start_too_near_move_apart(oracle: Oracle) -> None:
    start = np.zeros(20)  # At zero the hands hang 30 mm beside the legs.
    solver = create(QPIKSolver, collision_stop=0.035, collision_slow=0.06)
    before, joints = oracle.distance(start), start
    for _ in range(100):
        joints = solver.solve_multi({}, joints, DT).joint_positions
        assert oracle.distance(joints) >= before - 1e-6
    assert oracle.distance(joints) >= 0.034


def test_gradients_of_distances_match_finite_differences() -> None:
    solver = create(QPIKSolver)
    solver.solve_multi({}, READY, DT)
    kinematics, random = solver._kinematics, np.random.default_rng(0)
    pairs = list(create(QPIKSolver)._options.collision_pairs)
    collision = SelfCollision(kinematics, pairs, stop=STOP, slow=10.0, speed=0.5)
    still = np.zeros(20)
    collision.set_period(DT, np.full(20, 1e-3))
    for _ in range(20):
        joints = random.uniform(np.maximum(LOWER, -1.5), np.minimum(UPPER, 1.5))
        state = BrakingState(joints=joints, step=still, rest=joints)
        collision.start(state)
        collision.add_rows(state, still)
        distances = collision._distances.measure_all
        measured = distances(joints)
        # At rest the five moments are one; a step changes the resting position by 1 at the first.
        rows = collision.rows[: collision.count]
        for joint in random.choice(20, 4, replace=False):
            nudge = 1e-6 * np.eye(20)[joint]
            slope = (distances(joints + nudge) - distances(joints - nudge)) / 2e-6
            smooth = np.abs(measured) > 1e-3
            np.testing.assert_allclose(rows[smooth, joint], slope[smooth], atol=2e-4)


def test_bounds_on_unmeasured_pairs_are_never_too_high(oracle: Oracle) -> None:
    solver, joints = create(QPIKSolver), READY
    for target in hostile_targets(oracle, 150, seed=13):
        joints = solver.solve_multi(target, joints, DT).joint_positions
        closest, rest = solver._collision._closest, solver._rest
        travel = closest._travel["total"] + np.abs(rest - closest._travel["rest"])
        bounds = closest._bounds["horizon"] - travel @ closest._reach
        # coal's iterative distances are good to about 1e-6 m.
        assert (bounds <= closest.distances.measure_all(rest) + 1e-5).all()


def test_an_unknown_link_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="link_torso_5"):
        create(QPIKSolver, collision_pairs=[("link_torso_55", "ee_left")])


def test_a_link_cannot_be_paired_with_itself() -> None:
    with pytest.raises(ConfigError, match="itself"):
        create(QPIKSolver, collision_pairs=[("ee_left", "ee_left")])
