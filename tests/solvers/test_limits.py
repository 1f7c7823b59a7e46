# SPDX-License-Identifier: Apache-2.0
"""Position, velocity and acceleration limits, checked on the results alone.

`TELEOP_FULL=1 pytest tests/solvers/test_limits.py` runs 10,000 ticks of either kind.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from teleop_system.interfaces import IIKSolver, Pose6D
from teleop_system.solvers.dls_solver import DLSSolver
from teleop_system.solvers.pink_ik_solver import PinkIKSolver
from teleop_system.solvers.proportional_mapper import ProportionalMapper
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from tests.solvers.rby1 import (
    ACCELERATION,
    DT,
    FULL,
    LOWER,
    READY,
    SPEED,
    UPPER,
    Oracle,
    create,
    hostile_targets,
    smooth_targets,
)

Array = NDArray[np.float64]
TICKS = 10_000 if FULL else 1200
FEW_TICKS = 2_000 if FULL else 150

# The data sheet gives nine digits; positions round at 1e-16, which differences over 10 ms magnify.
POSITION_ROUNDING, SPEED_ROUNDING, ACCELERATION_ROUNDING = 1e-9, 1e-10, 1e-8


def drive(solver: IIKSolver, targets: list[dict[str, Pose6D]], joints: Array = READY) -> Array:
    """Return the joints of every tick, beginning with the start."""
    path = [joints]
    for target in targets:
        path.append(solver.solve_multi(target, path[-1], DT).joint_positions)
    return np.array(path)


def count_violations(path: Array) -> dict[str, int]:
    """Return how many samples of a path from rest violate each limit."""
    speed = np.diff(path, axis=0) / DT
    acceleration = np.diff(speed, axis=0, prepend=np.zeros((1, path.shape[1]))) / DT
    return {
        "finite": int((~np.isfinite(path)).sum()),
        "position": int((_excess(path) > POSITION_ROUNDING).sum()),
        "speed": int((np.abs(speed) > SPEED + SPEED_ROUNDING).sum()),
        "acceleration": int((np.abs(acceleration) > ACCELERATION + ACCELERATION_ROUNDING).sum()),
    }


def _excess(path: Array) -> Array:
    return np.maximum(path - UPPER, LOWER - path)


NONE = {"finite": 0, "position": 0, "speed": 0, "acceleration": 0}


def test_the_oracle_detects_violations() -> None:
    path = np.tile(READY, (4, 1))
    path[2, 8] = UPPER[8] + 0.1
    assert all(count_violations(path)[key] for key in ("position", "speed", "acceleration"))


def test_smooth_targets_keep_all_limits(oracle: Oracle) -> None:
    path = drive(create(QPIKSolver), smooth_targets(oracle, TICKS, reach=0.5))
    assert count_violations(path) == NONE
    assert np.abs(np.diff(path, axis=0)).max() > 1e-3


@pytest.mark.parametrize("seed", [1, 2])
def test_hostile_targets_keep_all_limits(oracle: Oracle, seed: int) -> None:
    path = drive(create(QPIKSolver), hostile_targets(oracle, TICKS, seed=seed))
    assert count_violations(path) == NONE
    reached = np.abs(np.diff(path, axis=0)).max(axis=0) / DT / SPEED
    assert (reached > 0.3).sum() > 10, "the targets are too easy for this test"


@pytest.mark.parametrize("solver_class", [DLSSolver, PinkIKSolver, ProportionalMapper])
def test_every_solver_keeps_all_limits(oracle: Oracle, solver_class: type[IIKSolver]) -> None:
    path = drive(create(solver_class), hostile_targets(oracle, FEW_TICKS, seed=3))
    assert count_violations(path) == NONE


def test_limits_hold_with_proxqp(oracle: Oracle) -> None:
    path = drive(create(QPIKSolver, backend="proxqp"), hostile_targets(oracle, FEW_TICKS, seed=4))
    assert count_violations(path) == NONE


def test_limits_hold_while_the_period_varies(oracle: Oracle) -> None:
    solver, random = create(QPIKSolver), np.random.default_rng(5)
    joints, speed = READY, np.zeros(20)
    for target in hostile_targets(oracle, 400, seed=5):
        dt = float(random.choice([0.002, 0.01, 0.02]))
        result = solver.solve_multi(target, joints, dt).joint_positions
        new = (result - joints) / dt
        assert (np.abs(new) <= SPEED + SPEED_ROUNDING).all()
        assert (np.abs(new - speed) / dt <= ACCELERATION + ACCELERATION_ROUNDING).all()
        assert ((result >= LOWER - 1e-9) & (result <= UPPER + 1e-9)).all()
        joints, speed = result, new


def test_limits_hold_although_measured_joints_lag_and_are_noisy(oracle: Oracle) -> None:
    solver, random = create(QPIKSolver), np.random.default_rng(6)
    path = [READY]
    for target in hostile_targets(oracle, 300, seed=6):
        noise = random.normal(size=20) * 1e-3 if len(path) > 1 else 0.0
        measured = path[-2:][0] + noise
        path.append(solver.solve_multi(target, measured, DT).joint_positions)
    assert count_violations(np.array(path)) == NONE


@pytest.mark.parametrize("solver_class", [QPIKSolver, DLSSolver, PinkIKSolver, ProportionalMapper])
def test_start_outside_limits_returns_slowly(
    oracle: Oracle, solver_class: type[IIKSolver]
) -> None:
    start = READY.copy()
    start[9], start[1] = UPPER[9] + 0.05, LOWER[1] - 0.05
    path = drive(create(solver_class), [oracle.poses(READY)] * 120, start)
    counts = count_violations(path)
    assert counts["speed"] == counts["acceleration"] == 0
    assert ((path[-1] >= LOWER) & (path[-1] <= UPPER)).all()
    outside = np.maximum(_excess(path), 0.0).max(axis=1)
    assert (np.diff(outside) <= 1e-12).all(), "a joint moved further out of its limits"


def test_tighter_limits_of_the_options_hold(oracle: Oracle) -> None:
    solver = create(
        QPIKSolver,
        position_limits={"right_arm_3": (-2.2, -1.9)},
        velocity_limits={"right_arm_0": 0.3},
        acceleration_limits=2.0,
    )
    path = drive(solver, hostile_targets(oracle, 300, seed=7))
    speed = np.diff(path, axis=0) / DT
    assert ((path[:, 9] >= -2.2 - 1e-9) & (path[:, 9] <= -1.9 + 1e-9)).all()
    assert np.abs(speed[:, 6]).max() <= 0.3 + SPEED_ROUNDING
    assert np.abs(np.diff(speed, axis=0)).max() / DT <= 2.0 + ACCELERATION_ROUNDING


def test_a_failing_back_end_makes_the_robot_brake(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, path = create(QPIKSolver), [READY]
    targets = hostile_targets(oracle, 200, seed=1)
    for tick, target in enumerate(targets):
        if tick == 100:
            monkeypatch.setattr(solver._backend, "solve", lambda *problem: None)
            monkeypatch.setattr(solver, "_free_step", lambda: None)
        result = solver.solve_multi(target, path[-1], DT)
        assert result.success is False or tick < 100
        path.append(result.joint_positions)
    assert count_violations(np.array(path)) == NONE
    np.testing.assert_allclose(path[-1], path[-2], atol=1e-12)
