# SPDX-License-Identifier: Apache-2.0
"""The `FollowJointTrajectory` action of every arm and torso, where `control_msgs` is installed."""

import asyncio
import functools
from typing import Any

import numpy as np

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.ros2.robot_side.tool_doors import ToolDoors, read_trajectory
from teleop_system.runtime.robot_core import RobotCore
from teleop_system.runtime.safety import Part

try:
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action.server import ActionServer, CancelResponse
except ImportError:
    FollowJointTrajectory = None

ACTION = "follow_joint_trajectory"
GOAL_TOLERANCE = 0.02
"""Distance from the last point that counts as there in [rad] or [m]."""


def open_actions(node: Any, core: RobotCore, doors: ToolDoors) -> bool:
    """Serve the action of every part that has a trajectory topic; False without control_msgs."""
    if FollowJointTrajectory is None:
        return False
    for name, topic in doors.topics.items():
        part = core.safety.parts[name]
        server = ActionServer(
            node,
            FollowJointTrajectory,
            node.topic(f"{topic.rpartition('/')[0]}/{ACTION}"),
            execute_callback=functools.partial(_execute, core, doors, part),
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        node.resources.callback(server.destroy)
    return True


async def _execute(core: RobotCore, doors: ToolDoors, part: Part, goal: Any) -> Any:
    """Play a goal until it ends, is cancelled, or the robot stops following."""
    result = FollowJointTrajectory.Result()
    try:
        trajectory = read_trajectory(part, goal.request.trajectory)
    except InvalidJointStateError as error:
        result.error_code, result.error_string = result.INVALID_GOAL, str(error)
        goal.abort()
        return result
    player = doors.play(part.name, trajectory, bytes(goal.goal_id.uuid))
    while player is not None and player.is_playing:
        if goal.is_cancel_requested:
            player.cancel()
            goal.canceled()
            return result
        await asyncio.sleep(0)  # Gives the executor its turn; it comes back with the next one.
    places = core.side.positions[part.columns]
    if player is not None and np.abs(places - trajectory.positions[-1]).max() <= GOAL_TOLERANCE:
        goal.succeed()
        return result
    result.error_code = result.GOAL_TOLERANCE_VIOLATED
    result.error_string = "the robot did not follow: see its causes on the status topic"
    goal.abort()
    return result
