# SPDX-License-Identifier: Apache-2.0
"""What the operator's devices deliver: tracker poses and hand joint angles."""

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
    """The part of the operator's body that a tracker is worn on."""

    RIGHT_HAND = "right_hand"
    LEFT_HAND = "left_hand"
    WAIST = "waist"
    RIGHT_FOOT = "right_foot"
    LEFT_FOOT = "left_foot"
    HEAD = "head"

    # Members are their own equals only, and the hash of `Enum` is Python code for every look-up.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False)  # Arrays have no single truth value.
class Pose6D:
    """Where a tracked body is, and when it was there.

    A quaternion that is not of unit length can be stored, so that the gate can report it; numbers
    that are not finite cannot.

    Attributes:
        position: Translation in [m], shape (3,), read-only.
        orientation: Quaternion xyzw, shape (4,), read-only.
        timestamp: Monotonic time of measurement in [s].
        valid: False where the device has lost the body; never act on such a pose.
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
        # A copy is checked, and read-only, as well.
        return Pose6D, (self.position, self.orientation, self.timestamp, self.valid)

    @classmethod
    def unchecked(
        cls, position: NDArray[np.float64], orientation: NDArray[np.float64], timestamp: float
    ) -> "Pose6D":
        """Return a valid pose of read-only arrays that are known to be finite.

        It saves the checks where the package computes poses in every tick.
        """
        pose = object.__new__(cls)
        object.__setattr__(pose, "position", position)
        object.__setattr__(pose, "orientation", orientation)
        object.__setattr__(pose, "timestamp", timestamp)
        object.__setattr__(pose, "valid", True)
        return pose

    @classmethod
    def lost(cls, timestamp: float = 0.0) -> "Pose6D":
        """Return the invalid pose a device gives before its first sample or after its last."""
        return cls(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), timestamp, valid=False)

    def translated(
        self, offset: NDArray[np.float64], *, timestamp: float | None = None
    ) -> "Pose6D":
        """Return this pose moved by `offset` [m], stamped anew where a time is given."""
        stamp = self.timestamp if timestamp is None else timestamp
        return Pose6D(self.position + offset, self.orientation, stamp, self.valid)


class IMasterTracker(abc.ABC):
    """Newest pose of one tracked body: a device, a replay, a browser or a simulation."""

    @abc.abstractmethod
    def initialize(self) -> bool:
        """Acquire the device; False, with the reason logged, where it cannot be had."""

    @abc.abstractmethod
    def get_pose(self) -> Pose6D:
        """Return the newest pose without blocking; `valid` is False before the first one."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Tell whether `initialize()` succeeded and the device is still there."""

    @abc.abstractmethod
    def get_role(self) -> TrackerRole:
        """Return the body part this tracker is worn on."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Release the device; safe to call twice, and before `initialize()`."""


@dataclass(frozen=True, slots=True, eq=False)
class HandJointState:
    """The operator's finger angles, and the finger tips where the device knows them.

    Attributes:
        joint_angles: Angles in [rad], shape (20,): thumb, index, middle, ring, pinky, and for
            each MCP flexion, MCP abduction, PIP flexion, DIP flexion.
        finger_tip_positions: Tips in the wrist frame in [m], shape (5, 3), or None.
        timestamp: Monotonic time of measurement in [s].
        side: "left" or "right".
        valid: False where the device has lost the hand; never act on such a state.
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
        """Acquire the device; False, with the reason logged, where it cannot be had."""

    @abc.abstractmethod
    def get_joint_state(self) -> HandJointState:
        """Return the newest state without blocking; `valid` is False before the first one."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Tell whether `initialize()` succeeded and the device is still there."""

    @abc.abstractmethod
    def get_side(self) -> str:
        """Return "left" or "right"."""

    @abc.abstractmethod
    def shutdown(self) -> None:
        """Release the device; safe to call twice, and before `initialize()`."""


class IReplayDevice(abc.ABC):
    """A device that plays a recording, and should not begin before somebody follows it."""

    @abc.abstractmethod
    def play(self) -> None:
        """Begin, or go on; called whenever the operator takes control."""

    @property
    @abc.abstractmethod
    def is_over(self) -> bool:
        """Whether the recording has come to its end, and nothing more will happen."""
