# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: from target poses to joint positions, one control tick at a time."""

import abc
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces._checks import frozen_array
from teleop_system.interfaces.master_device import Pose6D


@dataclass(frozen=True, slots=True, eq=False)  # Arrays have no single truth value.
class IKResult:
    """The joint positions of one tick, and how far they leave the robot from its targets.

    Attributes:
        joint_positions: Positions to command in [rad], shape (N,), solver order, read-only.
        success: True if both errors are within the solver's tolerances.
        error_position: Largest remaining distance of a chain from its target in [m].
        error_orientation: Largest remaining angle of a chain from its target in [rad].
    """

    joint_positions: NDArray[np.float64]
    success: bool
    error_position: float
    error_orientation: float

    def __post_init__(self) -> None:
        positions = frozen_array(
            self.joint_positions, "joint_positions", (None,), InvalidJointStateError
        )
        object.__setattr__(self, "joint_positions", positions)

    @classmethod
    def unchecked(
        cls,
        joint_positions: NDArray[np.float64],
        success: bool,
        error_position: float,
        error_orientation: float,
    ) -> "IKResult":
        """Return a result of values known to be valid; checks cost a tenth of a tick."""
        result = object.__new__(cls)
        _set_positions(result, joint_positions)
        _set_success(result, success)
        _set_error_position(result, error_position)
        _set_error_orientation(result, error_orientation)
        return result


# The slots themselves: `object.__setattr__` would look each of them up by name.
_set_positions, _set_success, _set_error_position, _set_error_orientation = (
    vars(IKResult)[name].__set__ for name in IKResult.__slots__
)


class IIKSolver(abc.ABC):
    """Moves the joints towards target poses, within the robot's limits, tick by tick.

    A tick never raises for a target that is far, singular or out of reach: it returns the best
    feasible step with `success` False. Joint vectors follow `get_joint_names()`.

    A solver that remembers earlier ticks overrides `reset()` and `shift()`; one that computes
    everything from `current_joints` does not.
    """

    @abc.abstractmethod
    def initialize(self, urdf_path: str, **kwargs: Any) -> bool:
        """Load the model; False, with the reason logged, if a library is not installed.

        Raises:
            ModelError: The file is missing or broken.
            UnknownNameError: A chain, frame or joint of `kwargs` is not in the model.
        """

    @abc.abstractmethod
    def solve(
        self, target_pose: Pose6D, current_joints: NDArray[np.float64], dt: float = 0.01
    ) -> IKResult:
        """Take one tick of `dt` [s] with the first chain towards its target.

        Raises:
            InvalidPoseError: The target is marked invalid or has no orientation.
            InvalidJointStateError: `current_joints` has another length or is not finite.
        """

    @abc.abstractmethod
    def solve_multi(
        self,
        target_poses: dict[str, Pose6D],
        current_joints: NDArray[np.float64],
        dt: float = 0.01,
    ) -> IKResult:
        """Take one tick of `dt` [s] with all named chains at once; the others keep their pose.

        Raises:
            UnknownNameError: A chain does not exist.
            InvalidPoseError: A target is marked invalid or has no orientation.
            InvalidJointStateError: `current_joints` has another length or is not finite.
        """

    @abc.abstractmethod
    def get_joint_names(self) -> list[str]:
        """Return the names of the joints in the order of every joint vector."""

    @abc.abstractmethod
    def get_joint_count(self) -> int:
        """Return the number of joints N."""

    @abc.abstractmethod
    def set_posture_target(self, posture: NDArray[np.float64]) -> None:
        """Prefer joint positions near `posture` [rad], shape (N,), if the targets allow it."""

    def reset(self, velocity: NDArray[np.float64] | None = None) -> None:  # noqa: B027
        """Forget the last result; the next tick starts from the joints it is given.

        Args:
            velocity: Joint velocities at that moment in [rad/s], shape (N,); by default zero.

        Raises:
            InvalidJointStateError: `velocity` has another length or is not finite.
        """

    def shift(self, offset: NDArray[np.float64]) -> None:  # noqa: B027
        """Move the last result by `offset` [rad], shape (N,), and continue from there.

        The caller passes the moved joints to the next tick. The motion counts as motion of the
        last tick, so that accelerations do not change.

        Raises:
            InvalidJointStateError: `offset` has another length or is not finite.
        """
