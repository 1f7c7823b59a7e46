# SPDX-License-Identifier: Apache-2.0
"""The slaves of a simulated robot: arms, torso, head, hands and base."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import (
    DeviceNotConnectedError,
    InvalidJointStateError,
    InvalidValueError,
)
from teleop_system.interfaces import (
    ArmSide,
    IEffortFeedForward,
    IMobileBase,
    ISlaveArm,
    ISlaveHand,
    JointState,
    RobotSlaves,
)
from teleop_system.robots import RobotDescription
from teleop_system.simulators.simulated_robot import SimulatedRobot
from teleop_system.utils.poses import ORIGIN, PoseTuple, compose, inverse

Array = NDArray[np.float64]

STANDSTILL = (0.0, 0.0, 0.0)


class _SimulatedJoints(IEffortFeedForward):
    """Some joints of a simulated robot that are commanded together.

    Args:
        robot: The robot.
        joints: Their names, in the order of commands.
        name: The part's name in error messages.
    """

    def __init__(self, robot: SimulatedRobot, joints: Sequence[str], name: str) -> None:
        self._robot = robot
        self._names = list(joints)
        self._indices = robot.joint_indices(joints)
        self._name = name
        self._connected = False

    def initialize(self) -> bool:
        """Take the joints; they stay where they are until the first command."""
        self._connected = True
        return True

    def send_joint_command(self, joint_positions: Array) -> None:
        """Command joint positions [rad] or [m], shape (N,)."""
        if not self._connected:
            raise DeviceNotConnectedError(self._name)
        self._robot.command_joints(self._indices, self._checked(joint_positions, "positions"))

    @override
    def set_feed_forward(self, efforts: Array) -> None:
        self._robot.feed_forward[self._indices] = self._checked(efforts, "efforts")

    def get_joint_state(self) -> JointState:
        """Return the simulated positions of the joints."""
        positions = self._robot.state.joint_positions[self._indices]
        positions.setflags(write=False)
        return JointState.unchecked(positions, self._names.copy(), self._robot.stamp)

    def get_joint_count(self) -> int:
        """Return the number of joints N."""
        return len(self._names)

    def is_connected(self) -> bool:
        """Return whether the joints were taken and not released."""
        return self._connected

    def shutdown(self) -> None:
        """Release the joints, which hold their last command."""
        self._connected = False

    def _checked(self, values: Array, what: str) -> Array:
        array = np.asarray(values, dtype=np.float64)
        # For a few numbers this takes a third of the time of two array operations.
        if array.shape != self._indices.shape or not all(map(math.isfinite, array.tolist())):
            raise InvalidJointStateError(
                f"{self._name} needs {len(self._names)} finite {what}, got {values}"
            )
        return array


class SimulatedSlaveArm(_SimulatedJoints, ISlaveArm):
    """An arm, the torso or the head of a simulated robot."""

    def __init__(
        self, robot: SimulatedRobot, joints: Sequence[str], side: ArmSide, name: str | None = None
    ) -> None:
        super().__init__(robot, joints, name or f"{side.value} arm")
        self._side = side

    @override
    def get_side(self) -> ArmSide:
        return self._side


class SimulatedSlaveHand(_SimulatedJoints, ISlaveHand):
    """A hand or gripper of a simulated robot."""

    def __init__(
        self, robot: SimulatedRobot, joints: Sequence[str], side: str, name: str | None = None
    ) -> None:
        super().__init__(robot, joints, name or f"{side} hand")
        self._side = side

    @override
    def get_side(self) -> str:
        return self._side


class SimulatedMobileBase(IMobileBase):
    """The wheeled base of a simulated robot; it stops when commands cease."""

    def __init__(self, robot: SimulatedRobot) -> None:
        self._robot = robot
        self._connected = False
        self._start_from_world: PoseTuple | None = None

    @override
    def initialize(self) -> bool:
        self._start_from_world = inverse(self._pose())
        self._connected = True
        return True

    @override
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        if not self._connected:
            raise DeviceNotConnectedError("base")
        try:
            self._robot.move_base(linear_x, linear_y, angular_z)
        except InvalidValueError:
            self._robot.move_base(*STANDSTILL)
            raise

    @override
    def get_odometry(self) -> tuple[Array, Array]:
        position, orientation = ORIGIN
        if self._start_from_world is not None:
            position, orientation = compose(self._start_from_world, self._pose())
        return np.array(position), np.array(orientation)

    @override
    def stop(self) -> None:
        if self._connected:
            self._robot.move_base(*STANDSTILL)

    @override
    def is_connected(self) -> bool:
        return self._connected

    @override
    def shutdown(self) -> None:
        self.stop()
        self._connected = False

    def _pose(self) -> PoseTuple:
        """Return the pose of the base in the world."""
        state = self._robot.state
        x, y, z = state.base_position.tolist()
        qx, qy, qz, qw = state.base_orientation.tolist()
        return (x, y, z), (qx, qy, qz, qw)


def simulated_slaves(
    robot: RobotDescription, simulated: SimulatedRobot, parts: Mapping[str, Sequence[str]]
) -> RobotSlaves:
    """Return a slave for every part of a simulated robot, and one for its base.

    Args:
        robot: The robot.
        simulated: Its simulation.
        parts: The joints of every part, by the part's name.

    Raises:
        UnknownNameError: The simulator lacks a joint.
    """
    hands = {f"{hand.name}_hand": hand.side or "right" for hand in robot.hands.values()}
    slaves: dict[str, ISlaveArm | ISlaveHand] = {}
    for part, joints in parts.items():
        if part in hands:
            slaves[part] = SimulatedSlaveHand(simulated, joints, hands[part], part)
        else:
            slaves[part] = SimulatedSlaveArm(simulated, joints, _side(robot, part), part)
    has_wheels = robot.base is not None and robot.base.kind == "differential"
    return RobotSlaves(slaves, SimulatedMobileBase(simulated) if has_wheels else None)


def _side(robot: RobotDescription, part: str) -> ArmSide:
    """Return the side of an arm; everything in the middle counts as the torso."""
    chain = robot.chains.get(part)
    if chain is None:
        return ArmSide.TORSO
    sides = {"left": ArmSide.LEFT, "right": ArmSide.RIGHT}
    return sides.get(chain.side or "", ArmSide.RIGHT if chain.kind == "arm" else ArmSide.TORSO)
