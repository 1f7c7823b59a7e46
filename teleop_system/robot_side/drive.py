# SPDX-License-Identifier: Apache-2.0
"""The robot's side of a session: takes what the safety manager gives out, tells where it is."""

import abc
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import DeviceNotConnectedError, InvalidValueError
from teleop_system.interfaces import ArmSide, IMobileBase, ISimulator, ISlaveArm, ISlaveHand
from teleop_system.robots import RobotDescription
from teleop_system.safety import RobotParts, SafetyOutput
from teleop_system.simulators.simulated_robot import (
    SimulatedArm,
    SimulatedBase,
    SimulatedGrasp,
    SimulatedJoints,
    SimulatedRobot,
)
from teleop_system.utils.transforms import quat_to_euler

Array = NDArray[np.float64]
Slave = ISlaveArm | ISlaveHand | SimulatedJoints


class IRobotSide(abc.ABC):
    """A robot as a session sees it.

    Attributes:
        joints: All joints, in the order of every joint vector.
        positions: Positions last measured in [rad] or [m], shape (N,).
        measured_at: When they were measured in [s]; minus infinity before the first time.
    """

    joints: tuple[str, ...]
    positions: Array
    measured_at: float

    @abc.abstractmethod
    def connect(self) -> bool:
        """Connect to every part; False, with the reason logged, where one cannot be had."""

    @abc.abstractmethod
    def is_connected(self) -> bool:
        """Tell whether every part answers."""

    @abc.abstractmethod
    def measure(self) -> None:
        """Bring `positions` and `measured_at` up to date."""

    @abc.abstractmethod
    def send(self, output: SafetyOutput) -> None:
        """Command every part; only the safety manager's output ever comes here."""

    @abc.abstractmethod
    def odometry(self) -> tuple[float, float, float]:
        """Return place [m] and heading [rad] of the base since the start; zeros without one."""

    @abc.abstractmethod
    def close(self) -> None:
        """Stop the base and let go of every part, which holds its pose; safe to call twice."""

    def measured(self) -> dict[str, float]:
        """Return the positions last measured in [rad] or [m] by joint."""
        return dict(zip(self.joints, self.positions.tolist(), strict=True))


class SlaveSide(IRobotSide):
    """A robot made of slaves, real or simulated.

    Args:
        parts: Its parts.
        slaves: The slave of every part.
        base: The mobile base, or None.
    """

    def __init__(
        self, parts: RobotParts, slaves: Mapping[str, Slave], base: IMobileBase | None
    ) -> None:
        self.joints = parts.joints
        self.positions = np.full(parts.size, np.nan)
        self.measured_at = -np.inf
        self._slaves = [(parts[name], slave) for name, slave in slaves.items()]
        self._base = base
        self._connected = False

    @override
    def connect(self) -> bool:
        devices = [slave for _, slave in self._slaves]
        self._connected = all([device.initialize() for device in devices])
        if self._base is not None:
            self._connected = self._base.initialize() and self._connected
        return self._connected

    @override
    def is_connected(self) -> bool:
        return (
            self._connected
            and all(slave.is_connected() for _, slave in self._slaves)
            and (self._base is None or self._base.is_connected())
        )

    @override
    def measure(self) -> None:
        oldest = np.inf
        for part, slave in self._slaves:
            state = slave.get_joint_state()
            self.positions[part.columns] = _ordered(state.positions, state.names, part.joints)
            oldest = min(oldest, state.timestamp)
        self.measured_at = oldest

    @override
    def send(self, output: SafetyOutput) -> None:
        for part, slave in self._slaves:
            slave.send_joint_command(output.positions[part.columns])
        if self._base is not None:
            velocity = output.base
            self._base.send_velocity(velocity.linear_x, velocity.linear_y, velocity.angular_z)

    @override
    def odometry(self) -> tuple[float, float, float]:
        if self._base is None:
            return 0.0, 0.0, 0.0
        position, orientation = self._base.get_odometry()
        heading = quat_to_euler(orientation)[2]
        return float(position[0]), float(position[1]), float(heading)

    @override
    def close(self) -> None:
        if self._base is not None and self._base.is_connected():
            self._base.stop()
            self._base.shutdown()
        for _, slave in self._slaves:
            slave.shutdown()
        self._connected = False


class SimulatedSide(SlaveSide):
    """A simulated robot; its owner lets its time pass.

    Args:
        robot: The robot.
        simulator: An initialised simulation of it; whoever made it shuts it down.
    """

    def __init__(self, robot: RobotDescription, simulator: ISimulator) -> None:
        self.parts = parts = RobotParts(robot)
        self.simulated = SimulatedRobot(simulator)
        self._now = 0.0
        rolls = robot.base is not None and robot.base.kind == "differential"
        super().__init__(
            parts,
            {name: _simulated_slave(robot, self.simulated, name, parts) for name in parts},
            SimulatedBase(self.simulated) if rolls else None,
        )
        self._places = self.simulated.places(parts.joints)
        self._read = np.empty(len(simulator.get_joint_names()))

    # One call serves all parts where slaves would need one each, at several times the cost.

    @override
    def is_connected(self) -> bool:
        return self._connected

    @override
    def measure(self) -> None:
        self.simulated.read_positions(self._read)
        self.measured_at = self._now
        self._read.take(self._places, out=self.positions, mode="clip")

    @override
    def send(self, output: SafetyOutput) -> None:
        if not self._connected:
            raise DeviceNotConnectedError("simulated robot")
        self.simulated.command(self._places, output.positions)
        if self._base is not None:
            velocity = output.base
            self._base.send_velocity(velocity.linear_x, velocity.linear_y, velocity.angular_z)

    def advance(self, now: float, dt: float) -> None:
        """Let `dt` [s] of simulated time pass, up to the session's time `now` [s]."""
        self._now = now
        if dt > 0.0:
            self.simulated.step(dt)


def _simulated_slave(
    robot: RobotDescription, simulated: SimulatedRobot, part: str, parts: RobotParts
) -> Slave:
    joints = parts[part].joints
    chain = robot.chains.get(part)
    if chain is not None:
        sides = {"left": ArmSide.LEFT, "right": ArmSide.RIGHT}
        default = ArmSide.RIGHT if chain.kind == "arm" else ArmSide.TORSO
        return SimulatedArm(simulated, joints, sides.get(chain.side or "", default), part)
    for hand in robot.hands.values():
        if part == f"{hand.name}_hand":
            return SimulatedGrasp(simulated, joints, hand.side or "right", part)
    return SimulatedJoints(simulated, joints, part)


def _ordered(positions: Array, names: Sequence[str], joints: tuple[str, ...]) -> Array:
    """Return positions in the order of `joints`, whatever order the slave has."""
    if not names or tuple(names) == joints:
        return positions
    if sorted(names) != sorted(joints):
        raise InvalidValueError(f"a slave reports the joints {list(names)}, needs {joints}")
    return positions[[list(names).index(joint) for joint in joints]]
