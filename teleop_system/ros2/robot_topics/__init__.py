# SPDX-License-Identifier: Apache-2.0
"""The robot side on ROS 2: commands in, services and status out.

A node that owns a robot, simulated or real, makes a `RobotTopics` and calls its `cycle` once per
period. Every message ends in the node's `RobotSide`, and so at the safety manager.
"""

from teleop_system.ros2.robot_topics.robot_topics import RobotTopics

__all__ = ["RobotTopics"]
