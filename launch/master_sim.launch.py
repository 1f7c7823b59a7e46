# SPDX-License-Identifier: Apache-2.0
"""A simulated operator and all controllers, for a robot on another machine."""

from launch import LaunchDescription

from teleop_system.stacks.launch_description import stack_launch_description


def generate_launch_description() -> LaunchDescription:
    return stack_launch_description("master_sim")
