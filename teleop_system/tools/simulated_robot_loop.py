# SPDX-License-Identifier: Apache-2.0
"""A simulated robot that runs in real time, for programs that show its camera."""

import dataclasses
import logging
import threading
import time
from types import TracebackType

import numpy as np

from teleop_system.exceptions import SimulationError
from teleop_system.interfaces import ISimulator
from teleop_system.robot_side.config import RobotSideConfig
from teleop_system.robot_side.drive import simulated_drive
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import RequestBox
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription
from teleop_system.safety import PartCommand, SafetyConfig
from teleop_system.safety.parts import HEAD
from teleop_system.simulators.simulated_robot import SimulatedRobot
from teleop_system.timing.pacing import Pacer

logger = logging.getLogger(__name__)


class SimulatedRobotLoop:
    """Physics and robot side in one thread; only the head takes commands.

    Args:
        robot: The robot.
        simulator: An initialised simulator of it; the caller shuts it down.
        config: Parameters of the robot side.
        safety_config: Parameters of the safety manager.
    """

    def __init__(
        self,
        robot: RobotDescription,
        simulator: ISimulator,
        config: RobotSideConfig,
        safety_config: SafetyConfig,
    ) -> None:
        head = robot.head
        self._head_joints = (head.pan, head.tilt) if head is not None else (None, None)
        self._simulated = SimulatedRobot(simulator)
        self._robot_side = RobotSide(
            robot,
            simulated_drive(robot, self._simulated),
            # Only the head moves here, so the self-test of the hands is off.
            dataclasses.replace(config, self_test=False),
            safety_config,
            operated=(HEAD,),
        )
        self._period = safety_config.period
        self._requests = RequestBox(auto_engage=True)
        self._command: PartCommand | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="robot", daemon=True)

    def __enter__(self) -> "SimulatedRobotLoop":
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join()
        self._robot_side.drive.close()

    def aim_head(self, pan: float, tilt: float) -> None:
        """Command the head to `pan` and `tilt` [rad]; it holds when commands stop."""
        pairs = zip((pan, tilt), self._head_joints, strict=True)
        angles = [angle for angle, joint in pairs if joint is not None]
        if angles:
            self._command = PartCommand(np.array(angles), time.monotonic())

    def _run(self) -> None:
        pacer = Pacer(self._period)
        while not self._stopping.wait(0.5 * self._period):
            now = time.monotonic()
            cycles = pacer.owed(now)
            try:
                if cycles:
                    self._cycle(now, cycles * self._period)
            except SimulationError as error:
                logger.error("the simulation has ended: %s", error)
                return

    def _cycle(self, now: float, dt: float) -> None:
        command, robot_side = self._command, self._robot_side
        self._simulated.advance(now, dt)
        limit = robot_side.config.input_age
        is_fresh = command is not None and now - command.timestamp <= limit
        is_ready = robot_side.status.state is EngagementState.READY and is_fresh
        requests = self._requests.take(ready=is_ready)
        commands = {} if command is None else {HEAD: command}
        robot_side.step(now, commands, None, requests, inputs_fresh=is_fresh)
