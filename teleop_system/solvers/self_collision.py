# SPDX-License-Identifier: Apache-2.0
"""Keeps links of the robot apart.

A tick may only lead to states from which the robot can stop in time. So distances are taken
not only at the robot's position but also on its braking path, and at the end of that. Rows of the
QP limit how much a step may shorten the distances there, and the step found is checked against
true distances before it is used. Braking follows a path that was checked one tick before, so it is
always allowed, and a robot that can do nothing else brakes.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import approach_kernels as kernels
from teleop_system.solvers.closest_pairs import ClosestPairs, NearPairs
from teleop_system.solvers.kinematics import KinematicModel
from teleop_system.solvers.link_distances import LinkDistances
from teleop_system.solvers.motion_bounds import BrakingState

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Contact = tuple[float, Array]
"""Distance [m], and its change per joint motion [m/rad], shape (N,)."""

MOMENTS = np.array([0.0, 0.134, 0.293, 0.5, 1.0])
"""Moments of the braking path that are checked: those at every quarter of the distance."""
FIRST, LAST = 0, len(MOMENTS) - 1
TOLERANCE = 1e-6
"""Rounding of distances in [m] that does not count as coming nearer."""


class SelfCollision:
    """The pairs of links to be kept apart, and their rows of the tick.

    Each tick is `add_rows()`, a solution, and `check()`, which may ask for another solution.

    Args:
        kinematics: The model.
        pairs: Names of the links of every pair.
        stop: Smallest distance that a step may lead to in [m].
        slow: Distance below which the allowed speed of approach falls in [m].
        speed: Greatest speed of approach at `slow` in [m/s].

    Attributes:
        count: Number of pairs of shapes.
        close: Contacts nearer than `slow` by moment and pair; each gets a row.
        rows: Rows of the tick, `rows @ step >= row_bounds`, shape (K, N).
        row_bounds: Smallest values of the rows, shape (K,).
    """

    MARGINS = (0.002, 0.004)
    """Margins over `stop` [m] of the checks, which look at some moments only, and of the rows,
    which are linear while distances are not."""

    def __init__(
        self,
        kinematics: KinematicModel,
        pairs: Sequence[tuple[str, str]],
        *,
        stop: float,
        slow: float,
        speed: float,
    ) -> None:
        size = kinematics.size
        self._distances = LinkDistances(kinematics, pairs, np.arange(size))
        self._closest = ClosestPairs(self._distances, at_rest=slow, on_path=slow)
        self.count = self._distances.count
        half = 0.5 * (slow - stop)
        self._floor, self._stop = (stop + min(margin, half) for margin in self.MARGINS)
        self._slow = slow
        self._gain = speed / (slow - self._stop)
        self._change = np.zeros(size)
        # Of the current state, and of the next one.
        self.close: dict[tuple[int, int], Contact] = {}
        self._next_close: dict[tuple[int, int], Contact] = {}
        self.rows = np.empty((0, size))
        self.row_bounds = np.empty(0)

    def set_period(self, dt: float, change: Array) -> None:
        """Prepare for ticks that last `dt` [s] and change steps by at most `change` [rad]."""
        self._change = change
        self._fraction = min(1.0, self._gain * dt)
        # A pair farther than `slow` may come no nearer than this in one tick.
        self._entry = self._slow - self._fraction * (self._slow - self._stop)

    def start(self, state: BrakingState) -> None:
        """Measure every pair again, on the braking path of a new start."""
        self.close = {}
        self._closest.reset(state.rest)
        self.check(state, state, is_braking=True)

    def add_rows(self, state: BrakingState, braking: Array) -> None:
        """Compute the rows of the tick.

        Args:
            state: The state it starts in.
            braking: Its step if all joints brake now [rad], shape (N,).
        """
        close = self.close
        keys = sorted(close)
        self.rows = np.array([close[key][1] for key in keys])
        self.row_bounds = np.empty(len(keys))
        kernels.write_rows(
            np.array([MOMENTS[moment] for moment, _ in keys]),
            np.array([close[key][0] for key in keys]),
            state.step,
            braking,
            self._change,
            self._slow,
            self._stop,
            self._fraction,
            self.rows,
            self.row_bounds,
        )

    def check(
        self, state: BrakingState, current: BrakingState, *, is_braking: bool = False
    ) -> bool:
        """Return whether a tick may lead from the state `current` to `state`.

        If it may, the next tick continues from there. If it may not because of pairs that had no
        row, `add_rows()` gives them one.

        Args:
            state: The state after the tick.
            current: The state before it.
            is_braking: Whether the robot brakes in the tick, which is always allowed.
        """
        self._next_close = {}
        near = self._closest.find(state.joints, state.rest)
        is_allowed = near.least_on_path >= self._slow or self._check_path(near, state, current)
        if is_allowed or is_braking:
            self.close = self._next_close
        return is_allowed

    def _check_path(self, near: NearPairs, state: BrakingState, current: BrakingState) -> bool:
        """Measure pairs all along the braking path of a state; return whether it is allowed."""
        is_near = near.at_rest - near.changes < self._slow
        pairs, at_rest, changes = near.pairs[is_near], near.at_rest[is_near], near.changes[is_near]
        missed: list[tuple[int, int]] = []
        now, is_allowed = self._measure_at(FIRST, state.joints, pairs, missed)
        ending = pairs[at_rest < self._slow]
        if ending.size:
            is_allowed &= self._measure_at(LAST, state.rest, ending, missed)[1]
        # A motion towards rest leads away from the start: the two bounds add up to this.
        doubtful = pairs[at_rest + now - changes < 2.0 * self._stop]
        if doubtful.size:
            points = self._points(state)
            for moment in range(FIRST + 1, LAST):
                is_allowed &= self._measure_at(moment, points[moment], doubtful, missed)[1]
        for moment, pair in missed:
            point = self._points(current)[moment]
            found, slopes = self._distances.measure_with_slopes(np.array([pair]), point, math.inf)
            self.close[moment, pair] = float(found[0]), slopes[0]
        return is_allowed and not missed

    def _measure_at(
        self, moment: int, joints: Array, pairs: Indices, missed: list[tuple[int, int]]
    ) -> tuple[Array, bool]:
        """Return the distances of pairs at joint positions, and whether all are allowed."""
        close, is_allowed = self.close, True
        distances, slopes = self._distances.measure_with_slopes(pairs, joints, self._slow)
        for k in np.flatnonzero(distances < self._slow).tolist():
            key, distance = (moment, int(pairs[k])), float(distances[k])
            self._next_close[key] = distance, slopes[k]
            if key in close:
                is_allowed &= distance >= min(self._floor, close[key][0]) - TOLERANCE
            elif distance < self._entry:
                missed.append(key)
        return distances, is_allowed

    def _points(self, state: BrakingState) -> Array:
        """Return the joint positions at the MOMENTS of a braking path, shape (M, N)."""
        points = np.empty((MOMENTS.size, state.joints.size))
        kernels.points_on_path(state.joints, state.step, state.rest, self._change, MOMENTS, points)
        return points
