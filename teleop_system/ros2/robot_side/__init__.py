# SPDX-License-Identifier: Apache-2.0
"""The robot's side of the ROS 2 wiring: commands in, services and status out.

A node that owns a robot, simulated or real, makes a `RobotSide` and calls its `cycle` once a
period; whatever comes over topics ends in its `RobotCore`, and so at the safety manager.
"""

from teleop_system.ros2.robot_side.robot_side import RobotSide

__all__ = ["RobotSide"]
