# SPDX-License-Identifier: Apache-2.0
"""Physics simulation of a robot and its surroundings."""

import abc
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces._checks import frozen_array
from teleop_system.interfaces.camera_stream import RGBDFrame


@dataclass(frozen=True, slots=True, eq=False)  # Arrays have no single truth value.
class SimState:
    """A snapshot of the simulated robot; later simulation steps do not change it.

    Attributes:
        joint_positions: Positions in the order of `get_joint_names()`, [rad] or [m], shape (N,).
        joint_velocities: Velocities in the same order, [rad/s] or [m/s], shape (N,).
        base_position: Position of the base link in the world in [m], shape (3,).
        base_orientation: Orientation of the base link in the world, xyzw, shape (4,).
        timestamp: Simulated time in [s].
    """

    joint_positions: NDArray[np.float64]
    joint_velocities: NDArray[np.float64]
    base_position: NDArray[np.float64]
    base_orientation: NDArray[np.float64]
    timestamp: float

    def __post_init__(self) -> None:
        error = InvalidJointStateError
        positions = frozen_array(self.joint_positions, "joint_positions", (None,), error)
        object.__setattr__(self, "joint_positions", positions)
        shapes = {
            "joint_velocities": positions.shape,
            "base_position": (3,),
            "base_orientation": (4,),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, frozen_array(getattr(self, name), name, shape, error))

    @classmethod
    def unchecked(
        cls,
        joint_positions: NDArray[np.float64],
        joint_velocities: NDArray[np.float64],
        base_position: NDArray[np.float64],
        base_orientation: NDArray[np.float64],
        timestamp: float,
    ) -> "SimState":
        """Return a state from arrays that nothing else writes, without checks.

        For simulators, which read their state in every tick and check it for divergence.
        """
        state = object.__new__(cls)
        set_field = object.__setattr__
        set_field(state, "joint_positions", joint_positions)
        set_field(state, "joint_velocities", joint_velocities)
        set_field(state, "base_position", base_position)
        set_field(state, "base_orientation", base_orientation)
        set_field(state, "timestamp", timestamp)
        return state


class ISimulator(abc.ABC):
    """Physics of one robot and its surroundings; its owner advances the time."""

    @abc.abstractmethod
    def initialize(self, config: dict[str, Any]) -> bool:
        """Load the model; if a library is missing, log it and return False.

        Raises:
            ModelError: The model is missing or invalid.
            ConfigError: A key or value of `config` is invalid.
        """

    @abc.abstractmethod
    def step(self, dt: float | None = None) -> None:
        """Advance by one physics step, or by the number of steps in `dt` [s]."""

    @abc.abstractmethod
    def get_state(self) -> SimState:
        """Return a snapshot of the current state."""

    @abc.abstractmethod
    def set_joint_positions(self, positions: NDArray[np.float64]) -> None:
        """Command joint positions, shape (N,), in the order of `get_joint_names()`.

        Raises:
            InvalidJointStateError: The length is wrong or a value is not finite; the last command
                stays active.
        """

    @abc.abstractmethod
    def set_base_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        """Command the base's velocity [m/s, m/s, rad/s] in its own frame.

        Raises:
            InvalidValueError: A speed is not finite; the base stops.
        """

    @abc.abstractmethod
    def render(self) -> NDArray[np.uint8] | None:
        """Return a colour image, shape (H, W, 3), or None without rendering."""

    @abc.abstractmethod
    def get_camera_rgbd(self, camera_name: str) -> RGBDFrame:
        """Return the view of a named camera.

        Raises:
            UnknownNameError: The camera does not exist.
            RenderingUnavailableError: Rendering is not available.
        """

    @abc.abstractmethod
    def get_joint_names(self) -> list[str]:
        """Return the joints that can be commanded, in the order of every joint vector."""

    @abc.abstractmethod
    def get_time(self) -> float:
        """Return the simulated time in [s]."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Return to the initial pose at time zero."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Free all resources; safe to call twice."""
