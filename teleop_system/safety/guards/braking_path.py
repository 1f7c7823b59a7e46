# SPDX-License-Identifier: Apache-2.0
"""The distances of links along the way on which the robot would come to rest.

Few pairs of links are near enough to matter. A joint that moves by `x` [rad] changes a distance
by at most `x` times the length [m] of what hangs on the joint. So each joint keeps an odometer
of its place of rest, and as long as the way its joints have gone since a pair was last measured
shows that it is far away, it need not be measured again. None is ever missed. Where some pair has
to be measured, those that will soon be due are measured with it.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.guards.kernels import find_near, measure_near, note_distances
from teleop_system.safety.motion.limits import MotionLimits
from teleop_system.safety.motion.state import MotionState
from teleop_system.solvers.clearance import Clearance

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SHORTEST = 1.0 / 32.0
"""Part of a braking path that is not divided any further, however long it is."""
SHARPEST = 0.08
"""Radius [m] of the sharpest bend with which shapes of a robot of this size pass each other: two
capsules of half of it, or a capsule of all of it and the edge of a box."""


class BrakingPaths:
    """Measures what has to be measured, and remembers what is known to be far.

    Args:
        clearance: Measures distances.
        limits: Limits of the joints.
        slow: Distance [m] below which pairs matter at rest.
        stop: Distance [m] below which they matter on the way.
        spacing: Largest way [m] of links between two poses that are looked at.
    """

    def __init__(
        self,
        clearance: Clearance,
        limits: MotionLimits,
        *,
        slow: float,
        stop: float,
        spacing: float,
    ) -> None:
        self.clearance = clearance
        self.limits = limits
        self.slow = slow
        self._stop = stop
        self.spacing = spacing
        self.reach = clearance.reach
        # The same, a joint a row: a joint that has not moved needs none of it.
        self._reach_of_joints = np.ascontiguousarray(clearance.reach.T)
        size = clearance.reach.shape[1]
        # The odometers, the pose up to which they have counted, and room for the kernels.
        self._counters = np.zeros((3, size))
        # The distance of each pair when measured, plus what its odometers accounted for then; and
        # room for the kernels.
        self._pairs = np.full((2, clearance.count), -np.inf)
        # What was last found: how many pairs, which, and how near they are and may come.
        self._count = 0
        self._near = np.zeros(clearance.count, dtype=np.int64)
        self._found = np.zeros((2, clearance.count))
        self._tables = (*clearance.tables, np.zeros((7, 12)))

    def reset(self, positions: Array) -> Array:
        """Start anew from rest at joint positions [rad]; return all distances there [m]."""
        self._counters[:] = 0.0
        self._counters[1] = positions
        distances = self.clearance.all(positions)
        self._pairs[0] = distances
        return distances

    def look(self, state: MotionState) -> tuple[float, float]:
        """Measure the pairs that are not far, at rest or on the way there from a state.

        Returns:
            The smallest of their distances at rest, and the smallest that there can be on the way
            [m]; infinite where all pairs are far.
        """
        near, found = self._near, self._found
        self._count = count = find_near(
            state.position,
            state.rest,
            state.excursion,
            self._counters,
            self._reach_of_joints,
            self._pairs,
            self.slow,
            self._stop,
            near,
            found,
        )
        if count == 0:
            return math.inf, math.inf
        is_known, at_rest, on_way = measure_near(
            state.rest, count, near, found, self._pairs, *self._tables
        )
        if not is_known:
            chosen = near[:count]
            found[0, :count] = self.measure(chosen, state.rest)
            return note_distances(chosen, found, self._pairs)
        return at_rest, on_way

    def path(self, state: MotionState) -> "BrakingPath":
        """Return the way from a state to rest, with all pairs on it that are not far."""
        return self.last_path(state, self.look(state)[1])

    def last_path(self, state: MotionState, least_on_way: float) -> "BrakingPath":
        """Return the same for the state that was last looked at, with what was found."""
        pairs = self._near[: self._count].copy()
        found, changes = self._found[:, : self._count].copy()
        return BrakingPath(self, state, pairs, found, changes, least_on_way)

    def measure(self, pairs: Indices, pose: Array) -> Array:
        """Return the distances [m] of some pairs at a pose [rad]."""
        return self.clearance.some(pairs, pose)


class BrakingPath:
    """The way from one state to rest.

    Args:
        paths: What is known of all of them.
        state: The state it begins with.
        pairs: Pairs that are not far, shape (K,).
        found: Their distances at rest [m], shape (K,).
        changes: By how much these may differ on the way [m], shape (K,).
        least_on_way: The smallest distance that there can be on the way [m].

    Attributes:
        rest: Where it ends [rad], shape (N,).
        pairs: Pairs that are not far, shape (K,).
        found: Their distances at rest [m], shape (K,).
        least_on_way: The smallest distance that there can be on the way [m].
    """

    __slots__ = (
        "_changes",
        "_excursion",
        "_paths",
        "_state",
        "found",
        "least_on_way",
        "pairs",
        "rest",
    )

    def __init__(
        self,
        paths: BrakingPaths,
        state: MotionState,
        pairs: Indices,
        found: Array,
        changes: Array,
        least_on_way: float,
    ) -> None:
        self._paths = paths
        self._state = state
        self.rest, self._excursion = state.rest, state.excursion
        self.pairs = pairs
        self.found = found
        self._changes = changes
        self.least_on_way = least_on_way

    def below(self, limit: float, inside: Collection[int]) -> dict[int, float]:
        """Return the pairs that come nearer than `limit` [m], and how near.

        Args:
            limit: The distance in [m].
            inside: Pairs that are below it anyway, for which no margin is taken.
        """
        worst: dict[int, float] = {}
        _note(self.pairs, self.found, limit, worst)
        unsure = self.found - self._changes < limit
        if not unsure.any():
            return worst
        pairs = self.pairs[unsure]
        start = _Sample(
            0.0, self._state.position, self._paths.measure(pairs, self._state.position)
        )
        _note(pairs, start.distances, limit, worst)
        end = _Sample(1.0, self.rest, self.found[unsure])
        self._search(pairs, start, end, limit, inside, worst)
        return worst

    def _search(
        self,
        pairs: Indices,
        start: "_Sample",
        end: "_Sample",
        limit: float,
        inside: Collection[int],
        worst: dict[int, float],
    ) -> None:
        """Note the pairs that come nearer than the limit between two samples."""
        way = np.abs(end.pose - start.pose) + self._excursion
        lengths = self._paths.reach[pairs].dot(way)
        # Nowhere on the way is the distance of a pair below this.
        unsure = start.distances + end.distances - lengths < 2.0 * limit
        if not unsure.any():
            return
        pairs, lengths = pairs[unsure], lengths[unsure]
        start, end = start.of(unsure), end.of(unsure)
        if lengths.max() <= self._paths.spacing or end.share - start.share <= SHORTEST:
            # Shapes that pass each other are nearest between two samples, at the bottom of an arc.
            dips = lengths * lengths / (8.0 * SHARPEST)
            dips[[pair in inside for pair in pairs.tolist()]] = 0.0
            # At its end the robot rests and passes nothing.
            nearest = (
                start.distances if end.share == 1.0 else np.minimum(start.distances, end.distances)
            )
            _note(pairs, nearest - dips, limit, worst)
            return
        share = 0.5 * (start.share + end.share)
        # Of a braking motion, this part of the time takes about half of the way that is left.
        time = 1.0 - math.sqrt(1.0 - share)
        pose = self._paths.limits.braking_pose(self._state, time)
        middle = _Sample(share, pose, self._paths.measure(pairs, pose))
        _note(pairs, middle.distances, limit, worst)
        self._search(pairs, start, middle, limit, inside, worst)
        self._search(pairs, middle, end, limit, inside, worst)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Distances at one pose of a path.

    Attributes:
        share: How far along the path it is, from 0 to 1.
        pose: Joint positions [rad], shape (N,).
        distances: Distances of some pairs [m].
    """

    share: float
    pose: Array
    distances: Array

    def of(self, chosen: NDArray[np.bool_]) -> "_Sample":
        """Return the same with some of the pairs only."""
        return _Sample(self.share, self.pose, self.distances[chosen])


def _note(pairs: Indices, distances: Array, limit: float, worst: dict[int, float]) -> None:
    """Note which pairs are nearer than the limit."""
    if distances[distances.argmin()] >= limit:
        return
    for pair, distance in zip(pairs.tolist(), distances.tolist(), strict=True):
        if distance < limit:
            worst[pair] = min(distance, worst.get(pair, distance))
