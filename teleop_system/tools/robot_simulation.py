# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo, standing in one of its named poses."""

from typing import Any

from teleop_system.robots import RobotDescription
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator


def simulate_robot(
    robot: RobotDescription, pose: str | None = None, scene: str | None = "auto"
) -> MuJoCoSimulator:
    """Return a simulation of a robot that is yours to shut down.

    Args:
        robot: The robot.
        pose: Named pose to begin in; None for the one it starts in.
        scene: Surroundings as `MuJoCoConfig.scene` takes them.

    Raises:
        UnknownNameError: There is no such pose or scene.
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
    # A keyframe also places what no motor moves, such as the second finger of a gripper; and
    # joints that are pulled by a tendon can be placed in no other way.
    keyframes = [simulator.model.key(index).name for index in range(simulator.model.nkey)]
    known = set(simulator.get_joint_names())
    config["keyframe"] = name if name in keyframes else None
    config["initial_pose"] = {joint: q for joint, q in positions.items() if joint in known}
    simulator.initialize(config)
    return simulator
