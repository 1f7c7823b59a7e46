# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo that follows a simulated operator: the first thing to see."""

from teleop_system.tools.demo.follow import FollowLoop, FollowReport
from teleop_system.tools.demo.show import DemoResult, run_demo

__all__ = ["DemoResult", "FollowLoop", "FollowReport", "run_demo"]
