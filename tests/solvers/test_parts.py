# SPDX-License-Identifier: Apache-2.0
"""The parts of the solvers one by one: bounds, tasks, quadratic programs, factory."""

import dataclasses
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots import load_robot
from teleop_system.solvers import ChainConfig, chain_kernels, make_solver
from teleop_system.solvers.chain_task import ChainTask
from teleop_system.solvers.ik_kernels import is_within_limits
from teleop_system.solvers.kinematics_kernels import POSE
from teleop_system.solvers.motion_bounds import JointLimitArrays, MotionBounds
from teleop_system.solvers.qp_backend import BACKENDS, installed_backends

Array = NDArray[np.float64]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    room=st.floats(1e-3, 2.0),
    acceleration=st.floats(0.5, 50.0),
    speed=st.floats(0.1, 10.0),
)
def test_a_joint_within_the_bounds_can_always_brake(
    seed: int, room: float, acceleration: float, speed: float
) -> None:
    random = np.random.default_rng(seed)
    limits = JointLimitArrays(*(np.full(1, value) for value in (-room, room, speed, acceleration)))
    bounds = MotionBounds(limits, return_speed=0.1)
    position, last, dt = np.zeros(1), np.zeros(1), 0.01
    bounds.set_period(dt)
    for _ in range(200):
        if random.random() < 0.1:
            new = float(random.choice([0.001, 0.01, 0.05]))
            last, dt = last * new / dt, new
            bounds.set_period(dt)
        bounds.update(position, last)
        assert (bounds.lower <= bounds.upper + 1e-12).all()
        braking = bounds.braking_step(last)
        assert (bounds.lower - 1e-12 <= braking).all()
        assert (braking <= bounds.upper + 1e-12).all()
        last = (bounds.lower, bounds.upper, braking)[random.integers(3)].copy()
        position = position + last
        assert abs(position[0]) <= room + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_the_check_of_an_unconstrained_step_agrees_with_the_bounds(seed: int) -> None:
    random = np.random.default_rng(seed)
    limits = JointLimitArrays(np.full(8, -0.3), np.full(8, 0.3), np.full(8, 1.0), np.full(8, 10.0))
    bounds = MotionBounds(limits, return_speed=0.1)
    bounds.set_period(0.01)
    agreed = 0
    for _ in range(400):
        position, last = random.uniform(-0.25, 0.25, 8), random.uniform(-4e-3, 4e-3, 8)
        step = last + random.uniform(-1.01e-3, 1.01e-3, 8)
        bounds.update(position, last)
        is_within = bool(((step >= bounds.lower) & (step <= bounds.upper)).all())
        left = np.maximum(np.abs(step) - bounds.change, 0.0)
        rest = position + step + np.sign(step) * (left + left**2 / (2.0 * bounds.change))
        is_allowed = is_within_limits(step, last, rest, bounds.limits)
        assert is_within or not is_allowed
        agreed += is_within and is_allowed
    assert agreed > 10


FIRST = np.zeros(1, dtype=np.int64)
"""Index of the one chain."""


def task_at(position: Array, rotation: Rotation) -> tuple[ChainTask, Any]:
    """Return a task and its record, in an array of one."""
    chains = np.zeros(1, dtype=chain_kernels.CHAIN)
    task = ChainTask("arm", ChainConfig("hand"), 2.0, chains[0])
    task.set_period(0.01)
    chain_kernels.observe(chains, frames_at(position, rotation))
    return task, chains


def frames_at(position: Array, rotation: Rotation) -> Any:
    frames = np.zeros(1, dtype=POSE)
    frames["position"], frames["orientation"] = position, rotation.as_quat()
    return frames


def plan(chains: Any, *target: float) -> None:
    """Plan the first tick towards a target."""
    targets, work = np.array([target]), np.zeros((3, 6))
    refused = chain_kernels.plan(chains, targets, FIRST, True, work)
    assert refused == chain_kernels.ACCEPTED


@pytest.mark.parametrize("seed", range(30))
def test_errors_of_a_task_agree_with_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    here, there = Rotation.random(2, random_state=seed)
    position, target = random.normal(size=(2, 3))
    task, chains = task_at(position, here)
    plan(chains, *target, *there.as_quat())
    distance, angle = chain_kernels.measure(chains, frames_at(position, here), FIRST)
    assert distance == pytest.approx(np.linalg.norm(target - position))
    assert angle == pytest.approx((there * here.inv()).magnitude(), abs=1e-9)
    error = task.target_from((tuple(position.tolist()), tuple(here.as_quat().tolist())))
    np.testing.assert_allclose(error[3:], (there * here.inv()).as_rotvec(), atol=1e-9)


