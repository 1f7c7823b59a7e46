# SPDX-License-Identifier: Apache-2.0
"""Devices of the operator: tracker poses and hand joint angles."""

import abc
import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidHandStateError, InvalidPoseError
from teleop_system.interfaces._checks import finite_number, frozen_array

HAND_SIDES = ("left", "right")
HAND_JOINT_COUNT = 20
FINGER_COUNT = 5


class TrackerRole(enum.Enum):
    """Body part on which a tracker is worn."""

    RIGHT_HAND = "right_hand"
    LEFT_HAND = "left_hand"
    WAIST = "waist"
    RIGHT_FOOT = "right_foot"
    LEFT_FOOT = "left_foot"
    HEAD = "head"

    # The hash of `Enum` runs Python code in every look-up; members equal only themselves.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False)  # Arrays have no single truth value.
class Pose6D:
    """Pose of a tracked body at a time.

    All numbers must be finite. The quaternion need not have unit length: the gate reports that.

    Attributes:
        position: Translation in [m], shape (3,), read-only.
        orientation: Quaternion xyzw, shape (4,), read-only.
        timestamp: Monotonic time of measurement in [s].
        valid: False if the device has lost the body; do not use such a pose.
    """

    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    timestamp: float = 0.0
    valid: bool = True

    def __post_init__(self) -> None:
        position = frozen_array(self.position, "position", (3,), InvalidPoseError)
        orientation = frozen_array(self.orientation, "orientation", (4,), InvalidPoseError)
        timestamp = finite_number(self.timestamp, "timestamp", InvalidPoseError)
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "orientation", orientation)
        object.__setattr__(self, "timestamp", timestamp)

    def __reduce__(self) -> tuple[type["Pose6D"], tuple[object, ...]]:
        # A copy is checked and read-only too.
        return Pose6D, (self.position, self.orientation, self.timestamp, self.valid)

    @classmethod
    def unchecked(
        cls, position: NDArray[np.float64], orientation: NDArray[np.float64], timestamp: float
    ) -> "Pose6D":
        """Return a valid pose from read-only arrays with finite numbers, without checks.

        For poses that the package computes in every tick.
        """
        pose = object.__new__(cls)
        _set_position(pose, position)
        _set_orientation(pose, orientation)
        _set_timestamp(pose, timestamp)
        _set_valid(pose, True)
        return pose

    @classmethod
    def lost(cls, timestamp: float = 0.0) -> "Pose6D":
        """Return the invalid pose of a device without a sample."""
        return cls(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), timestamp, valid=False)

    def translated(
        self, offset: NDArray[np.float64], *, timestamp: float | None = None
    ) -> "Pose6D":
        """Return this pose moved by `offset` [m], with a new stamp if a time is given."""
        stamp = self.timestamp if timestamp is None else timestamp
        return Pose6D(self.position + offset, self.orientation, stamp, self.valid)


# The slots themselves: `object.__setattr__` would look each of them up by name.
_set_position, _set_orientation, _set_timestamp, _set_valid = (
    vars(Pose6D)[name].__set__ for name in Pose6D.__slots__
)


class IMasterTracker(abc.ABC):
    """Newest pose of one tracked body: a device, a replay, a browser or a simulation."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Connect to the device; on failure log the reason and return False."""

    @abc.abstractmethod
    def get_pose(self) -> Pose6D:
        """Return the newest pose without blocking; it is invalid before the first sample."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Return whether `initialize()` succeeded and the device still responds."""

    @abc.abstractmethod
    def get_role(self) -> TrackerRole:
        """Return the body part on which the tracker is worn."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Disconnect; safe to call twice and before `initialize()`."""


@dataclass(frozen=True, slots=True, eq=False)
class HandJointState:
    """Finger angles of the operator, and fingertips if the device measures them.

    Attributes:
        joint_angles: Angles in [rad], shape (20,): thumb, index, middle, ring, pinky, and for
            each MCP flexion, MCP abduction, PIP flexion, DIP flexion.
        finger_tip_positions: Fingertips in the wrist frame in [m], shape (5, 3), or None.
        timestamp: Monotonic time of measurement in [s].
        side: "left" or "right".
        valid: False if the device has lost the hand; do not use such a state.
    """

    joint_angles: NDArray[np.float64]
    finger_tip_positions: NDArray[np.float64] | None = None
    timestamp: float = 0.0
    side: str = "right"
    valid: bool = True

    def __post_init__(self) -> None:
        error = InvalidHandStateError
        angles = frozen_array(self.joint_angles, "joint_angles", (HAND_JOINT_COUNT,), error)
        object.__setattr__(self, "joint_angles", angles)
        if self.finger_tip_positions is not None:
            shape = (FINGER_COUNT, 3)
            tips = frozen_array(self.finger_tip_positions, "finger_tip_positions", shape, error)
            object.__setattr__(self, "finger_tip_positions", tips)
        object.__setattr__(self, "timestamp", finite_number(self.timestamp, "timestamp", error))
        if self.side not in HAND_SIDES:
            raise error(f"side must be 'left' or 'right', got {self.side!r}")


class IHandInput(abc.ABC):
    """Newest finger state of one hand: a glove, a hand tracker, a replay or a simulation."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Connect to the device; on failure log the reason and return False."""

    @abc.abstractmethod
    def get_joint_state(self) -> HandJointState:
        """Return the newest state without blocking; it is invalid before the first sample."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Return whether `initialize()` succeeded and the device still responds."""

    @abc.abstractmethod
    def get_side(self) -> str:
        """Return "left" or "right"."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Disconnect; safe to call twice and before `initialize()`."""


class IReplayDevice(abc.ABC):
    """A device that plays a recording once the operator engages."""

    @abc.abstractmethod
    def play(self) -> None:
        """Start or continue; called whenever the operator engages."""

    @property
    @abc.abstractmethod
    def is_over(self) -> bool:
        """Whether the recording has ended."""
