# SPDX-License-Identifier: Apache-2.0
"""Interfaces of the robot: arms, hands and the mobile base."""

import abc
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError, InvalidValueError
from teleop_system.interfaces._checks import finite_number, frozen_array


class ArmSide(enum.Enum):
    """The chain that an `ISlaveArm` drives."""

    LEFT = "left"
    RIGHT = "right"
    TORSO = "torso"


@dataclass(frozen=True, slots=True, eq=False)  # Arrays have no single truth value.
class JointState:
    """Measured or commanded state of named joints.

    Attributes:
        positions: Joint positions in [rad] or [m], shape (N,), read-only.
        velocities: Joint velocities in [rad/s] or [m/s], shape (N,), or None.
        efforts: Joint efforts in [N m] or [N], shape (N,), or None.
        names: One name per position; empty if the order is that of the device.
        timestamp: Monotonic time of measurement in [s].
    """

    positions: NDArray[np.float64]
    velocities: NDArray[np.float64] | None = None
    efforts: NDArray[np.float64] | None = None
    names: list[str] = field(default_factory=list)
    timestamp: float = 0.0

    def __post_init__(self) -> None:
        error = InvalidJointStateError
        positions = frozen_array(self.positions, "positions", (None,), error)
        object.__setattr__(self, "positions", positions)
        for name in ("velocities", "efforts"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen_array(value, name, positions.shape, error))
        names = list(self.names)
        if names and len(names) != positions.size:
            raise error(f"names needs one name per position ({positions.size}), got {names}")
        if len(set(names)) != len(names):
            raise error(f"names must be unique, got {names}")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "timestamp", finite_number(self.timestamp, "timestamp", error))

    @classmethod
    def unchecked(
        cls, positions: NDArray[np.float64], names: list[str], timestamp: float
    ) -> "JointState":
        """Return a state from an array and a list that nothing else writes, without checks.

        For slaves of this package, whose positions were checked where they were measured.
        """
        state = object.__new__(cls)
        object.__setattr__(state, "positions", positions)
        object.__setattr__(state, "velocities", None)
        object.__setattr__(state, "efforts", None)
        object.__setattr__(state, "names", names)
        object.__setattr__(state, "timestamp", timestamp)
        return state


class ISlaveArm(abc.ABC):
    """One arm, or the torso, of a robot: real or simulated."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Connect and power the arm; on failure log the reason and return False."""

    @abc.abstractmethod
    def send_joint_command(self, joint_positions: NDArray[np.float64]) -> None:
        """Command joint positions [rad], shape (N,), in the order of `get_joint_state().names`.

        Raises:
            InvalidJointStateError: The length is wrong or a value is not finite; the last command
                stays active.
            DeviceNotConnectedError: The arm is not connected.
        """

    @abc.abstractmethod
    def get_joint_state(self) -> JointState:
        """Return the newest measured state without blocking."""

    @abc.abstractmethod
    def get_joint_count(self) -> int:
        """Return the number of joints N."""

    @abc.abstractmethod
    def get_side(self) -> ArmSide:
        """Return the chain that it drives."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Return whether `initialize()` succeeded and the arm still responds."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Disconnect from the arm, which holds its position; safe to call twice."""


class ISlaveHand(abc.ABC):
    """One hand or gripper of a robot: real or simulated."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Connect to the hand; on failure log the reason and return False."""

    @abc.abstractmethod
    def send_joint_command(self, joint_positions: NDArray[np.float64]) -> None:
        """Command joint positions [rad] or [m], shape (N,); (20,) for a DG-5F.

        Raises:
            InvalidJointStateError: The length is wrong or a value is not finite; the last command
                stays active.
            DeviceNotConnectedError: The hand is not connected.
        """

    @abc.abstractmethod
    def get_joint_state(self) -> JointState:
        """Return the newest measured state without blocking."""

    @abc.abstractmethod
    def get_joint_count(self) -> int:
        """Return the number of joints N."""

    @abc.abstractmethod
    def get_side(self) -> str:
        """Return "left" or "right"."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Return whether `initialize()` succeeded and the hand still responds."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Disconnect from the hand; safe to call twice."""


@dataclass(frozen=True, slots=True)
class VelocityCommand:
    """Commanded velocity of a mobile base in its own frame.

    Attributes:
        linear_x: Forward speed in [m/s].
        linear_y: Speed to the left in [m/s].
        angular_z: Yaw rate, counter-clockwise positive, in [rad/s].
        timestamp: Monotonic time of the command in [s].
    """

    linear_x: float = 0.0
    linear_y: float = 0.0
    angular_z: float = 0.0
    timestamp: float = 0.0

    def __post_init__(self) -> None:
        for name in ("linear_x", "linear_y", "angular_z", "timestamp"):
            object.__setattr__(
                self, name, finite_number(getattr(self, name), name, InvalidValueError)
            )

    @classmethod
    def unchecked(
        cls, linear_x: float, linear_y: float, angular_z: float, timestamp: float
    ) -> "VelocityCommand":
        """Return a velocity from finite numbers, without checks.

        For velocities that the package computes in every tick.
        """
        velocity = object.__new__(cls)
        object.__setattr__(velocity, "linear_x", linear_x)
        object.__setattr__(velocity, "linear_y", linear_y)
        object.__setattr__(velocity, "angular_z", angular_z)
        object.__setattr__(velocity, "timestamp", timestamp)
        return velocity


class IMobileBase(abc.ABC):
    """A wheeled base: real or simulated."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Connect to the base; on failure log the reason and return False."""

    @abc.abstractmethod
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        """Command a velocity [m/s, m/s, rad/s]; directions that the base cannot drive are ignored.

        Raises:
            InvalidValueError: A speed is not finite; the base stops.
            DeviceNotConnectedError: The base is not connected.
        """

    @abc.abstractmethod
    def get_odometry(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return position [m], shape (3,), and orientation xyzw, shape (4,), since the start."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Brake to standstill; safe in every state."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Return whether `initialize()` succeeded and the base still responds."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Stop the base and disconnect; safe to call twice."""


class IEffortFeedForward(abc.ABC):
    """A slave that can add efforts to those of its own position controller."""

    @abc.abstractmethod
    def set_feed_forward(self, efforts: NDArray[np.float64]) -> None:
        """Add efforts [N m] or [N], shape (N,), until the next call; the slave bounds them.

        They are in the order of position commands.
        """


class RobotSlaves(NamedTuple):
    """The slaves of one robot.

    Attributes:
        parts: The slave of every part, by the part's name; the head is an arm of two joints.
        base: The mobile base, or None.
    """

    parts: Mapping[str, ISlaveArm | ISlaveHand]
    base: IMobileBase | None = None
