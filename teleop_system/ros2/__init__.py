# SPDX-License-Identifier: Apache-2.0
"""What every ROS 2 node of ours shares: executor, fast messages, lifecycle, status.

The nodes themselves stand where their subject does: `modules/*/*_node.py` and
`simulators/mujoco_ros2_bridge.py`. Importing a module of this package needs rclpy, but `cdr`.
"""
