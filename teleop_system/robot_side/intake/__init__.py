# SPDX-License-Identifier: Apache-2.0
"""What reaches a robot from others: whose commands count, and whether anybody is still there.

Nothing here reads a clock or knows messages; a node tells what came, from whom and when.
"""

from teleop_system.robot_side.intake.clutch import ClutchWatch
from teleop_system.robot_side.intake.command_intake import CommandIntake
from teleop_system.robot_side.intake.masters import MasterWatch
from teleop_system.robot_side.intake.trajectory import Trajectory, TrajectoryPlayer
from teleop_system.robot_side.intake.velocity_door import VelocityDoor

__all__ = [
    "ClutchWatch",
    "CommandIntake",
    "MasterWatch",
    "Trajectory",
    "TrajectoryPlayer",
    "VelocityDoor",
]
