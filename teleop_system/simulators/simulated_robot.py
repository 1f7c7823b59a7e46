# SPDX-License-Identifier: Apache-2.0
"""The joints of a simulated robot, their commands and its time, shared by its slaves.

Slaves write into one array of commands. The simulator takes that array once per step.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import ISimulator, SimState

Array = NDArray[np.float64]
IndexArray = NDArray[np.intp]

BASE_TIMEOUT = 0.3
"""Simulated time in [s] after which the base stops if nothing commands it."""
BASE_CHECK_PERIOD = 0.05
"""Longest simulated time in [s] between two checks of that time-out."""


class SimulatedRobot:
    """A simulated robot in position mode, on any simulator.

    Args:
        simulator: An initialised simulator; the caller shuts it down.

    Attributes:
        commands: Position commands in [rad] or [m], in the simulator's joint order, shape (N,).
        feed_forward: Efforts in [N m] or [N] to add in effort mode, same shape.
        state: The present state.
        stamp: Its time in [s], on the clock of the caller of `advance`.
    """

    def __init__(self, simulator: ISimulator) -> None:
        self.simulator = simulator
        names = simulator.get_joint_names()
        self._indices = {name: index for index, name in enumerate(names)}
        self.stamp = simulator.get_time()
        self.state: SimState = simulator.get_state()
        self.commands: Array = self.state.joint_positions.copy()
        self.feed_forward: Array = np.zeros(len(names))
        self._is_commanded = False
        self._base_velocity: tuple[float, float, float] | None = None
        self._base_moves_since: float | None = None

    def joint_indices(self, names: Sequence[str]) -> IndexArray:
        """Return the indices of joints in the simulator's joint vectors.

        Raises:
            UnknownNameError: The simulator has no such joint.
        """
        for name in names:
            if name not in self._indices:
                raise UnknownNameError("joint", name, self._indices)
        return np.array([self._indices[name] for name in names], dtype=np.intp)

    def command_joints(self, indices: IndexArray, positions: Array) -> None:
        """Command positions [rad] or [m] of some joints, from the next step on."""
        self.commands[indices] = positions
        self._is_commanded = True

    def move_base(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        """Command a velocity [m/s, m/s, rad/s] of the base."""
        velocity = (linear_x, linear_y, angular_z)
        if velocity != self._base_velocity:
            self.simulator.set_base_velocity(*velocity)
            self._base_velocity = velocity
        self._base_moves_since = self.simulator.get_time() if any(velocity) else None

    def advance(self, now: float, dt: float) -> None:
        """Simulate `dt` [s] under the present commands, up to the time `now` [s]."""
        while dt > 0.0:
            self._stop_uncommanded_base()
            self._step(min(dt, BASE_CHECK_PERIOD))
            dt -= BASE_CHECK_PERIOD
        self._read_state(now)

    def restart(self) -> None:
        """Forget every command, as after a reset of the simulator."""
        self.state = self.simulator.get_state()
        self.commands[:] = self.state.joint_positions
        self.feed_forward[:] = 0.0
        self._is_commanded = False
        self._base_velocity = self._base_moves_since = None

    def _stop_uncommanded_base(self) -> None:
        since = self._base_moves_since
        if since is not None and self.simulator.get_time() - since > BASE_TIMEOUT:
            self.move_base(0.0, 0.0, 0.0)

    def _step(self, dt: float) -> None:
        self._write_positions()
        self.simulator.step(dt)

    def _write_positions(self) -> None:
        if self._is_commanded:
            self.simulator.set_joint_positions(self.commands)

    def _read_state(self, now: float) -> None:
        """Read the state; it is of time `now` [s]."""
        self.state, self.stamp = self.simulator.get_state(), now
