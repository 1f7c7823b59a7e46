# SPDX-License-Identifier: Apache-2.0
"""The robot's side of the ROS 2 wiring: commands in, services and status out.

A node that owns a robot, simulated or real, makes a `RobotTopics` and calls its `cycle` once a
period; whatever comes over topics ends in its `RobotSide`, and so at the safety manager.
"""

from teleop_system.ros2.robot_topics.robot_topics import RobotTopics

__all__ = ["RobotTopics"]
