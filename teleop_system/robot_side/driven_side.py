# SPDX-License-Identifier: Apache-2.0
"""A MuJoCo robot that is controlled in the middle of its physics steps, in three modes.

Whatever the mode, the safety manager's positions are what the robot is brought to: by the model's
position servos, by velocities, or by efforts from a PID controller per joint. Velocity and effort
modes therefore keep every promise that position mode keeps. Efforts that a command adds act only
while the safety manager follows that very command.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.exceptions import SimulationError, UnknownNameError
from teleop_system.robot_side.drive import IRobotSide
from teleop_system.robots import RobotDescription
from teleop_system.safety import RobotParts, SafetyOutput
from teleop_system.simulators.joint_pid import JointPid, PidGains
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.transforms import quat_to_euler

Array = NDArray[np.float64]

MODES = ("position", "velocity", "effort")
VELOCITY_GAIN = 20.0
"""Speed per position error in [1/s] with which velocity mode returns to its positions."""
EXTRA_SHARE = 0.2
"""Part of a joint's effort limit that an effort command may add at the most."""


class DrivenSide(IRobotSide):
    """A simulated robot whose time its owner lets pass, a control cycle at a time.

    Args:
        robot: The robot.
        simulator: An initialised simulation of it; whoever made it shuts it down.

    Attributes:
        mode: "position", "velocity" or "effort".
        extra: Efforts that effort mode adds in this cycle in [N m] or [N], shape (N,), bounded.
        now: Time of the next measurement in [s].
    """

    def __init__(self, robot: RobotDescription, simulator: MuJoCoSimulator) -> None:
        parts = RobotParts(robot)
        self.joints = parts.joints
        self.positions = np.full(parts.size, np.nan)
        self.measured_at = -np.inf
        self.now = 0.0
        self.mode = MODES[0]
        self._simulator = simulator
        self._places = simulator.joint_indices(parts.joints)
        self._all = np.empty(len(simulator.get_joint_names()))
        self._rates = self._all.copy()
        self._commands = simulator.get_joint_targets()
        self._pid = JointPid(PidGains.of_model(simulator, self._places))
        self._speed_limits = parts.velocity
        self._target = self._start = np.full(parts.size, np.nan)
        self._speed = np.zeros(parts.size)
        self.extra = np.zeros(parts.size)
        self._efforts: dict[str, tuple[float, Array]] = {}
        limits = self._pid.gains.effort
        self._extra_limits = np.where(np.isfinite(limits), EXTRA_SHARE * limits, 0.0)
        self._has_halves = _has_halves(simulator)
        self._drives = robot.base is not None and robot.base.kind == "differential"
        self._connected = False

    @property
    def gains(self) -> PidGains:
        """The gains of effort mode."""
        return self._pid.gains

    @gains.setter
    def gains(self, gains: PidGains) -> None:
        self._pid = JointPid(gains)

    @override
    def connect(self) -> bool:
        self._connected = True
        return True

    @override
    def is_connected(self) -> bool:
        return self._connected

    @override
    def measure(self) -> None:
        self._simulator.read_joint_positions(self._all)
        self._all.take(self._places, out=self.positions, mode="clip")
        self.measured_at = self.now

    @override
    def send(self, output: SafetyOutput) -> None:
        self._start = self._target if self._target[0] == self._target[0] else output.positions
        self._target = output.positions
        self._speed = output.joints.velocities
        self.extra[:] = 0.0
        for part, (stamp, efforts) in self._efforts.items():
            # A part that holds has no stamp here; one that follows a newer command, another one.
            if part not in output.holding and output.stamps.get(part) == stamp:
                self.extra[output.columns[part]] = efforts
        if self.mode == "position":
            self._commands[self._places] = output.positions
            self._simulator.set_joint_positions(self._commands)
        if self._drives:
            base = output.base
            self._simulator.set_base_velocity(base.linear_x, base.linear_y, base.angular_z)

    @override
    def odometry(self) -> tuple[float, float, float]:
        position, orientation = self._simulator.get_odometry()
        return float(position[0]), float(position[1]), float(quat_to_euler(orientation)[2])

    @override
    def close(self) -> None:
        if self._connected:
            self.halt()
        self._connected = False

    def halt(self) -> None:
        """Stop the base, as when nobody will call for a while."""
        if self._drives:
            self._simulator.set_base_velocity(0.0, 0.0, 0.0)

    def add_efforts(self, part: str, stamp: float, efforts: Array) -> None:
        """Add efforts to the command of a part in effort mode.

        Args:
            part: The part.
            stamp: Time stamp of the command in [s]; they act while the part follows that one.
            efforts: Efforts in [N m] or [N] in the part's order; they are bounded later on.
        """
        self._efforts[part] = (stamp, efforts)

    def set_mode(self, mode: str, gains: PidGains | None = None) -> None:
        """Drive the robot in another way from now on, without a jump.

        Args:
            mode: One of `MODES`.
            gains: The gains of effort mode; None keeps them. They change only if the mode can.

        Raises:
            UnknownNameError: There is no such mode.
            SimulationError: An actuator cannot change its mode.
        """
        if mode not in MODES:
            raise UnknownNameError("control mode", mode, MODES)
        self._simulator.set_control_mode(mode, self.joints)
        self._commands = self._simulator.get_joint_targets()
        self._pid = JointPid(gains or self._pid.gains)
        self._efforts.clear()
        self.extra[:] = 0.0
        self.mode = mode

    def restart(self) -> None:
        """Forget what was sent, as after a reset of the simulation."""
        self.set_mode(self.mode)
        self._target = np.full(len(self.joints), np.nan)

    def advance(self, now: float, steps: int, control: Callable[[], object]) -> None:
        """Let `steps` physics steps pass, and control the robot in the middle of the first.

        Args:
            now: Time of the measurement that control goes by in [s].
            steps: Number of physics steps.
            control: Reads the robot's state and sends commands.

        Raises:
            SimulationError: The simulation diverged.
        """
        self.now = now
        simulator = self._simulator
        if not self._has_halves:
            control()
            simulator.single_step(steps)
        elif self.mode == "position":
            simulator.step1()
            control()
            simulator.step2(steps)
        else:
            self._servo(steps, control)

    def _servo(self, steps: int, control: Callable[[], object]) -> None:
        """Take steps one by one, with a new command for each."""
        simulator = self._simulator
        for step in range(steps):
            simulator.step1()
            if step == 0:
                control()
            if self._target[0] == self._target[0]:
                share = (step + 1) / steps
                self._drive(self._start + share * (self._target - self._start))
            simulator.step2()

    def _drive(self, target: Array) -> None:
        simulator, places = self._simulator, self._places
        simulator.read_joint_positions(self._all)
        simulator.read_joint_velocities(self._rates)
        error = target - self._all[places]
        if self.mode == "velocity":
            wish = self._speed + VELOCITY_GAIN * error
            command = np.minimum(np.maximum(wish, -self._speed_limits), self._speed_limits)
        else:
            extra = np.minimum(np.maximum(self.extra, -self._extra_limits), self._extra_limits)
            rate = self._speed - self._rates[places]
            command = self._pid.update(error, rate, simulator.timestep, extra)
        simulator.set_joint_targets(self.joints, command)


def _has_halves(simulator: MuJoCoSimulator) -> bool:
    try:
        simulator.step1()
    except SimulationError:
        return False  # The integrator RK4 evaluates a step several times over.
    return True
