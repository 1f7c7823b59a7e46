# SPDX-License-Identifier: Apache-2.0
"""Robot hands only; robot and devices are simulated unless external."""

from launch import LaunchDescription

from teleop_system.stacks.launch_description import stack_launch_description


def generate_launch_description() -> LaunchDescription:
    return stack_launch_description("hand_only")
