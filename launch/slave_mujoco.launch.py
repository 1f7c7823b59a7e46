# SPDX-License-Identifier: Apache-2.0
"""The robot in MuJoCo, for controllers on this machine or another."""

from launch import LaunchDescription

from teleop_system.stacks.launch_description import stack_launch_description


def generate_launch_description() -> LaunchDescription:
    return stack_launch_description("slave_mujoco")
