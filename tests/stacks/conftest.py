# SPDX-License-Identifier: Apache-2.0
"""Descriptions of stacks need no ROS 2; tests that start nodes do."""

from teleop_system.utils.ros2_helpers import is_ros_available

NEEDS_ROS = ["test_options_at_nodes.py", "test_running_stack.py", "supervisor/test_supervisor.py"]

collect_ignore = [] if is_ros_available() else NEEDS_ROS
