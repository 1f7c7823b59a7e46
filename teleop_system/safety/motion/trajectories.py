# SPDX-License-Identifier: Apache-2.0
"""Fastest motions of all joints within velocity, acceleration and jerk limits."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion import kernels
from teleop_system.safety.motion.motion_state import MotionState

Array = NDArray[np.float64]


class Trajectories:
    """Fastest motions of a number of joints, each for itself.

    Args:
        acceleration: Largest accelerations in [rad/s^2], shape (N,).
        jerk: Largest jerks in [rad/s^3], shape (N,).

    Attributes:
        limits: Both, and the largest speeds in [rad/s], which may change, shape (3, N).
    """

    def __init__(self, acceleration: Array, jerk: Array) -> None:
        self.limits = np.stack([acceleration, jerk, np.ones(acceleration.size)])
        self._speeds = self.limits[2]
        self._shape = (5, acceleration.size)

    def set_speeds(self, columns: slice, velocity: Array) -> None:
        """Set the largest speeds of some joints in [rad/s]."""
        self._speeds[columns] = velocity

    def rest(self, state: MotionState) -> Array:
        """Return where the joints come to rest if all brake [rad], shape (N,): a view."""
        rest: Array = self.way_to_rest(state)[3]
        return rest

    def braked(self, state: MotionState, step: float) -> MotionState:
        """Return the state after every joint has braked for one step of `step` [s]."""
        out = np.empty(self._shape)
        kernels.brake(state.table, self.limits, step, out)
        return MotionState(out)

    def braking_pose(self, state: MotionState, share: float) -> Array:
        """Return where the joints are on the way to rest [rad], after a part of its time."""
        out = np.empty(self._shape[1])
        kernels.braking_pose(state.table, self.limits, share, out)
        return out

    def way_to_rest(self, state: MotionState) -> Array:
        """Return the table of a state itself, with all of its rows filled in, shape (5, N)."""
        if not state.has_rest:
            kernels.find_rest(state.table, self.limits)
            state.has_rest = True
        return state.table
