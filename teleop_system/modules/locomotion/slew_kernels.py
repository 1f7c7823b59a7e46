# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of `BaseSlew`."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.velocity_kernels import approach_velocity
from teleop_system.utils.compiled import kernel

Array = NDArray[np.float64]
Axes = NDArray[np.void]

AXIS = np.dtype(
    [
        ("max_acceleration", np.float64),
        ("jerk", np.float64),
        ("braking", np.float64),
        ("braking_jerk", np.float64),
        ("velocity", np.float64),
        ("acceleration", np.float64),
        ("share", np.float64),
    ],
    align=True,
)
"""One axis of a base: its largest acceleration, were it alone, and jerk; deceleration and jerk of
an urgent stop; its velocity and acceleration; and its share of the wheels' acceleration."""


@kernel("void(AXIS[::1], f8[::1], f8, f8)")
def follow_axes(axes: Axes, requested: Array, share_rate: float, step: float) -> None:
    """Advance the velocities of all axes by one step towards the requested ones.

    Args:
        axes: The axes, shape (N,); updated.
        requested: Requested velocities [m/s] or [rad/s], shape (N,).
        share_rate: Largest change of a share [1/s].
        step: Duration of the step in [s].
    """
    total = 0.0
    for n in range(axes.size):
        total += abs(requested[n] - axes[n]["velocity"]) / axes[n]["max_acceleration"]
    if total > 0.0:
        largest = 0.0
        for n in range(axes.size):
            axis = axes[n]
            need = abs(requested[n] - axis["velocity"]) / axis["max_acceleration"]
            largest = max(largest, abs(need / total - axis["share"]))
        # One factor for all, so that the shares still add up to one.
        factor = min(1.0, share_rate * step / largest) if largest > 0.0 else 0.0
        for n in range(axes.size):
            axis = axes[n]
            need = abs(requested[n] - axis["velocity"]) / axis["max_acceleration"]
            axis["share"] += factor * (need / total - axis["share"])
    for n in range(axes.size):
        axis = axes[n]
        axis["velocity"], axis["acceleration"] = approach_velocity(
            axis["velocity"],
            axis["acceleration"],
            requested[n],
            axis["share"] * axis["max_acceleration"],
            axis["jerk"],
            step,
        )


@kernel("void(AXIS[::1], f8)")
def brake_axes(axes: Axes, step: float) -> None:
    """Brake all axes for one step of `step` [s]."""
    for n in range(axes.size):
        axis = axes[n]
        axis["velocity"], axis["acceleration"] = approach_velocity(
            axis["velocity"],
            axis["acceleration"],
            0.0,
            axis["braking"],
            axis["braking_jerk"],
            step,
        )
