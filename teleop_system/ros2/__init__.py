# SPDX-License-Identifier: Apache-2.0
"""What all nodes share: executor, message encoding, lifecycle, parameters, status.

The nodes themselves are in the packages of their subject: `modules/*/*_node.py`,
`simulators/mujoco_ros2_bridge.py`. The modules here need rclpy; only `cdr` does not.
"""
