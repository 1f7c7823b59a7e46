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

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy import absolute, flatnonzero, maximum, subtract
from numpy.typing import NDArray

from teleop_system.solvers.kinematics import KinematicModel, jacobian_view
from teleop_system.solvers.link_shapes import LinkShapes
from teleop_system.solvers.rest_prediction import RestPrediction, Way
from teleop_system.solvers.shape_pairs import ShapePairs

Array = NDArray[np.float64]
Contact = tuple[float, list[float], list[float]]
"""Distance [m], and at the nearest point of either shape the unit force towards the second, as
a wrench at the world's origin."""

MOMENTS = np.array([[0.0], [0.134], [0.293], [0.5], [1.0]])
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
        self._model = kinematics.model
        self._configuration = kinematics.configuration
        shapes = ShapePairs(kinematics, pairs)
        self._geometry = shapes.geometry
        self._reach = shapes.reach
        self._signs = shapes.signs
        self.count = len(self._reach)
        room = 0.5 * (slow - stop)
        self._floor, self._stop = (stop + min(margin, room) for margin in self.MARGINS)
        self._slow = slow
        self._gain = speed / (slow - self._stop)
        self._data = kinematics.model.createData()
        self._placed = self._geometry.createData()
        self._shapes = LinkShapes(kinematics, self._geometry)
        self._order = kinematics.external_order
        self._jacobian = jacobian_view(self._data)
        self._brake = RestPrediction(size)
        self._measured_at = np.zeros(size)
        self._next_measured_at = self._measured_at
        self._is_measured = False
        self._extent = np.zeros(size)
        self._work = np.zeros(size)
        # By how much each distance is at least greater than `slow` at the last place of
        # measurement and at the next, and anywhere on the way that is being checked; and by how
        # much it may change between the ends of that way.
        self._slack = np.full(self.count, -np.inf)
        self._next_slack = np.empty(self.count)
        self._left = np.empty(self.count)
        self._lengths = np.empty(self.count)
        self._close: dict[tuple[int, int], Contact] = {}
        self._next_close: dict[tuple[int, int], Contact] = {}
        self.rows = np.empty((0, size))
        self.row_bounds = np.empty(0)

    def set_period(self, dt: float, change: Array) -> None:
        """Prepare for ticks that last `dt` [s] and change steps by at most `change` [rad]."""
        self._brake.set_change(change)
        self._fraction = min(1.0, self._gain * dt)
        # No pair that is farther than `slow` may come nearer than this in one tick.
        self._entry = self._slow - self._fraction * (self._slow - self._stop)

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
        slopes = self._brake.slopes(way.step)
        shares = self._brake.shares(way.step, MOMENTS)
        rows, bounds = [], []
        for moment in sorted({key[0] for key in close}):
            contacts = {pair: close[at, pair] for at, pair in close if at == moment}
            wrenches = [wrench for contact in contacts.values() for wrench in contact[1:]]
            point = way.joints + shares[moment] * (way.rest - way.joints)
            pin.computeJointJacobians(self._model, self._data, self._configuration(point))
            # How each point moves along the normal; the second minus the first is the distance.
            moved = (np.array(wrenches) @ self._jacobian).reshape(len(contacts), 2, -1)
            gradients = (moved * self._signs[list(contacts)]).sum(1)
            gradients *= 1.0 + shares[moment] * (slopes - 1.0)
            allowed = self._allowed(np.array([contact[0] for contact in contacts.values()]))
            if moment == 0:
                # Where the robot is now, braking may have to close more than that.
                bounds.append(np.minimum(gradients @ braking, -allowed))
            else:
                bounds.append(gradients @ braking - allowed)
            rows.append(gradients)
        self.rows, self.row_bounds = np.concatenate(rows), np.concatenate(bounds)

    def check(self, way: Way, current: Way) -> bool:
        """Tell whether the robot may be in the state `way` after a tick from `current`.

        Where it may not because of pairs that had no row, `add_rows()` gives them one.
        """
        # How far from where distances were measured joints get anywhere on the way to rest.
        extent, work, left = self._extent, self._work, self._left
        subtract(way.rest, self._measured_at, extent)
        absolute(extent, extent)
        subtract(way.joints, self._measured_at, work)
        absolute(work, work)
        maximum(extent, work, out=extent)
        self._reach.dot(extent, left)
        subtract(self._slack, left, left)
        if not self._close and left[left.argmin()] >= 0.0:
            self._is_measured = False
            return True
        # Measuring a few more pairs than needed makes the next ticks cheaper.
        return self._measure(flatnonzero(left < HEADROOM), way, current)

    def accept(self) -> None:
        """Go on from the state that was last checked."""
        if self._is_measured:
            self._measured_at[:] = self._next_measured_at
            self._slack, self._next_slack = self._next_slack, self._slack
            self._close = self._next_close

    def _measure(self, near: NDArray[np.intp], way: Way, current: Way) -> bool:
        """Measure pairs on a way to rest; tell whether all may be where they are."""
        self._is_measured = True
        self._next_measured_at = way.rest
        self._next_close = {}
        work, slack, bound = self._work, self._next_slack, self._left
        subtract(way.rest, self._measured_at, work)
        self._reach.dot(absolute(work, work), bound)
        subtract(self._slack, bound, slack)
        slack[near] = self._distances(way.rest, near)
        slack[near] -= self._slow
        subtract(way.rest, way.joints, work)
        lengths = self._lengths
        self._reach.dot(absolute(work, work), lengths)
        subtract(slack, lengths, bound)
        if bound[bound.argmin()] >= 0.0:
            return True
        return self._measure_along(flatnonzero(bound < 0.0).tolist(), way, current)

    def _measure_along(self, near: list[int], way: Way, current: Way) -> bool:
        """Measure pairs all along a way to rest; tell whether all may be where they are."""
        missed: list[tuple[int, int]] = []
        at_rest = {pair: float(self._next_slack[pair]) + self._slow for pair in near}
        now, is_allowed = self._measure_at(FIRST, way.joints, near, missed)
        ending = [pair for pair in near if at_rest[pair] < self._slow]
        # What joints go towards rest they go away from now: the two bounds add up to this.
        doubtful = [
            pair
            for pair in near
            if at_rest[pair] + now[pair] - self._lengths[pair] < 2.0 * self._stop
        ]
        if ending:
            is_allowed &= self._measure_at(LAST, way.rest, ending, missed)[1]
        for moment, point in enumerate(self._points(way)[FIRST + 1 : LAST] if doubtful else (), 1):
            is_allowed &= self._measure_at(moment, point, doubtful, missed)[1]
        for moment, pair in missed:
            self._place(self._points(current)[moment])
            result = pin.computeDistance(self._geometry, self._placed, pair)
            self._close[moment, pair] = _contact(result)
        return is_allowed and not missed

    def _measure_at(
        self, moment: int, joints: Array, pairs: list[int], missed: list[tuple[int, int]]
    ) -> tuple[dict[int, float], bool]:
        """Return the distances of pairs at joint positions, and whether all are allowed."""
        close, is_allowed = self._close, True
        measured = self._distances(joints, np.array(pairs)).tolist()
        distances = dict(zip(pairs, measured, strict=True))
        near = [pair for pair in pairs if distances[pair] < self._slow]
        if near:
            self._place(joints)
        for pair in near:
            # Only where links are near does it matter in which direction.
            result = pin.computeDistance(self._geometry, self._placed, pair)
            distances[pair] = distance = result.min_distance
            key = moment, pair
            self._next_close[key] = _contact(result)
            if key in close:
                is_allowed &= distance >= min(self._floor, close[key][0]) - TOLERANCE
            elif distance < self._entry:
                missed.append(key)
        return distances, is_allowed

    def _points(self, way: Way) -> Array:
        """Return where the joints are at the MOMENTS of a way to rest, shape (M, N)."""
        shares = self._brake.shares(way.step, MOMENTS)
        return np.asarray(way.joints + shares * (way.rest - way.joints))

    def _distances(self, joints: Array, pairs: NDArray[np.intp]) -> Array:
        distances, unknown = self._shapes.measure(pairs, joints[self._order])
        if unknown:
            self._place(joints)
            for place in flatnonzero(np.isnan(distances)).tolist():
                result = pin.computeDistance(self._geometry, self._placed, int(pairs[place]))
                distances[place] = result.min_distance
        return distances

    def distances(self, joints: Array) -> Array:
        """Return the distances of all pairs of shapes at joint positions [m]."""
        return self._distances(joints, np.arange(self.count))

    def _place(self, joints: Array) -> None:
        configuration = self._configuration(joints)
        pin.updateGeometryPlacements(
            self._model, self._data, self._geometry, self._placed, configuration
        )

    def _allowed(self, distances: Array) -> Array:
        """Return by how much each distance may shrink in this tick [m]; negative: must grow."""
        inside = np.minimum(distances, self._slow) - self._stop
        # Too near already: away from each other, at most as fast as the approach would be.
        inside = np.maximum(inside, self._stop - self._slow)
        return inside * self._fraction + np.maximum(distances - self._slow, 0.0)


def _contact(result: Any) -> Contact:
    normal = result.normal.tolist()
    first, second = result.getNearestPoint1().tolist(), result.getNearestPoint2().tolist()
    return result.min_distance, _force_at(normal, first), _force_at(normal, second)


def _force_at(normal: list[float], point: list[float]) -> list[float]:
    """Return the unit force along `normal` at `point` as a wrench at the world's origin."""
    nx, ny, nz = normal
    px, py, pz = point
    return [nx, ny, nz, py * nz - pz * ny, pz * nx - px * nz, px * ny - py * nx]
