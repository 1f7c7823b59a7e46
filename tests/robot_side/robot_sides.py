# SPDX-License-Identifier: Apache-2.0
"""A robot side with a robot made of plain slaves and a clock, for tests to drive."""

import functools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from teleop_system.interfaces import (
    ArmSide,
    IMobileBase,
    ISlaveArm,
    ISlaveHand,
    JointState,
    RobotSlaves,
    VelocityCommand,
)
from teleop_system.robot_side.drive import RobotDrive
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.safety import PartCommand, RobotParts, SafetyOutput
from tests.session.sessions import settings_with

PERIOD = 0.01
Array = NDArray[np.float64]


@functools.cache
def rby1() -> RobotDescription:
    return load_robot("rby1")


class IdealRobot:
    """A robot that reaches every command at once; a jammed one stays where it is."""

    def __init__(self, robot: RobotDescription) -> None:
        self.parts = RobotParts(robot)
        pose = robot.pose(robot.initial_pose)
        self.positions = np.array([pose[joint] for joint in self.parts.joints])
        self.velocity = (0.0, 0.0, 0.0)
        self.now = 0.0
        self.answers = True
        self.jammed = False
        self.lost: set[str] = set()
        """Parts whose slave has lost its connection."""

    def slaves(self) -> RobotSlaves:
        """Return plain slaves, as a third party would write them."""
        made: dict[str, ISlaveArm | ISlaveHand] = {
            name: IdealHand(self, name) if name.endswith("_hand") else IdealArm(self, name)
            for name in self.parts
        }
        return RobotSlaves(made, IdealBase(self))


class _IdealJoints:
    """What arms and hands have in common."""

    def __init__(self, robot: IdealRobot, part: str) -> None:
        self._robot, self._part = robot, robot.parts[part]
        self._connected = False

    def initialize(self) -> bool:
        self._connected = self._robot.answers and self._part.name not in self._robot.lost
        return self._connected

    def is_connected(self) -> bool:
        is_lost = self._part.name in self._robot.lost
        return self._connected and self._robot.answers and not is_lost

    def send_joint_command(self, joint_positions: Array) -> None:
        assert joint_positions.shape == (self.get_joint_count(),)
        if not self._robot.jammed:
            # Commands are in the order of the reported names.
            self._robot.positions[self._part.columns] = joint_positions[::-1]

    def get_joint_state(self) -> JointState:
        robot, part = self._robot, self._part
        # A driver may have an order of its own.
        positions = robot.positions[part.columns][::-1].copy()
        return JointState(positions, names=list(part.joints)[::-1], timestamp=robot.now)

    def get_joint_count(self) -> int:
        return len(self._part.joints)

    def shutdown(self) -> None:
        self._connected = False


class IdealArm(_IdealJoints, ISlaveArm):
    """An arm, the torso or the head."""

    @override
    def get_side(self) -> ArmSide:
        return ArmSide.TORSO


class IdealHand(_IdealJoints, ISlaveHand):
    """A hand."""

    @override
    def get_side(self) -> str:
        return "left"


class IdealBase(IMobileBase):
    """A base that reaches every velocity at once."""

    def __init__(self, robot: IdealRobot) -> None:
        self._robot = robot
        self._connected = False

    @override
    def initialize(self) -> bool:
        self._connected = True
        return True

    @override
    def send_velocity(self, linear_x: float, linear_y: float, angular_z: float) -> None:
        self._robot.velocity = (linear_x, linear_y, angular_z)

    @override
    def get_odometry(self) -> tuple[Array, Array]:
        return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])

    @override
    def stop(self) -> None:
        self._robot.velocity = (0.0, 0.0, 0.0)

    @override
    def is_connected(self) -> bool:
        return self._connected

    @override
    def shutdown(self) -> None:
        self._connected = False


class RobotSideRig:
    """Runs cycles of a robot side, with an operator who may move single joints."""

    def __init__(self, *overrides: str) -> None:
        self.robot = rby1()
        self.ideal = IdealRobot(self.robot)
        settings = settings_with(*overrides)
        self.parts = self.ideal.parts
        drive = RobotDrive(self.parts, *self.ideal.slaves())
        self.robot_side = RobotSide(self.robot, drive, settings.session, settings.safety)
        self.outputs: list[SafetyOutput] = []
        self.now = 50.0
        self.fresh = True
        self.silent = False
        self.offsets: dict[str, float] = {}
        self.velocity: float | None = None

    @property
    def state(self) -> EngagementState:
        return self.robot_side.status.state

    def cycle(self, **requests: bool) -> SafetyOutput | None:
        """Run one cycle with some requests."""
        self.now += PERIOD
        self.ideal.now = self.now
        commands = {} if self.silent else self._commands()
        base = None
        if self.velocity is not None and not self.silent:
            base = VelocityCommand(self.velocity, 0.0, 0.0, self.now)
        output = self.robot_side.step(
            self.now, commands, base, replace(Requests(), **requests), inputs_fresh=self.fresh
        )
        if output is not None:
            self.outputs.append(output)
        return output

    def run(self, seconds: float, **requests: bool) -> SafetyOutput | None:
        """Run cycles for a time in [s]; return the last output."""
        output = None
        for _ in range(round(seconds / PERIOD)):
            output = self.cycle(**requests)
        return output

    def run_until(self, state: EngagementState, longest: float = 10.0) -> None:
        """Run cycles until the engagement is in a state."""
        for _ in range(round(longest / PERIOD)):
            if self.state is state:
                return
            self.cycle()
        raise AssertionError(f"never {state.value}: {self.robot_side.status}")

    def engage(self) -> None:
        """Bring the robot under control."""
        self.run_until(EngagementState.READY)
        self.cycle(engage=True)
        assert self.state is EngagementState.ENGAGED, self.robot_side.status

    def position_of(self, joint: str) -> float:
        """Return the position of a joint of the robot [rad]."""
        return float(self.ideal.positions[self.parts.joints.index(joint)])

    def _commands(self) -> dict[str, PartCommand]:
        home = self.robot.pose(self.robot.initial_pose)
        return {
            name: PartCommand(
                [home[joint] + self.offsets.get(joint, 0.0) for joint in part.joints], self.now
            )
            for name, part in self.parts.items()
        }
