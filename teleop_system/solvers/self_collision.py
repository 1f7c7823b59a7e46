# SPDX-License-Identifier: Apache-2.0
"""Keeps links of the robot apart.

A tick may only lead to states from which the robot can stop in time. So distances are taken
not only where the robot is but also on its way to rest if every joint brakes from now on, and at
its end. Rows of the QP limit how much a step may shorten the distances there, and the step
found is checked against true distances before it is taken. Braking goes along a way that was
checked the tick before, so it is always allowed, and a robot that can do nothing else brakes.

Few pairs are near enough to matter in a tick. A joint that moves by `x` [rad] changes a
distance by at most `x` times the length [m] of what hangs on the joint. So a pair is measured
again only where the way its joints have gone since then no longer shows that it is far away.
None is ever missed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import collision_kernels as kernels
from teleop_system.solvers.kinematics import KinematicModel
from teleop_system.solvers.link_shapes import LinkShapes
from teleop_system.solvers.rest_prediction import Way
from teleop_system.solvers.shape_pairs import ShapePairs

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Contact = tuple[float, Array]
"""Distance [m], and how it changes with the joints [m/rad], shape (N,)."""

MOMENTS = np.array([0.0, 0.134, 0.293, 0.5, 1.0])
"""When the way to rest is looked at, as parts of its duration: at every quarter of the way."""
FIRST, LAST = 0, len(MOMENTS) - 1
HEADROOM = 0.02
"""Pairs that may be nearer than `slow` and this [m] are measured where a nearer one is."""
TOLERANCE = 1e-6
"""Rounding of distances in [m] that does not count as coming nearer."""


class SelfCollision:
    """The pairs of links to be kept apart, and their rows of the tick.

    Each tick is `add_rows()`, a solution, `check()`, and either `accept()` or another solution.

    Args:
        kinematics: The model.
        pairs: Names of the links of every pair.
        stop: Distance that is never undercut in [m].
        slow: Distance below which the approach becomes ever slower in [m].
        speed: Greatest speed of approach at `slow` in [m/s].

    Attributes:
        count: Number of pairs of shapes.
        rows: Rows of the tick, `rows @ step >= row_bounds`, shape (K, N).
        row_bounds: Smallest values of the rows, shape (K,).
    """

    MARGINS = (0.002, 0.004)
    """How far ahead of `stop` [m] checks stop, for they look at some moments only, and rows,
    for they are linear and distances are not."""

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
        shapes = ShapePairs(kinematics, pairs)
        self._shapes = LinkShapes(kinematics, shapes.geometry, np.arange(size))
        self._reach = shapes.reach
        # The same, a joint a row, as the kernels go through it.
        self._reach_of_joints = np.ascontiguousarray(shapes.reach.T)
        self.count = len(self._reach)
        room = 0.5 * (slow - stop)
        self._floor, self._stop = (stop + min(margin, room) for margin in self.MARGINS)
        self._slow = slow
        self._gain = speed / (slow - self._stop)
        self._change = np.zeros(size)
        self._measured_at = np.zeros(size)
        self._next_measured_at = self._measured_at
        self._is_measured = False
        # By how much each distance is at least greater than `slow` at the last place of
        # measurement and at the next; and by how much it may change on the way to the next.
        self._slacks = np.full((3, self.count), -np.inf)
        self._slack, self._next_slack, self._lengths = self._slacks
        self._near = np.zeros(self.count, dtype=np.int64)
        self._close: dict[tuple[int, int], Contact] = {}
        self._next_close: dict[tuple[int, int], Contact] = {}
        self.rows = np.empty((0, size))
        self.row_bounds = np.empty(0)

    def set_period(self, dt: float, change: Array) -> None:
        """Prepare for ticks that last `dt` [s] and change steps by at most `change` [rad]."""
        self._change = change
        fraction = min(1.0, self._gain * dt)
        self._limits = np.array([self._slow, self._stop, fraction])
        # No pair that is farther than `slow` may come nearer than this in one tick.
        self._entry = self._slow - fraction * (self._slow - self._stop)

    def start(self, way: Way) -> None:
        """Measure every pair anew, on the way to rest of a new start."""
        self._close = {}
        self._slack.fill(0.0)
        self._measure(np.arange(self.count), way, way)
        self.accept()

    @property
    def has_rows(self) -> bool:
        """Whether a pair is near enough to need a row."""
        return bool(self._close)

    def add_rows(self, way: Way, braking: Array) -> None:
        """Compute the rows of the tick.

        Args:
            way: The state it starts in.
            braking: Its step if all joints brake now [rad], shape (N,).
        """
        close = self._close
        keys = sorted(close)
        distances = [close[key][0] for key in keys]
        terms = np.array([[MOMENTS[moment] for moment, _ in keys], distances])
        self.rows = np.array([close[key][1] for key in keys])
        self.row_bounds = np.empty(len(keys))
        kernels.write_rows(
            terms, way.step, braking, self._change, self._limits, self.rows, self.row_bounds
        )

    def check(self, way: Way, current: Way) -> bool:
        """Tell whether the robot may be in the state `way` after a tick from `current`.

        Where it may not because of pairs that had no row, `add_rows()` gives them one.
        """
        # Measuring a few more pairs than needed makes the next ticks cheaper.
        count, is_near = kernels.find_near(
            way.joints,
            way.rest,
            self._measured_at,
            self._reach_of_joints,
            self._slack,
            HEADROOM,
            self._lengths,
            self._near,
        )
        if not (is_near or self._close):
            self._is_measured = False
            return True
        return self._measure(self._near[:count].copy(), way, current)

    def accept(self) -> None:
        """Go on from the state that was last checked."""
        if self._is_measured:
            self._measured_at[:] = self._next_measured_at
            self._slack[:] = self._next_slack
            self._close = self._next_close

    def _measure(self, near: Indices, way: Way, current: Way) -> bool:
        """Measure pairs on a way to rest; tell whether all may be where they are."""
        self._is_measured = True
        self._next_measured_at = way.rest
        self._next_close = {}
        count = kernels.note_slack(
            way.joints,
            way.rest,
            self._measured_at,
            self._reach_of_joints,
            near,
            self._shapes.contacts(near, way.rest),
            self._slow,
            self._slacks,
            self._near,
        )
        return not count or self._measure_along(self._near[:count].copy(), way, current)

    def _measure_along(self, near: Indices, way: Way, current: Way) -> bool:
        """Measure pairs all along a way to rest; tell whether all may be where they are."""
        missed: list[tuple[int, int]] = []
        now, is_allowed = self._measure_at(FIRST, way.joints, near, missed)
        slacks, lengths = self._next_slack[near].tolist(), self._lengths[near].tolist()
        ending = [pair for pair, slack in zip(near.tolist(), slacks, strict=True) if slack < 0.0]
        # What joints go towards rest they go away from now: the two bounds add up to this.
        least = 2.0 * self._stop - self._slow
        doubtful = [
            pair
            for pair, slack, distance, length in zip(
                near.tolist(), slacks, now, lengths, strict=True
            )
            if slack + distance - length < least
        ]
        if ending:
            is_allowed &= self._measure_at(LAST, way.rest, np.array(ending), missed)[1]
        if doubtful:
            pairs, points = np.array(doubtful), self._points(way)
            for moment in range(FIRST + 1, LAST):
                is_allowed &= self._measure_at(moment, points[moment], pairs, missed)[1]
        for moment, pair in missed:
            point = self._points(current)[moment]
            found, slopes = self._shapes.distances(np.array([pair]), point, math.inf)
            self._close[moment, pair] = float(found[0]), slopes[0]
        return is_allowed and not missed

    def _measure_at(
        self, moment: int, joints: Array, pairs: Indices, missed: list[tuple[int, int]]
    ) -> tuple[list[float], bool]:
        """Return the distances of pairs at joint positions, and whether all are allowed."""
        close, is_allowed = self._close, True
        found, slopes = self._shapes.distances(pairs, joints, self._slow)
        distances: list[float] = found.tolist()
        for place, (pair, distance) in enumerate(zip(pairs.tolist(), distances, strict=True)):
            if distance >= self._slow:
                continue
            key = moment, pair
            self._next_close[key] = distance, slopes[place]
            if key in close:
                is_allowed &= distance >= min(self._floor, close[key][0]) - TOLERANCE
            elif distance < self._entry:
                missed.append(key)
        return distances, is_allowed

    def _points(self, way: Way) -> Array:
        """Return where the joints are at the MOMENTS of a way to rest, shape (M, N)."""
        points = np.empty((MOMENTS.size, way.joints.size))
        kernels.points_on_way(way.joints, way.step, way.rest, self._change, MOMENTS, points)
        return points

    def distances(self, joints: Array) -> Array:
        """Return the distances of all pairs of shapes at joint positions [m]."""
        return self._shapes.contacts(np.arange(self.count), joints)[:, 0]
