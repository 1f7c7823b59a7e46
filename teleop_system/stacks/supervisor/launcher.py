# SPDX-License-Identifier: Apache-2.0
"""The one call behind `teleop launch` and `scripts/launch_*.py`."""

from typing import TYPE_CHECKING

from rich.console import Console

from teleop_system.exceptions import MissingExtraError
from teleop_system.stacks.supervisor.display import make_display
from teleop_system.utils.ros2_helpers import is_ros_available

if TYPE_CHECKING:
    from teleop_system.stacks.plan import StackPlan


def launch(
    plan: "StackPlan", console: Console, *, compose: bool = False, duration: float | None = None
) -> int:
    """Run a stack until it ends, and return the exit code.

    Raises:
        MissingExtraError: If there is no ROS 2.
        ConfigError: If its nodes run already.
    """
    if not is_ros_available():
        raise MissingExtraError("rclpy (or a sourced ROS 2)", "ros")
    from teleop_system.stacks.supervisor.supervisor import RunOptions, Supervisor

    options = RunOptions(compose=compose, duration=duration)
    return Supervisor(plan, make_display(console), options).run()
