# SPDX-License-Identifier: Apache-2.0
"""Simulates a robot in one of its named poses."""

from typing import Any

from teleop_system.robots import RobotDescription
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator


def simulate_robot(
    robot: RobotDescription, pose: str | None = None, scene: str | None = "auto"
) -> MuJoCoSimulator:
    """Return a simulation of a robot; the caller shuts it down.

    Args:
        robot: The robot.
        pose: Named initial pose; None for the robot's own.
        scene: Surroundings as `MuJoCoConfig.scene` takes them.

    Raises:
        UnknownNameError: The pose or scene does not exist.
        ModelError: The model is missing or broken.
    """
    name = pose or robot.initial_pose
    positions = robot.pose(name)
    driven = robot.base is not None and robot.base.kind == "differential"
    config: dict[str, Any] = {
        "mjcf_path": str(robot.mjcf),
        "scene": scene,
        "base": robot.base if driven else None,
    }
    simulator = MuJoCoSimulator()
    simulator.initialize(config)
    # A keyframe also sets joints without a motor, such as the second finger of a gripper, and is
    # the only way to set joints that a tendon moves.
    keyframes = [simulator.model.key(index).name for index in range(simulator.model.nkey)]
    commanded = set(simulator.get_joint_names())
    config["keyframe"] = name if name in keyframes else None
    config["initial_pose"] = {joint: q for joint, q in positions.items() if joint in commanded}
    simulator.initialize(config)
    return simulator
