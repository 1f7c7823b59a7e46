# SPDX-License-Identifier: Apache-2.0
"""Smallest correct implementations of interfaces that have no other one to test yet."""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import DeviceNotConnectedError, InvalidJointStateError
from teleop_system.interfaces import (
    ArmSide,
    ICameraStream,
    IMobileBase,
    ISlaveArm,
    ISlaveHand,
    JointState,
    RGBDFrame,
    VelocityCommand,
)


class Connection:
    """The connection of a device."""

    def __init__(self) -> None:
        self.connected = False

    def initialize(self) -> bool:
        self.connected = True
        return True

    def is_connected(self) -> bool:
        return self.connected

    def shutdown(self) -> None:
        self.connected = False

    def require_connection(self) -> None:
        if not self.connected:
            raise DeviceNotConnectedError(type(self).__name__)


class EchoJoints(Connection):
    """Joints that reach every command at once."""

    count = 7

    def __init__(self) -> None:
        super().__init__()
        self.positions = np.zeros(self.count)

    def send_joint_command(self, joint_positions: NDArray[np.float64]) -> None:
        self.require_connection()
        command = JointState(joint_positions)
        if command.positions.size != self.count:
            raise InvalidJointStateError(f"needs {self.count}, got {command.positions.size}")
        self.positions = command.positions

    def get_joint_state(self) -> JointState:
        return JointState(self.positions, names=[f"joint_{i}" for i in range(self.count)])

    def get_joint_count(self) -> int:
        return self.count


class EchoArm(EchoJoints, ISlaveArm):
    @override
    def get_side(self) -> ArmSide:
        return ArmSide.LEFT


class EchoHand(EchoJoints, ISlaveHand):
    count = 20

    @override
    def get_side(self) -> str:
        return "left"


class EchoBase(Connection, IMobileBase):
    @override
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        self.require_connection()
        VelocityCommand(linear_x, linear_y, angular_z)

    @override
    def get_odometry(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])

    @override
    def stop(self) -> None:
        pass


class GreyCamera(Connection, ICameraStream):
    def __init__(self) -> None:
        super().__init__()
        self.orientation = (0.0, 0.0)

    @override
    def get_rgbd(self) -> RGBDFrame:
        self.require_connection()
        return RGBDFrame(
            np.full((4, 6, 3), 128, np.uint8),
            np.ones((4, 6), np.float32),
            self.get_intrinsics(),
            np.eye(4),
            0.0,
            width=6,
            height=4,
        )

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        self.orientation = (float(np.clip(pan, -1.5, 1.5)), float(np.clip(tilt, -1.5, 1.5)))

    @override
    def get_orientation(self) -> tuple[float, float]:
        return self.orientation

    @override
    def get_intrinsics(self) -> NDArray[np.float64]:
        return np.array([[5.0, 0.0, 3.0], [0.0, 5.0, 2.0], [0.0, 0.0, 1.0]])
