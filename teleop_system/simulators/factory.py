# SPDX-License-Identifier: Apache-2.0
"""Creates the simulator of a robot."""

from teleop_system import registry
from teleop_system.exceptions import MissingExtraError
from teleop_system.interfaces import ISimulator
from teleop_system.robots import RobotDescription
from teleop_system.simulators.config import AUTO_SCENE, SimulationSettings


def create_simulator(
    robot: RobotDescription,
    settings: SimulationSettings,
    *,
    pose: str | None = None,
    scene: str | None = AUTO_SCENE,
) -> ISimulator:
    """Return an initialised simulator with a robot in it; the caller shuts it down.

    Args:
        robot: The robot.
        settings: Settings of the simulator.
        pose: Named initial pose; None for that of the robot.
        scene: Surroundings, as `MuJoCoConfig.scene` takes them.

    Raises:
        TeleopError: The pose, the scene or the simulator does not exist, or a library is missing.
    """
    has_wheels = robot.base is not None and robot.base.kind == "differential"
    simulator: ISimulator = registry.create("simulator", settings.name)
    config = {
        "mjcf_path": str(robot.mjcf),
        "timestep": settings.timestep,
        "scene": scene,
        "initial_pose": dict(robot.pose(pose or robot.initial_pose)),
        "seed": settings.seed,
        "base": robot.base if has_wheels else None,
        "render": settings.render,
        "width": settings.width,
        "height": settings.height,
    }
    if not simulator.initialize(config):
        raise MissingExtraError(f"the simulator {settings.name!r}", "sim")
    return simulator
