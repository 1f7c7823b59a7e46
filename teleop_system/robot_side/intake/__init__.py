# SPDX-License-Identifier: Apache-2.0
"""What the robot side receives: which commands count, and whether the operator is still present.

Nothing here reads a clock or knows messages; a node passes on what came, from whom and when.
"""

from teleop_system.robot_side.intake.clutch import ClutchMonitor
from teleop_system.robot_side.intake.command_intake import CommandIntake
from teleop_system.robot_side.intake.operator_modules import OperatorModules
from teleop_system.robot_side.intake.trajectory import Trajectory, TrajectoryPlayer
from teleop_system.robot_side.intake.velocity_integrator import VelocityIntegrator

__all__ = [
    "ClutchMonitor",
    "CommandIntake",
    "OperatorModules",
    "Trajectory",
    "TrajectoryPlayer",
    "VelocityIntegrator",
]
