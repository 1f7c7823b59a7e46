# SPDX-License-Identifier: Apache-2.0
"""Where the commands of all parts lead: positions, their own motion, and where to aim.

A limiter that heads for the commanded position itself and plans to stop there lags behind by its
own braking time. It aims at the place where the *command* would come to rest instead: there it
has to stop, and until then it may keep up.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.motion_state import MotionState
from teleop_system.safety.motion.pursuit_kernels import (
    AIMS,
    COMMANDED,
    GIVEN,
    RANGES,
    WISHES,
    pursue,
)
from teleop_system.safety.motion.step import Step
from teleop_system.safety.motion.trajectories import Trajectories
from teleop_system.safety.parts import RobotParts

Array = NDArray[np.float64]

LONGEST_AHEAD = 0.05
"""A command's motion is taken to go on for its last interval, but never longer than this [s]."""
LONGEST_INTERVAL = 0.1
"""Commands are taken to come no further apart than this [s], however long one was missing."""
SAME_INTERVAL = 1e-6
"""A period is not the same to the last bit from cycle to cycle, but to within this [s]."""
ROUNDING = 1e-7
"""Aims keep this much [rad] from position limits, as motions end to within a tenth of it."""
NONE = -1.0
"""In place of an interval where there is no new command."""


class PartWishes:
    """The commanded motion of one part's joints, in its columns of the tables of all.

    Args:
        given: What the kernel is given: positions, shares, rates and times ahead, shape (4, n).
        motion: The estimated motion, shape (3, n).
        limits: Lowest and highest positions in [rad], shape (2, n).
        smoothing: Time constant of the estimated motion in [s].
        least_interval: Commands are taken to come no closer than this in [s].
    """

    __slots__ = (
        "_ahead",
        "_extent",
        "_interval",
        "_least",
        "_limits",
        "_motion",
        "_rates",
        "_raw",
        "_shares",
        "_smoothing",
    )

    def __init__(
        self, given: Array, motion: Array, limits: Array, smoothing: float, least_interval: float
    ) -> None:
        self._raw, self._shares, self._rates, self._ahead = given
        self._motion = motion
        self._limits = limits
        self._smoothing = smoothing
        self._least = least_interval
        # What was last written to the tables: most of it stays from cycle to cycle.
        self._interval = NONE
        self._extent = 0.0

    @property
    def positions(self) -> Array:
        """Positions last commanded, within the position limits [rad], shape (n,)."""
        positions: Array = self._motion[0]
        return positions

    def start(self, positions: Array) -> None:
        """Take positions [rad] as commanded at rest."""
        self._raw[:] = positions
        self._motion[:] = 0.0
        self._motion[0] = np.clip(positions, *self._limits)
        # A new start owes nothing to the past, not even the last bit of an interval.
        self.pass_over()
        self.extend(0.0)

    def take(self, positions: Array, interval: float) -> None:
        """Take new positions [rad], commanded `interval` [s] after the last."""
        self._raw[...] = positions  # Quicker than a slice.
        if self._extent != 0.0:
            self.extend(0.0)
        if abs(self._interval - interval) > SAME_INTERVAL:
            self._interval = interval
            interval = min(max(interval, self._least), LONGEST_INTERVAL)
            smoothing = self._smoothing
            self._shares[:] = -math.expm1(-interval / smoothing) if smoothing > 0.0 else 1.0
            self._rates[:] = 1.0 / interval

    def pass_over(self) -> None:
        """Leave the joints as they are, for they have no new command."""
        if self._interval != NONE:
            self._interval = NONE
            self._shares[:] = 0.0
            self._rates[:] = 0.0

    def extend(self, ahead: float) -> None:
        """Let the command's motion go on for `ahead` [s] past its last sample."""
        if self._extent != ahead:
            self._extent = ahead
            self._ahead[:] = ahead


class Wishes:
    """The commanded motion of all joints.

    Args:
        parts: The joints and their limits.
        trajectories: How the joints brake.
        smoothing: Time constant of the estimated motion in [s].
        least_interval: Commands are taken to come no closer than this in [s].

    Attributes:
        parts: The joints part by part.
        positions: Positions last commanded, within the position limits [rad], shape (N,); as all
            arrays here it changes in place.
        beyond: How far outside the limits the command was [rad], shape (N,).
        is_beyond: Whether any was.
        behind: Sum of the squares of the distances of all that follow from their commands [rad^2].
        velocities: Estimated velocities of the commands in [rad/s], shape (N,).
        aims: Where each joint should come to rest [rad], within its limits, shape (N,).
        unclipped: Where the commands themselves would come to rest [rad], shape (N,).
    """

    def __init__(
        self,
        parts: RobotParts,
        trajectories: Trajectories,
        smoothing: float,
        least_interval: float,
    ) -> None:
        self._trajectories = trajectories
        self._limits = trajectories.limits
        room = np.minimum(ROUNDING, 0.5 * (parts.upper - parts.lower))
        limits = (parts.lower, parts.upper, parts.velocity, parts.acceleration)
        # One table for all that the kernel reads and writes; names for its rows.
        self._table = table = np.zeros((COMMANDED, parts.size))
        given, ranges, motion = table[GIVEN:RANGES], table[RANGES:WISHES], table[WISHES:AIMS]
        ranges[:] = [*limits, parts.lower + room, parts.upper - room]
        self.positions, self.velocities = motion[:2]
        self.unclipped, self.aims, self.beyond = table[AIMS:]
        self._shape = (5, parts.size)
        self.parts = {
            name: PartWishes(
                given[:, part.columns],
                motion[:, part.columns],
                ranges[:2, part.columns],
                smoothing,
                least_interval,
            )
            for name, part in parts.items()
        }
        self.is_beyond = False
        self.behind = 0.0

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
        state, out = step.state, np.empty(self._shape)
        self.is_beyond, is_moving, self.behind = pursue(
            state.table if state.has_rest else self._trajectories.way_to_rest(state),
            self._limits,
            self._table,
            holding,
            step.duration,
            out,
        )
        return MotionState(out), is_moving
