# SPDX-License-Identifier: Apache-2.0
"""Targets given as numbers lead where the same targets given as poses do."""

from typing import Any

import numpy as np
import pytest

from teleop_system.exceptions import InvalidPoseError, UnknownNameError
from teleop_system.interfaces import Pose6D
from teleop_system.solvers.dls_solver import DLSSolver
from teleop_system.solvers.pink_ik_solver import PinkIKSolver
from teleop_system.solvers.proportional_mapper import ProportionalMapper
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from tests.solvers.rby1 import DT, READY, Oracle, create, smooth_targets

every_solver = pytest.mark.parametrize(
    "solver_class", [QPIKSolver, PinkIKSolver, DLSSolver, ProportionalMapper]
)
UP = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def rows(targets: dict[str, Pose6D]) -> np.ndarray[Any, Any]:
    return np.array([[*pose.position, *pose.orientation] for pose in targets.values()])


@every_solver
def test_rows_and_poses_lead_to_the_same(solver_class: type[Any], oracle: Oracle) -> None:
    one, other = create(solver_class), create(solver_class)
    joints = again = READY
    course = smooth_targets(oracle, 60)
    every = tuple(course[0])
    for tick, targets in enumerate(course):
        # A chain that has no target for a while keeps its place, in any order of the others.
        chains = every if tick % 20 < 12 else (every[2], every[0])
        some = {name: targets[name] for name in chains}
        joints = one.solve_multi(some, joints, DT).joint_positions
        again = other.solve_rows(chains, rows(some), again, DT)[0]
        np.testing.assert_array_equal(joints, again)


def test_both_ways_may_take_turns(oracle: Oracle) -> None:
    one, other = create(QPIKSolver), create(QPIKSolver)
    joints = again = READY
    for tick, targets in enumerate(smooth_targets(oracle, 40)):
        joints = one.solve_multi(targets, joints, DT).joint_positions
        if tick % 3:
            again = other.solve_rows(tuple(targets), rows(targets), again, DT)[0]
        else:
            again = other.solve_multi(targets, again, DT).joint_positions
        np.testing.assert_array_equal(joints, again)


@every_solver
def test_a_chain_that_nobody_knows_is_refused(solver_class: type[Any]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'left_arm'"):
        create(solver_class).solve_rows(("left_ram",), np.array([UP]), READY, DT)


@every_solver
@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        (0, np.nan, "finite position"),
        (1, np.inf, "finite position"),
        (2, -np.inf, "finite position"),
        (6, 0.5, r"unit quaternion, got one of length 0\.5"),
        (4, np.nan, "unit quaternion"),
    ],
)
def test_numbers_that_are_no_pose_are_refused(
    solver_class: type[Any], column: int, value: float, why: str
) -> None:
    solver, bad = create(solver_class), np.array([UP, UP])
    bad[1, column] = value
    with pytest.raises(InvalidPoseError, match=f"target of 'right_arm' needs a {why}"):
        solver.solve_rows(("left_arm", "right_arm"), bad, READY, DT)
    joints = solver.solve_rows(("left_arm",), np.array([UP]), READY, DT)[0]
    assert np.isfinite(joints).all()


@pytest.mark.parametrize("targets", [[UP], [UP, UP, UP], [UP[:6], UP[:6]]])
def test_rows_of_another_shape_are_refused(targets: list[list[float]]) -> None:
    with pytest.raises(InvalidPoseError, match=r"shape \(2, 7\), got \("):
        create(QPIKSolver).solve_rows(("left_arm", "right_arm"), np.array(targets), READY, DT)


def test_rows_may_be_of_any_kind_that_holds_the_numbers() -> None:
    wanted = create(QPIKSolver).solve_rows(("left_arm",), np.array([UP]), READY, DT)
    read_only = np.array([UP])
    read_only.setflags(write=False)
    strided = np.array([UP, UP]).T[:, :1].T
    for rows in ([UP], np.array([UP], dtype=np.float32), read_only, strided):
        found = create(QPIKSolver).solve_rows(("left_arm",), rows, READY, DT)
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1:] == wanted[1:]


def test_without_any_rows_all_chains_keep_their_place() -> None:
    joints = create(QPIKSolver).solve_rows((), np.empty((0, 7)), READY, DT)[0]
    np.testing.assert_allclose(joints, READY, atol=1e-3)
