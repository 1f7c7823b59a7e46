# SPDX-License-Identifier: Apache-2.0
"""Where the commands of all parts lead: positions, their own motion, and where to aim.

A limiter that heads for the commanded position itself and plans to stop there lags behind by its
own braking time. It aims at the place where the *command* would come to rest instead: there it
has to stop, and until then it may keep up.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.runtime.safety.motion.motion_state import MotionState
from teleop_system.runtime.safety.motion.pursuit_kernels import pursue
from teleop_system.runtime.safety.motion.step import Step
from teleop_system.runtime.safety.motion.trajectories import Trajectories
from teleop_system.runtime.safety.parts import RobotParts

Array = NDArray[np.float64]

LONGEST_AHEAD = 0.05
"""A command's motion is taken to go on for its last interval, but never longer than this [s]."""
ROUNDING = 1e-7
"""Aims keep this much [rad] from position limits, as motions end to within a tenth of it."""


class Wishes:
    """The commanded motion of all joints.

    Args:
        parts: The joints and their limits.
        trajectories: How the joints brake.
        smoothing: Time constant of the estimated motion in [s].

    Attributes:
        positions: Positions last commanded, within the position limits [rad], shape (N,); as all
            arrays here it changes in place.
        beyond: How far outside the limits the command was [rad], shape (N,).
        is_beyond: Whether any was.
        behind: Sum of the squares of the distances of all that follow from their commands [rad^2].
        velocities: Estimated velocities of the commands in [rad/s], shape (N,).
        aims: Where each joint should come to rest [rad], within its limits, shape (N,).
        unclipped: Where the commands themselves would come to rest [rad], shape (N,).
    """

    def __init__(self, parts: RobotParts, trajectories: Trajectories, smoothing: float) -> None:
        self._trajectories = trajectories
        self._limits = trajectories.limits
        self._smoothing = smoothing
        self._lower, self._upper = parts.lower, parts.upper
        room = np.minimum(ROUNDING, 0.5 * (parts.upper - parts.lower))
        limits = (parts.lower, parts.upper, parts.velocity, parts.acceleration)
        self._ranges = np.stack([*limits, parts.lower + room, parts.upper - room])
        size = parts.size
        # One table for each kind of thing that the kernel reads or writes; names for its rows.
        self._motion, self._given, self._aims = (np.zeros((rows, size)) for rows in (3, 4, 3))
        self.positions, self.velocities, self._accelerations = self._motion
        self._raw, self._shares, self._rates, self._ahead = self._given
        self.unclipped, self.aims, self.beyond = self._aims
        self._shape = (5, size)
        # What was last written to the arrays, by where each part begins: most of it stays.
        self._intervals: dict[int, float] = {}
        self._extents: dict[int, float] = {}
        self.is_beyond = False
        self.behind = 0.0

    def start(self, columns: slice, positions: Array) -> None:
        """Take positions of some joints [rad] as commanded at rest."""
        self._raw[columns] = positions
        self.positions[columns] = np.clip(positions, self._lower[columns], self._upper[columns])
        self.velocities[columns] = 0.0
        self._accelerations[columns] = 0.0
        # A new start owes nothing to the past, not even the last bit of an interval.
        if columns.start is None:
            self._intervals.clear()
        else:
            self._intervals.pop(columns.start, None)
        self.pass_over(columns)
        self.extend(columns, 0.0)

    def take(self, columns: slice, positions: Array, interval: float) -> None:
        """Take new positions of some joints [rad], commanded `interval` [s] after the last."""
        self._raw[columns] = positions
        # A period is not the same to the last bit from cycle to cycle.
        if abs(self._intervals.get(columns.start, -1.0) - interval) > 1e-6:
            self._intervals[columns.start] = interval
            smoothing = self._smoothing
            share = -math.expm1(-interval / smoothing) if smoothing > 0.0 else 1.0
            self._shares[columns] = share
            self._rates[columns] = 1.0 / interval

    def pass_over(self, columns: slice) -> None:
        """Leave some joints as they are, for they have no new command."""
        if self._intervals.pop(columns.start, None) is not None:
            self._shares[columns] = 0.0
            self._rates[columns] = 0.0

    def extend(self, columns: slice, ahead: float) -> None:
        """Let the command's motion of some joints go on for `ahead` [s] past its last sample."""
        if self._extents.get(columns.start, 0.0) != ahead:
            self._extents[columns.start] = ahead
            self._ahead[columns] = ahead

    def pursue(self, step: Step, holding: NDArray[np.bool_]) -> tuple[MotionState, bool]:
        """Return the motion after a step in which joints follow, or brake and hold.

        Joints that were passed over have a share and a rate of zero: their estimated motion stays
        as it is.

        Args:
            step: The step.
            holding: Whether each joint brakes rather than follows, shape (N,).

        Returns:
            The motion, and whether a joint that holds still moves.
        """
        out = np.empty(self._shape)
        self.is_beyond, is_moving, self.behind = pursue(
            self._trajectories.way_to_rest(step.state),
            self._limits,
            self._given,
            self._ranges,
            self._motion,
            self._aims,
            holding,
            step.duration,
            out,
        )
        return MotionState(out), is_moving
