# SPDX-License-Identifier: Apache-2.0
"""A MuJoCo robot whose joints reach their position commands in one of three control modes.

In position mode the model's own servos follow the commands. In velocity and effort mode a servo
of ours turns the same positions into velocities or efforts, once per physics step. A slave's
caller sees no difference, so every mode keeps the safety manager's promises.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import SimulationError, UnknownNameError
from teleop_system.robots import RobotDescription
from teleop_system.simulators.joint_pid import JointPid, PidGains
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.simulated_robot import SimulatedRobot

Array = NDArray[np.float64]

MODES = ("position", "velocity", "effort")
VELOCITY_GAIN = 20.0
"""Velocity per position error in [1/s] in velocity mode."""
FEED_FORWARD_SHARE = 0.2
"""Share of a joint's effort limit that feed-forward may add at most."""


class MuJoCoRobot(SimulatedRobot):
    """A simulated robot with control modes, controlled in the middle of a physics step.

    Args:
        simulator: An initialised simulator; the caller shuts it down.
        robot: Its description.
        joints: The joints that control modes apply to, in the order of gains.

    Attributes:
        mode: "position", "velocity" or "effort".
    """

    def __init__(
        self, simulator: MuJoCoSimulator, robot: RobotDescription, joints: Sequence[str]
    ) -> None:
        super().__init__(simulator)
        self.mode = MODES[0]
        self._mujoco = simulator
        self._joints = tuple(joints)
        self._columns = self.joint_indices(joints)
        self._pid = JointPid(PidGains.of_model(simulator, self._columns))
        self._velocity_limits = np.array([robot.limits(joint).velocity for joint in joints])
        limits = self._pid.gains.effort
        self._feed_forward_limits = np.where(np.isfinite(limits), FEED_FORWARD_SHARE * limits, 0.0)
        self._positions = np.empty(self.commands.size)
        self._velocities = np.empty(self.commands.size)
        self._has_halves = _has_halves(simulator)

    @property
    def gains(self) -> PidGains:
        """The gains of effort mode."""
        return self._pid.gains

    @gains.setter
    def gains(self, gains: PidGains) -> None:
        self._pid = JointPid(gains)

    def set_mode(self, mode: str, gains: PidGains | None = None) -> None:
        """Change the control mode without a jump.

        Args:
            mode: One of `MODES`.
            gains: The gains of effort mode; None keeps them. They change only if the mode can.

        Raises:
            UnknownNameError: There is no such mode.
            SimulationError: An actuator cannot change its mode.
        """
        if mode not in MODES:
            raise UnknownNameError("control mode", mode, MODES)
        self._mujoco.set_control_mode(mode, self._joints)
        if mode == "position":
            # The targets that hold the robot differ from its positions by what the load bends.
            self.commands[self._columns] = self._mujoco.get_joint_targets()[self._columns]
        self._pid = JointPid(gains or self._pid.gains)
        self.feed_forward[:] = 0.0
        self.mode = mode

    @override
    def restart(self) -> None:
        super().restart()
        self.set_mode(self.mode)

    def cycle(self, now: float, steps: int, control: Callable[[], object]) -> None:
        """Take physics steps, and call `control` in the middle of the first.

        MuJoCo's first half step computes all that control needs; its second half already moves
        under the new commands.

        Args:
            now: Time of the state that `control` reads in [s].
            steps: Number of physics steps.
            control: Reads the slaves and commands them.

        Raises:
            SimulationError: The simulation diverged.
        """
        self._read_state(now)
        start = self.commands.copy()
        if self._has_halves:
            self._mujoco.step1()
        control()
        self._stop_uncommanded_base()
        if self.mode == "position":
            self._write_positions()
            self._take(steps)
        else:
            self._servo(start, steps)
        self._read_state(now + steps * self._mujoco.timestep)

    @override
    def _step(self, dt: float) -> None:
        if self.mode == "position":
            super()._step(dt)
            return
        if self._has_halves:
            self._mujoco.step1()
        self._servo(self.commands, round(dt / self._mujoco.timestep))

    def _take(self, steps: int) -> None:
        if self._has_halves:
            self._mujoco.step2(steps)
        else:
            self._mujoco.single_step(steps)

    def _servo(self, start: Array, steps: int) -> None:
        """Take physics steps one by one, with a new target for each between two commands."""
        timestep = self._mujoco.timestep
        before = start[self._columns]
        change = self.commands[self._columns] - before
        for step in range(1, steps + 1):
            if self._has_halves and step > 1:
                self._mujoco.step1()
            if self._is_commanded:
                target = before + change * (step / steps)
                self._write_servo(target, change / (steps * timestep), timestep)
            self._take(1)

    def _write_servo(self, target: Array, velocity: Array, dt: float) -> None:
        simulator, columns = self._mujoco, self._columns
        simulator.read_joint_positions(self._positions)
        simulator.read_joint_velocities(self._velocities)
        error = target - self._positions[columns]
        if self.mode == "velocity":
            wanted = velocity + VELOCITY_GAIN * error
            command = np.clip(wanted, -self._velocity_limits, self._velocity_limits)
        else:
            limits = self._feed_forward_limits
            extra = np.clip(self.feed_forward[columns], -limits, limits)
            rate = velocity - self._velocities[columns]
            command = self._pid.update(error, rate, dt, extra)
        simulator.set_joint_targets(self._joints, command)


def _has_halves(simulator: MuJoCoSimulator) -> bool:
    try:
        simulator.step1()
    except SimulationError:
        return False  # The RK4 integrator evaluates a step several times.
    return True
