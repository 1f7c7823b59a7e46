# SPDX-License-Identifier: Apache-2.0
"""Suite for inverse-kinematics solvers."""

import abc

import numpy as np
import pytest
from numpy.typing import NDArray

from teleop_system.exceptions import (
    InvalidJointStateError,
    InvalidPoseError,
    ModelError,
    UnknownNameError,
)
from teleop_system.interfaces import IIKSolver, Pose6D

DT = 0.01
IDENTITY = (0.0, 0.0, 0.0, 1.0)
FAR_AWAY = Pose6D(np.array([50.0, -50.0, 50.0]), np.array(IDENTITY))


class IKSolverSuite(abc.ABC):
    """Promises of every `IIKSolver`."""

    @abc.abstractmethod
    def create(self) -> IIKSolver:
        """Return a new solver that is initialised with at least one chain."""

    @abc.abstractmethod
    def chain(self) -> str:
        """Return the name of a chain of the solver."""

    @abc.abstractmethod
    def start(self) -> NDArray[np.float64]:
        """Return joint positions [rad] within the limits, in the order of the solver."""

    @abc.abstractmethod
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return lower and upper positions [rad] and velocity limits [rad/s], in its order."""

    def test_names_count_and_results_agree(self) -> None:
        """One joint position per name, and no name twice."""
        solver = self.create()
        names = solver.get_joint_names()
        assert len(set(names)) == len(names) == solver.get_joint_count()
        result = solver.solve_multi({self.chain(): FAR_AWAY}, self.start(), DT)
        assert result.joint_positions.shape == (len(names),)

    def test_a_missing_model_is_named(self) -> None:
        """The message names the missing file."""
        solver = type(self.create())()
        with pytest.raises(ModelError, match="no_such_model"):
            solver.initialize("no_such_model.urdf")

    def test_an_unreachable_target_gives_a_feasible_step_without_success(self) -> None:
        """No exception, no jump, no success."""
        solver, joints = self.create(), self.start()
        lower, upper, speed = self.limits()
        for _ in range(100):
            result = solver.solve_multi({self.chain(): FAR_AWAY}, joints, DT)
            assert result.success is False
            assert result.error_position > 1.0
            step = np.abs(result.joint_positions - joints)
            assert (step <= speed * DT * (1 + 1e-6) + 1e-12).all()
            joints = result.joint_positions
            assert (joints >= lower - 1e-9).all()
            assert (joints <= upper + 1e-9).all()

    def test_solve_is_solve_multi_of_the_first_chain(self) -> None:
        """The short form takes a target and no chain name."""
        joints = self.start()
        one = self.create().solve(FAR_AWAY, joints, DT)
        assert one.joint_positions.shape == joints.shape
        assert one.success is False

    def test_no_targets_leaves_the_posture_to_the_solver_without_a_jump(self) -> None:
        """No target is not an error."""
        joints = self.start()
        result = self.create().solve_multi({}, joints, DT)
        _, _, speed = self.limits()
        assert (np.abs(result.joint_positions - joints) <= speed * DT + 1e-12).all()

    def test_an_unknown_chain_is_named_with_the_valid_ones(self) -> None:
        """A wrong name is an error."""
        with pytest.raises(UnknownNameError, match=self.chain()):
            self.create().solve_multi({"no_such_chain": FAR_AWAY}, self.start(), DT)

    def test_an_invalid_target_is_refused(self) -> None:
        """A lost tracker must not become a command."""
        with pytest.raises(InvalidPoseError):
            self.create().solve_multi({self.chain(): Pose6D.lost()}, self.start(), DT)

    def test_a_target_without_an_orientation_is_refused(self) -> None:
        """The zero quaternion is not a rotation."""
        flat = Pose6D(np.zeros(3), np.zeros(4))
        with pytest.raises(InvalidPoseError):
            self.create().solve_multi({self.chain(): flat}, self.start(), DT)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_joints_that_are_not_finite_are_refused(self, bad: float) -> None:
        """A broken encoder must not become a command."""
        joints = self.start().copy()
        joints[0] = bad
        with pytest.raises(InvalidJointStateError):
            self.create().solve_multi({self.chain(): FAR_AWAY}, joints, DT)

    def test_joints_of_another_length_are_refused(self) -> None:
        """The number of joints must match."""
        with pytest.raises(InvalidJointStateError):
            self.create().solve_multi({self.chain(): FAR_AWAY}, self.start()[:-1], DT)

    def test_a_posture_of_another_length_is_refused(self) -> None:
        """The number of joints must match."""
        with pytest.raises(InvalidJointStateError):
            self.create().set_posture_target(self.start()[:-1])
