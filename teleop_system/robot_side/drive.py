# SPDX-License-Identifier: Apache-2.0
"""Writes the safety manager's output to the slaves of a robot; nothing else calls a slave."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.interfaces import IEffortFeedForward, IMobileBase, ISlaveArm, ISlaveHand
from teleop_system.robots import RobotDescription
from teleop_system.safety import RobotParts, SafetyOutput
from teleop_system.safety.parts import Part
from teleop_system.simulators.simulated_robot import SimulatedRobot
from teleop_system.simulators.simulated_slaves import simulated_slaves
from teleop_system.utils.poses import yaw_of

Array = NDArray[np.float64]


class _Link:
    """A slave and its joints in the joint vectors of its robot.

    Attributes:
        slave: The slave.
        names: The names that it last reported; empty for the order of the part.
        order: Indices of its joints in the part, in its own order.
        columns: Their indices in every joint vector.
    """

    def __init__(self, part: Part, slave: ISlaveArm | ISlaveHand) -> None:
        self.slave = slave
        self.names: list[str] = []
        self.order: slice | list[int] = slice(None)
        self.columns: slice | list[int] = part.columns
        self._part = part

    def set_names(self, names: Sequence[str]) -> None:
        """Take the order of joints that the slave reports."""
        part = self._part
        if names and sorted(names) != sorted(part.joints):
            raise InvalidValueError(
                f"a slave reports the joints {list(names)}, needs {part.joints}"
            )
        self.names, self.order, self.columns = list(names), slice(None), part.columns
        if names and tuple(names) != part.joints:
            self.order = [part.joints.index(name) for name in names]
            self.columns = [part.columns.start + index for index in self.order]


class RobotDrive:
    """A robot made of slaves, simulated or real.

    Args:
        parts: Its parts.
        slaves: The slave of every part.
        base: The mobile base, or None.

    Attributes:
        joints: All joints, in the order of every joint vector.
        positions: Positions last measured in [rad] or [m], shape (N,).
        measured_at: Time of the oldest of them in [s]; minus infinity before the first.

    Raises:
        UnknownNameError: A part has no slave, or a slave has no part.
    """

    def __init__(
        self,
        parts: RobotParts,
        slaves: Mapping[str, ISlaveArm | ISlaveHand],
        base: IMobileBase | None = None,
    ) -> None:
        for name in parts:
            if name not in slaves:
                raise UnknownNameError("slave", name, slaves)
        self.joints = parts.joints
        self.positions = np.full(parts.size, np.nan)
        self.measured_at = -np.inf
        self._links = {name: _Link(parts[name], slave) for name, slave in slaves.items()}
        self._base = base
        self._efforts: dict[str, tuple[float, Array]] = {}
        self._connected = False

    def connect(self) -> bool:
        """Connect to every slave; False, with the reason logged, where one fails."""
        # A list: every slave is tried, also after one that failed.
        self._connected = all([link.slave.initialize() for link in self._links.values()])
        if self._base is not None:
            self._connected = self._base.initialize() and self._connected
        return self._connected

    def measure(self) -> bool:
        """Update `positions` and `measured_at`; False where a slave is not connected."""
        if not self._connected or (self._base is not None and not self._base.is_connected()):
            return False
        oldest = np.inf
        for link in self._links.values():
            if not link.slave.is_connected():
                return False
            state = link.slave.get_joint_state()
            if state.names != link.names:
                link.set_names(state.names)
            self.positions[link.columns] = state.positions
            oldest = min(oldest, state.timestamp)
        self.measured_at = oldest
        return True

    def send(self, output: SafetyOutput) -> None:
        """Command every part whose slave is connected; a lost slave must not stop the others.

        Raises:
            DeviceNotConnectedError: A slave was lost while it was commanded.
        """
        if self._base is not None and self._base.is_connected():
            # The base first: it keeps moving on an old command, joints hold theirs.
            velocity = output.base
            self._base.send_velocity(velocity.linear_x, velocity.linear_y, velocity.angular_z)
        for link in self._links.values():
            if link.slave.is_connected():
                link.slave.send_joint_command(output.positions[link.columns])
        for part_name, (stamp, efforts) in self._efforts.items():
            # A part that holds has no stamp; a part that follows a newer command has another one.
            is_followed = part_name not in output.holding and output.stamps.get(part_name) == stamp
            link = self._links[part_name]
            if isinstance(link.slave, IEffortFeedForward):
                added = efforts[link.order] if is_followed else np.zeros_like(efforts)
                link.slave.set_feed_forward(added)

    def add_efforts(self, part: str, stamp: float, efforts: Array) -> None:
        """Add efforts [N m] or [N] to a command, for a slave that takes feed-forward.

        Args:
            part: The part.
            stamp: Time stamp of the command in [s]; the efforts act while the part follows it.
            efforts: Efforts in the part's order; the slave bounds them.
        """
        self._efforts[part] = (stamp, efforts)

    def odometry(self) -> tuple[float, float, float]:
        """Return position [m] and heading [rad] of the base since the start; zeros without one."""
        if self._base is None:
            return 0.0, 0.0, 0.0
        position, orientation = self._base.get_odometry()
        x, y, z, w = orientation.tolist()
        return float(position[0]), float(position[1]), yaw_of((x, y, z, w))

    def measured(self) -> dict[str, float]:
        """Return the positions last measured in [rad] or [m] by joint."""
        return dict(zip(self.joints, self.positions.tolist(), strict=True))

    def stop_base(self) -> None:
        """Brake the base to a standstill, as when cycles cease."""
        if self._base is not None and self._base.is_connected():
            self._base.stop()

    def close(self) -> None:
        """Stop the base and release every slave, which holds its pose; safe to call twice."""
        self.stop_base()
        if self._base is not None:
            self._base.shutdown()
        for link in self._links.values():
            link.slave.shutdown()
        self._connected = False


def simulated_drive(robot: RobotDescription, simulated: SimulatedRobot) -> RobotDrive:
    """Return the drive of a simulated robot."""
    parts = RobotParts(robot)
    joints = {name: part.joints for name, part in parts.items()}
    return RobotDrive(parts, *simulated_slaves(robot, simulated, joints))
