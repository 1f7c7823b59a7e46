# SPDX-License-Identifier: Apache-2.0
"""Everything simulated: robot, operator and all controllers."""

from launch import LaunchDescription

from teleop_system.stacks.launch_description import stack_launch_description


def generate_launch_description() -> LaunchDescription:
    return stack_launch_description("teleop_sim_full")
