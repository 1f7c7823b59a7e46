# SPDX-License-Identifier: Apache-2.0
"""Operators at a controller, tick by tick."""

from teleop_system.modules.locomotion.locomotion_controller import (
    LocomotionController,
    LocomotionOutput,
)
from tests.modules.locomotion.operators import Operator

DT = 0.02


def drive(
    controller: LocomotionController, operator: Operator, start: float, stop: float
) -> list[LocomotionOutput]:
    """Return the output of every tick from `start` to `stop` [s] of an operator."""
    ticks = range(round(start / DT) + 1, round(stop / DT) + 1)
    return [
        controller.update(*operator(tick * DT).poses(tick * DT), now=tick * DT, dt=DT)
        for tick in ticks
    ]


def is_zero(output: LocomotionOutput) -> bool:
    """Return whether the base must stand."""
    command = output.command
    return (command.linear_x, command.linear_y, command.angular_z) == (0.0, 0.0, 0.0)
