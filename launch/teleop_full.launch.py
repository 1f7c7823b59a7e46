# SPDX-License-Identifier: Apache-2.0
"""The controllers, for external devices and an external robot."""

from launch import LaunchDescription

from teleop_system.stacks.launch_description import stack_launch_description


def generate_launch_description() -> LaunchDescription:
    return stack_launch_description("teleop_full")
