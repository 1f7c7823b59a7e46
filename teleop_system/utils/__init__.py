# SPDX-License-Identifier: Apache-2.0
"""Helpers for every layer: transforms, configuration, logging and topic names.

Nothing here depends on a robot, a device or a solver. Only `ros2_helpers` and `ros2_spinning` use
ROS 2, and they import it on the first call. Import from the modules themselves.
"""
