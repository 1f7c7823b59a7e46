# SPDX-License-Identifier: Apache-2.0
"""What every layer may use: transforms, configuration, logging and the names of topics.

Nothing here knows a robot, a device or a solver; `ros2_helpers` alone touches ROS 2, and only
when a QoS profile is asked for. Import from the modules themselves.
"""
