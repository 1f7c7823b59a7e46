# SPDX-License-Identifier: Apache-2.0
"""Builds a session from settings: finds, checks and connects every part named there."""

import logging
from collections.abc import Iterator
from pathlib import Path

from teleop_system import registry
from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import ISimulator, RobotSlaves
from teleop_system.modules import MODULES
from teleop_system.robot_side.drive import RobotDrive, simulated_drive
from teleop_system.robot_side.robot_side import RobotSide
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.safety import RobotParts
from teleop_system.session.arm_module import ArmModule, solver_for
from teleop_system.session.modules import (
    CameraModule,
    HandModule,
    LocomotionModule,
    TeleopModule,
)
from teleop_system.session.recorder import SessionRecorder
from teleop_system.session.session import SessionClock, TeleopSession
from teleop_system.session.signals import ISignalSource, SignalHub, SignalPlan, plan_signals
from teleop_system.session.signals.needs import signal_needs
from teleop_system.settings import TeleopSettings
from teleop_system.simulators.factory import create_simulator
from teleop_system.simulators.simulated_robot import SimulatedRobot

logger = logging.getLogger(__name__)


def build_session(
    settings: TeleopSettings,
    *,
    simulator: ISimulator | None = None,
    source: ISignalSource | None = None,
    events: Path | None = None,
) -> TeleopSession:
    """Return a session that is ready to start.

    Args:
        settings: The settings of the session.
        simulator: The initialised simulator to drive, needed in simulation mode; the caller
            shuts it down.
        source: The operator's samples; None uses the devices of the settings.
        events: File for the events, or None.

    Raises:
        TeleopError: The settings name something that does not exist or does not fit.
    """
    robot = load_robot(settings.robot.name)
    chosen = _chosen(settings, robot)
    plan = _plan(settings, robot, chosen)
    if source is None:
        plan.require()
    clock = SessionClock()
    config = settings.session
    simulated = _simulated_robot(settings, simulator)
    parts = RobotParts(robot)
    modules = [make_module(name, settings, robot, parts) for name in chosen]
    robot_side = RobotSide(
        robot,
        simulated_drive(robot, simulated) if simulated else _hardware_drive(settings, robot),
        config,
        settings.safety,
        initial_pose=settings.robot.initial_pose,
        operated=[part for module in modules for part in module.parts],
    )
    recorder = None
    if config.record:
        recorder = SessionRecorder(
            parts.joints,
            [chain for module in modules for chain in module.chains],
            (*plan.measured, *(derivation.signal for derivation in plan.derived)),
            events=events,
            limit=int(config.record_minutes * 60.0 * settings.safety.rate),
        )
    return TeleopSession(
        config,
        robot_side,
        source or SignalHub(plan, settings.hardware, clock),
        modules,
        plan,
        simulated=simulated,
        rate=settings.safety.rate,
        clock=clock,
        recorder=recorder,
    )


def make_module(
    name: str, settings: TeleopSettings, robot: RobotDescription, parts: RobotParts
) -> TeleopModule:
    """Return one of `MODULES` with its settings.

    Raises:
        TeleopError: The robot has no parts for it, or the settings do not fit.
    """
    if name not in _possible(robot):
        raise ConfigError(f"robot {robot.name!r} has no parts for the module {name!r}")
    if name == "arm":
        return ArmModule(robot, parts, settings.arm, solver_for(robot, settings.solver))
    if name == "hand":
        return HandModule(robot, settings.hand)
    if name == "camera":
        return CameraModule(robot, settings.camera.within(robot))
    assert robot.base is not None
    return LocomotionModule(settings.locomotion.within(robot.base))


def is_time_simulated(settings: TeleopSettings, session: TeleopSession) -> bool:
    """Tell whether a session runs in simulated time, not in wall time.

    Raises:
        ConfigError: Simulated time is set, but a robot or a device keeps its own time.
    """
    setting = settings.session.time
    possible = settings.session.mode == "simulation" and session.follows_clock
    if setting == "simulated" and not possible:
        raise ConfigError(
            "session.time cannot be 'simulated': the robot or a device keeps its own time; "
            "valid choices: auto, wall"
        )
    return possible and setting != "wall"


def make_simulator(settings: TeleopSettings) -> ISimulator:
    """Return the simulator of the settings with its robot in it; the caller shuts it down.

    Raises:
        TeleopError: The robot, its pose or the scene does not exist, or a library is missing.
    """
    return create_simulator(
        load_robot(settings.robot.name),
        settings.simulation,
        pose=settings.robot.initial_pose,
        scene=settings.robot.scene,
    )


def _plan(settings: TeleopSettings, robot: RobotDescription, modules: list[str]) -> SignalPlan:
    tips = settings.hand.retargeter == "fingertips"
    needs = signal_needs(robot, modules, finger_tips=tips)
    return plan_signals(needs, settings.hardware.measured)


def _chosen(settings: TeleopSettings, robot: RobotDescription) -> list[str]:
    """Return the modules to run: those of the settings that the robot has parts for."""
    possible = set(_possible(robot))
    wanted = [name for name in MODULES if name in settings.session.modules]
    chosen = [name for name in wanted if name in possible]
    if not chosen:
        raise ConfigError(
            f"robot {robot.name!r} has no parts for the modules {', '.join(wanted)}; "
            f"it could run: {', '.join(sorted(possible)) or 'none'}"
        )
    for name in wanted:
        if name not in possible:
            logger.info("module %s is left out: the robot has no parts for it", name)
    return chosen


def _possible(robot: RobotDescription) -> Iterator[str]:
    if any(chain.kind in ("arm", "torso") for chain in robot.chains.values()):
        yield "arm"
    if any(hand.side is not None for hand in robot.hands.values()):
        yield "hand"
    if robot.base is not None and robot.base.kind == "differential":
        yield "locomotion"
    if robot.head is not None and robot.head.pan and robot.head.tilt:
        yield "camera"


def _simulated_robot(
    settings: TeleopSettings, simulator: ISimulator | None
) -> SimulatedRobot | None:
    """Return the simulated robot of a session; None with real hardware."""
    if settings.session.mode == "hardware":
        return None
    if simulator is None:
        raise ConfigError("session.mode 'simulation' needs a simulator")
    return SimulatedRobot(simulator)


def _hardware_drive(settings: TeleopSettings, robot: RobotDescription) -> RobotDrive:
    name, known = settings.hardware.robot, registry.names("robot_side")
    if name is None:
        listed = ", ".join(known) or "none is installed"
        raise ConfigError(
            f"session.mode 'hardware' needs drivers for robot {robot.name!r}: set hardware.robot "
            f"to a registered one ({listed}); session.mode=simulation needs none"
        )
    slaves: RobotSlaves = registry.create("robot_side", name, robot)
    return RobotDrive(RobotParts(robot), *slaves)
