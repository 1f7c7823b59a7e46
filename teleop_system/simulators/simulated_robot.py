# SPDX-License-Identifier: Apache-2.0
"""A simulated robot behind the interfaces of a real one: arms, hands, neck and base.

All of them share one `SimulatedRobot`, which gathers their commands and hands them over at once,
with the next step of the simulator.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import (
    DeviceNotConnectedError,
    InvalidJointStateError,
    InvalidValueError,
    UnknownNameError,
)
from teleop_system.interfaces import (
    ArmSide,
    IMobileBase,
    ISimulator,
    ISlaveArm,
    ISlaveHand,
    JointState,
    SimState,
)
from teleop_system.utils.transforms import quat_inverse, quat_multiply, quat_rotate

Array = NDArray[np.float64]

LONGEST_BLIND_ROLL = 0.3
"""Simulated time in [s] after which a base that nobody commands stops by itself."""
LONGEST_STEP = 0.05
"""How often that is looked at, in [s]."""


class SimulatedRobot:
    """The joints of a simulated robot and the commands in force for them.

    Args:
        simulator: An initialised simulator; whoever made it shuts it down.
    """

    def __init__(self, simulator: ISimulator) -> None:
        self.simulator = simulator
        names = simulator.get_joint_names()
        self._places = {name: place for place, name in enumerate(names)}
        self._state = simulator.get_state()
        self._commands = self._state.joint_positions.copy()
        self._is_new = False
        self._velocity: tuple[float, float, float] | None = None
        self._rolls_since: float | None = None
        # MuJoCo's can be read without making an object of it; other simulators need not.
        self._reader: Callable[[Array], None] | None = getattr(
            simulator, "read_joint_positions", None
        )

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Return where joints stand in the simulator's joint vectors.

        Raises:
            UnknownNameError: The simulator has no such joint.
        """
        for name in names:
            if name not in self._places:
                raise UnknownNameError("joint", name, self._places)
        return np.array([self._places[name] for name in names], dtype=np.intp)

    def state(self) -> SimState:
        """Return the present state; asked for again at the same time it costs nothing."""
        if self._state.timestamp != self.simulator.get_time():
            self._state = self.simulator.get_state()
        return self._state

    def read_positions(self, out: Array) -> None:
        """Write all joint positions [rad] or [m] into `out`."""
        if self._reader is None:
            out[:] = self.state().joint_positions
        else:
            self._reader(out)

    def command(self, places: NDArray[np.intp], positions: Array) -> None:
        """Put positions [rad] or [m] of some joints in force from the next `step()` on."""
        self._commands[places] = positions
        self._is_new = True

    def drive(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        """Put a velocity [m/s, m/s, rad/s] of the base in force."""
        velocity = (linear_x, linear_y, angular_z)
        if velocity != self._velocity:
            self.simulator.set_base_velocity(*velocity)
            self._velocity = velocity
        self._rolls_since = self.simulator.get_time() if any(velocity) else None

    def step(self, dt: float) -> None:
        """Let `dt` [s] of simulated time pass."""
        if self._is_new:
            self.simulator.set_joint_positions(self._commands)
            self._is_new = False
        while dt > LONGEST_STEP:
            self._advance(LONGEST_STEP)
            dt -= LONGEST_STEP
        self._advance(dt)

    def _advance(self, dt: float) -> None:
        since = self._rolls_since
        if since is not None and self.simulator.get_time() - since > LONGEST_BLIND_ROLL:
            self.drive(0.0, 0.0, 0.0)
        self.simulator.step(dt)


class SimulatedJoints:
    """Some joints of a simulated robot that are commanded together.

    Args:
        robot: The robot.
        joints: Their names, in the order of commands.
        name: What errors call this part.
    """

    def __init__(self, robot: SimulatedRobot, joints: Sequence[str], name: str) -> None:
        self._robot = robot
        self._names = list(joints)
        self._places = robot.places(joints)
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
        positions = np.asarray(joint_positions, dtype=np.float64)
        if positions.shape != self._places.shape or not np.isfinite(positions).all():
            raise InvalidJointStateError(
                f"{self._name} needs {len(self._names)} finite positions, got {joint_positions}"
            )
        self._robot.command(self._places, positions)

    def get_joint_state(self) -> JointState:
        """Return the simulated state of the joints."""
        state = self._robot.state()
        return JointState(
            positions=state.joint_positions[self._places],
            velocities=state.joint_velocities[self._places],
            names=self._names,
            timestamp=state.timestamp,
        )

    def get_joint_count(self) -> int:
        """Return the number of joints N."""
        return len(self._names)

    def is_connected(self) -> bool:
        """Tell whether the joints were taken and not let go."""
        return self._connected

    def shutdown(self) -> None:
        """Let go of the joints, which hold their last command."""
        self._connected = False


class SimulatedArm(SimulatedJoints, ISlaveArm):
    """An arm, or the torso, of a simulated robot."""

    def __init__(
        self, robot: SimulatedRobot, joints: Sequence[str], side: ArmSide, name: str | None = None
    ) -> None:
        super().__init__(robot, joints, name or f"{side.value} arm")
        self._side = side

    @override
    def get_side(self) -> ArmSide:
        return self._side


class SimulatedGrasp(SimulatedJoints, ISlaveHand):
    """A hand or gripper of a simulated robot."""

    def __init__(
        self, robot: SimulatedRobot, joints: Sequence[str], side: str, name: str | None = None
    ) -> None:
        super().__init__(robot, joints, name or f"{side} hand")
        self._side = side

    @override
    def get_side(self) -> str:
        return self._side


class SimulatedBase(IMobileBase):
    """The wheeled base of a simulated robot; it stops by itself when nobody commands it."""

    def __init__(self, robot: SimulatedRobot) -> None:
        self._robot = robot
        self._connected = False
        self._start: tuple[Array, Array] | None = None

    @override
    def initialize(self) -> bool:
        state = self._robot.state()
        self._start = (state.base_position, state.base_orientation)
        self._connected = True
        return True

    @override
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        if not self._connected:
            raise DeviceNotConnectedError("base")
        try:
            self._robot.drive(linear_x, linear_y, angular_z)
        except InvalidValueError:
            self._robot.drive(0.0, 0.0, 0.0)
            raise

    @override
    def get_odometry(self) -> tuple[Array, Array]:
        state = self._robot.state()
        if self._start is None:
            return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        position, orientation = self._start
        back = quat_inverse(orientation)
        return (
            quat_rotate(back, state.base_position - position),
            quat_multiply(back, state.base_orientation),
        )

    @override
    def stop(self) -> None:
        if self._connected:
            self._robot.drive(0.0, 0.0, 0.0)

    @override
    def is_connected(self) -> bool:
        return self._connected

    @override
    def shutdown(self) -> None:
        self.stop()
        self._connected = False
