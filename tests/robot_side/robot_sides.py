# SPDX-License-Identifier: Apache-2.0
"""A robot core with a simple robot and a clock, for tests to drive."""

import functools
from dataclasses import replace

import numpy as np
from typing_extensions import override

from teleop_system.interfaces import VelocityCommand
from teleop_system.robot_side.drive import IRobotSide
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import Requests
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.safety import PartCommand, RobotParts, SafetyOutput
from tests.session.sessions import settings_with

PERIOD = 0.01


@functools.cache
def rby1() -> RobotDescription:
    return load_robot("rby1")


class ObedientRobot(IRobotSide):
    """A robot that is where it was told to be; a jammed one stays where it is."""

    def __init__(self, robot: RobotDescription) -> None:
        parts = RobotParts(robot)
        pose = robot.pose(robot.initial_pose)
        self.joints = parts.joints
        self.place = np.array([pose[joint] for joint in parts.joints])
        self.positions = np.full(parts.size, np.nan)
        self.measured_at = -np.inf
        self.now = 0.0
        self.sent: list[SafetyOutput] = []
        self.connected = False
        self.answers = True
        self.jammed = False

    @override
    def connect(self) -> bool:
        self.connected = self.answers
        return self.connected

    @override
    def is_connected(self) -> bool:
        return self.connected and self.answers

    @override
    def measure(self) -> None:
        self.positions[:] = self.place
        self.measured_at = self.now

    @override
    def send(self, output: SafetyOutput) -> None:
        self.sent.append(output)
        if not self.jammed:
            self.place = output.positions.copy()

    @override
    def odometry(self) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    @override
    def close(self) -> None:
        self.connected = False


class CoreRig:
    """Runs cycle after cycle of a core, with an operator who may move single joints."""

    def __init__(self, *overrides: str) -> None:
        self.robot = rby1()
        self.side = ObedientRobot(self.robot)
        settings = settings_with(*overrides)
        self.core = RobotSide.build(self.robot, self.side, settings.session, settings.safety)
        self.parts = self.core.safety.parts
        self.now = 50.0
        self.fresh = True
        self.silent = False
        self.offsets: dict[str, float] = {}
        self.velocity: float | None = None

    @property
    def state(self) -> EngagementState:
        return self.core.status.state

    def cycle(self, **asked: bool) -> SafetyOutput | None:
        """Run one cycle with something asked for."""
        self.now += PERIOD
        self.side.now = self.now
        commands = {} if self.silent else self._commands()
        base = None
        if self.velocity is not None and not self.silent:
            base = VelocityCommand(self.velocity, 0.0, 0.0, self.now)
        requests = replace(Requests(), **asked)
        return self.core.step(self.now, commands, base, requests, inputs_fresh=self.fresh)

    def run(self, seconds: float, **asked: bool) -> SafetyOutput | None:
        """Run cycles for a time in [s]; return the last output."""
        output = None
        for _ in range(round(seconds / PERIOD)):
            output = self.cycle(**asked)
        return output

    def run_until(self, state: EngagementState, longest: float = 10.0) -> None:
        """Run cycles until the engagement is in a state."""
        for _ in range(round(longest / PERIOD)):
            if self.state is state:
                return
            self.cycle()
        raise AssertionError(f"never {state.value}: {self.core.status}")

    def engage(self) -> None:
        """Bring the robot under control."""
        self.run_until(EngagementState.READY)
        self.cycle(engage=True)
        assert self.state is EngagementState.ENGAGED, self.core.status

    def place_of(self, joint: str) -> float:
        """Return where a joint of the robot is [rad]."""
        return float(self.side.place[self.parts.joints.index(joint)])

    def _commands(self) -> dict[str, PartCommand]:
        home = self.robot.pose(self.robot.initial_pose)
        return {
            name: PartCommand(
                [home[joint] + self.offsets.get(joint, 0.0) for joint in part.joints], self.now
            )
            for name, part in self.parts.items()
        }
