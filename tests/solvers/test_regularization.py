# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import Pose6D
from teleop_system.solvers import ChainConfig
from teleop_system.solvers.ik_kernels import regularize
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import SolverOptions
from teleop_system.solvers.qp_ik_solver import QPIKSolver
from teleop_system.solvers.regularization import motion_prices
from tests.solvers.rby1 import ACCELERATION, DT, FRAMES, READY, Oracle, create

CALM = {"damping": 5e-3, "inertia": 2e-2, "acceleration_share": 0.7}
HANDS_FIRST = {
    name: ChainConfig(frame, 0.5, 0.3) if name == "torso" else ChainConfig(frame)
    for name, frame in FRAMES.items()
}


def limits(acceleration: float = 10.0) -> JointLimitArrays:
    ones = np.ones(2)
    return JointLimitArrays(-ones, ones, ones, acceleration * ones)


def terms(joints: list[float], last: list[float], **options: float) -> tuple[list, list]:
    quiet = {"damping": 0.0, "posture_weight": 0.0, **options}
    return regularized(joints, last, limits(), SolverOptions(**quiet))


def regularized(
    joints: list[float], last: list[float], limits: JointLimitArrays, options: SolverOptions
) -> tuple[list, list]:
    """Return the prices and the pull of two joints with preferred positions of zero."""
    hessian, pull = np.empty((2, 2)), np.empty(2)
    prices = motion_prices(limits, options, DT)
    regularize(np.array(joints), np.array(last), np.zeros(2), prices, hessian, pull)
    assert hessian[0, 1] == hessian[1, 0] == 0.0
    return np.diag(hessian).tolist(), pull.tolist()


def test_the_inertia_term_favours_the_last_step() -> None:
    prices, pull = terms([0.0, 0.0], [0.01, -0.02], inertia=0.5)
    assert prices == [0.5, 0.5]
    np.testing.assert_allclose(pull, [0.005, -0.01])


def test_joints_with_low_acceleration_limits_have_a_higher_cost() -> None:
    options = SolverOptions(inertia=0.5, damping=0.0)
    prices, _ = regularized([0.0, 0.0], [0.0, 0.0], limits(5.0), options)
    np.testing.assert_allclose(prices, 2.0, atol=1e-4)


def test_limits_repel_within_their_margin_only() -> None:
    prices, pull = terms([0.85, -0.95], [0.0, 0.0], limit_weight=1.0, limit_margin=0.2)
    np.testing.assert_allclose(pull, [-0.05 * 2.0 * DT, 0.15 * 2.0 * DT])
    np.testing.assert_allclose(prices, [0.25, 0.75])
    assert terms([0.7, -0.7], [0.0, 0.0], limit_weight=1.0) == ([0.0, 0.0], [0.0, 0.0])


def quickest(oracle: Oracle, **options: object) -> float:
    """Return the largest acceleration while a hand moves along its stretched arm."""
    solver, joints, path = create(QPIKSolver, chains=HANDS_FIRST, **options), READY, [READY]
    start = oracle.poses(READY)
    for tick in range(200):
        ahead = 0.2 * (1.0 - np.cos(np.pi * tick * DT))
        position = start["right_arm"].position + np.array([ahead, 0.0, 0.0])
        target = {**start, "right_arm": Pose6D(position, start["right_arm"].orientation)}
        joints = solver.solve_multi(target, joints, DT).joint_positions
        path.append(joints)
    return float((np.abs(np.diff(path, 2, axis=0)) / DT**2 / ACCELERATION).max())


def test_a_stretched_arm_moves_without_high_accelerations(oracle: Oracle) -> None:
    assert quickest(oracle) > 0.95, "the motion was too easy"
    assert quickest(oracle, **CALM) <= 0.7 + 1e-6


@pytest.mark.parametrize("share", [0.0, 1.1, -0.5])
def test_a_share_of_the_acceleration_limits_is_respected(share: float) -> None:
    with pytest.raises(ConfigError, match="acceleration_share"):
        SolverOptions(acceleration_share=share)