def test_a_small_error_is_corrected_at_once_and_a_large_one_gradually() -> None:
    task, chains = task_at(np.zeros(3), Rotation.identity())
    steps = []
    for distance in (1e-6, 0.01, 1.0):
        plan(chains, distance, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        steps.append(task.step[0])
    assert steps[0] == pytest.approx(1e-6, rel=0.01)
    assert 0.0 < steps[1] < 0.01
    assert steps[2] == pytest.approx(1.5 * 0.01)


def test_a_far_target_has_a_smaller_weight_than_a_near_one() -> None:
    task, chains = task_at(np.zeros(3), Rotation.identity())
    shares = []
    for distance in (0.05, 0.5, 100.0):
        plan(chains, distance, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        shares.append(task.share)
    assert shares == pytest.approx([1.0, 0.2, 1e-3], rel=0.05)


def problem(seed: int, rows: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    factor = random.normal(size=(9, 8))
    hessian = factor.T @ factor + 0.1 * np.eye(8)
    matrix = random.normal(size=(rows, 8))
    bounds = np.full(8, -0.2), np.full(8, 0.3)
    return hessian, random.normal(size=8), bounds, matrix, np.full(rows, -0.05)


@pytest.mark.parametrize("name", list(BACKENDS))
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_back_ends_find_the_minimum(name: str, rows: int) -> None:
    backend = BACKENDS[name][1](8)
    for seed in range(20):
        hessian, gradient, (lower, upper), matrix, low = problem(seed, rows)
        solution = backend.solve(hessian, gradient, (lower, upper), matrix, low)
        assert solution is not None
        assert ((solution >= lower - 1e-6) & (solution <= upper + 1e-6)).all()
        assert (matrix @ solution >= low - 1e-6).all()
        slope = hessian @ solution + gradient
        random = np.random.default_rng(seed)
        for _ in range(50):  # No feasible direction reduces the cost.
            other = np.clip(solution + 0.1 * random.normal(size=8), lower, upper)
            if (matrix @ other >= low).all():
                assert slope @ (other - solution) >= -1e-5


@pytest.mark.parametrize("name", list(BACKENDS))
def test_bounds_take_precedence_over_rows(name: str) -> None:
    bounds = np.full(8, -0.1), np.full(8, 0.1)
    rows = np.ones((1, 8))
    solution = BACKENDS[name][1](8).solve(np.eye(8), np.ones(8), bounds, rows, np.array([5.0]))
    np.testing.assert_allclose(solution, 0.1, atol=1e-4)


def test_daqp_is_preferred() -> None:
    assert installed_backends()[0] == "daqp"


@pytest.mark.parametrize("name", ["qp", "pink", "dls", "proportional"])
def test_a_robot_gets_a_solver_by_name(name: str) -> None:
    robot = load_robot("rby1")
    solver = make_solver(robot, name)
    names = solver.get_joint_names()
    assert len(names) == 20
    joints = np.array([robot.pose("ready")[joint] for joint in names])
    assert solver.solve_multi({}, joints).success


def test_a_robot_without_a_urdf_is_solved_from_its_mjcf() -> None:
    robot = load_robot("rby1")
    solver = make_solver(dataclasses.replace(robot, urdf=None))
    assert solver.get_joint_names() == make_solver(robot).get_joint_names()


def test_options_take_precedence_over_the_description() -> None:
    solver = make_solver(load_robot("rby1"), joint_names=("torso_5",))
    assert solver.get_joint_names() == ["torso_5"]


def test_an_unknown_solver_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="proportional"):
        make_solver(load_robot("rby1"), "newton")


def test_importing_the_package_loads_no_library_of_kinematics() -> None:
    code = (
        "import sys, teleop_system.solvers, teleop_system.solvers.qp_ik_solver, "
        "teleop_system.solvers.pink_ik_solver, teleop_system.solvers.dls_solver; "
        "bad = {'pinocchio', 'pink', 'daqp', 'proxsuite', 'qpsolvers'} & set(sys.modules); "
        "sys.exit(bool(bad))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
