# SPDX-License-Identifier: Apache-2.0
"""Robots: found in the models folders and described by plain values.

    robot = load_robot("rby1")
    robot.chains["right_arm"].joints

A folder with an MJCF file is a robot. A `robot.yaml` beside it states what the model lacks; the
rest is inferred.
"""

from teleop_system.robots.description import (
    Actuator,
    Base,
    Chain,
    Hand,
    Head,
    JointLimits,
    RobotDescription,
)
from teleop_system.robots.discovery import RobotSource, discover_robots, find_robot, load_robot
from teleop_system.robots.summary import RobotSummary, summarize_robot

__all__ = [
    "Actuator",
    "Base",
    "Chain",
    "Hand",
    "Head",
    "JointLimits",
    "RobotDescription",
    "RobotSource",
    "RobotSummary",
    "discover_robots",
    "find_robot",
    "load_robot",
    "summarize_robot",
]
