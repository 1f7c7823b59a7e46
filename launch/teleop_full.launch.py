# SPDX-License-Identifier: Apache-2.0
"""The controllers for real devices and a real robot, which are started elsewhere."""

from launch import LaunchDescription

from teleop_system.stacks.launch_description import stack_launch_description


def generate_launch_description() -> LaunchDescription:
    return stack_launch_description("teleop_full")
