# SPDX-License-Identifier: Apache-2.0
"""Kernels that write joint commands to MuJoCo's control vector."""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@kernel("b1(f8[::1], i8[:, ::1], f8[:, ::1], f8[::1], f8[::1])")
def write_commands(
    values: Array, targets: Indices, limits: Array, commands: Array, control: Array
) -> bool:
    """Clamp commands and write them to the control vector.

    Args:
        values: A command for every joint, in the unit of its mode, shape (N,).
        targets: Commanded joints and their actuators, shape (2, K); actuator -1 means a servo
            that writes its control itself.
        limits: Smallest and largest command, scale and offset to the control, shape (4, N).
        commands: The active commands, shape (N,).
        control: MuJoCo's control vector, shape (nu,).

    Returns:
        False, with nothing written, if a value is not finite.
    """
    for joint in range(values.size):
        if not math.isfinite(values[joint]):
            return False
    for k in range(targets.shape[1]):
        joint, actuator = targets[0, k], targets[1, k]
        value = min(max(values[joint], limits[0, joint]), limits[1, joint])
        commands[joint] = value
        if actuator >= 0:
            control[actuator] = value * limits[2, joint] + limits[3, joint]
    return True


@kernel("b1(f8[::1], f8[::1], i8[::1], f8[:, ::1])")
def ramp(control: Array, start: Array, ramped: Indices, out: Array) -> bool:
    """Write the linear ramp of controls from their last values to the current ones.

    Args:
        control: Current values, shape (nu,).
        start: Values before, shape (nu,).
        ramped: Indices of the ramped controls; the others change at once.
        out: The control vector of every step, shape (S, nu).

    Returns:
        Whether any ramped control has changed.
    """
    steps = out.shape[0]
    for number in range(steps):
        for actuator in range(control.size):
            out[number, actuator] = control[actuator]
    moved = False
    for k in range(ramped.size):
        actuator = ramped[k]
        change = control[actuator] - start[actuator]
        if change != 0.0:
            moved = True
            share = change / steps
            # The last step already has the exact value; a sum could miss it by rounding.
            for number in range(1, steps):
                out[number - 1, actuator] = start[actuator] + share * number
    return moved
