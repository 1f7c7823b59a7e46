# SPDX-License-Identifier: Apache-2.0
"""A safety manager with a robot, a clock and an operator, for tests to drive."""

import functools
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Cause, Rule
from teleop_system.robots import load_robot
from teleop_system.robots.description import RobotDescription
from teleop_system.safety import PartCommand, SafetyConfig, SafetyManager, SafetyOutput

Array = NDArray[np.float64]


@functools.cache
def robot_named(name: str) -> RobotDescription:
    return load_robot(name)


class Rig:
    """Runs cycle after cycle and keeps the outputs."""

    def __init__(
        self,
        robot: RobotDescription | str = "rby1",
        config: SafetyConfig | None = None,
        pose: Mapping[str, float] | str = "ready",
    ) -> None:
        self.robot = robot_named(robot) if isinstance(robot, str) else robot
        self.config = config or SafetyConfig()
        self.manager = SafetyManager(self.robot, self.config)
        self.names = self.manager.parts.joints
        full = dict(self.robot.pose(pose if isinstance(pose, str) else self.robot.initial_pose))
        if not isinstance(pose, str):
            full.update(pose)
        self.start = np.array([full[name] for name in self.names])
        self.manager.reset(full)
        self.target = self.start.copy()
        self.parts = dict(self.manager.parts)
        self.engaged: set[str] = {*self.parts, "base"}
        self.silent: set[str] = set()
        self.velocity: tuple[float, float] | None = None
        self.estop = False
        self.now = 100.0
        self.nows: list[float] = []
        self.outputs: list[SafetyOutput] = []

    def column(self, joint: str) -> int:
        return self.names.index(joint)

    def aim(self, **positions: float) -> None:
        """Command other positions of some joints from now on [rad]."""
        for joint, position in positions.items():
            self.target[self.column(joint)] = position

    def cycle(
        self, elapsed: float | None = None, replace: Mapping[str, PartCommand] | None = None
    ) -> SafetyOutput:
        """Run one cycle, `elapsed` [s] after the last, with some commands replaced."""
        self.now += self.config.period if elapsed is None else elapsed
        commands = {
            name: PartCommand(self.target[part.columns].copy(), self.now)
            for name, part in self.parts.items()
            if name not in self.silent
        }
        commands.update(replace or {})
        base = None
        if self.velocity is not None and "base" not in self.silent:
            base = VelocityCommand(self.velocity[0], 0.0, self.velocity[1], self.now)
        output = self.manager.update(
            commands, base, now=self.now, engaged=frozenset(self.engaged), estop=self.estop
        )
        self.nows.append(self.now)
        self.outputs.append(output)
        return output

    def run(self, seconds: float) -> SafetyOutput:
        """Run cycles for a time in [s]; return the last."""
        for _ in range(round(seconds / self.config.period)):
            output = self.cycle()
        return output

    @property
    def positions(self) -> Array:
        """All output positions, one row per cycle, the start first."""
        return np.array([self.start, *(output.positions for output in self.outputs)])

    def positions_of_last(self, count: int) -> list[Array]:
        """Return the positions of the last cycles."""
        return [output.positions for output in self.outputs[-count:]]


def causes_of(output: SafetyOutput, rule: Rule) -> list[Cause]:
    return [cause for cause in output.causes if cause.rule is rule]


def subjects_of(output: SafetyOutput, rule: Rule) -> Collection[str]:
    return {cause.subject for cause in causes_of(output, rule)}
