# SPDX-License-Identifier: Apache-2.0
"""The distances of links along the path on which the robot would come to rest."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.safety.motion.joint_motion import MotionLimits, MotionState
from teleop_system.solvers.closest_pairs import ClosestPairs, NearPairs
from teleop_system.solvers.link_distances import LinkDistances

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SHORTEST = 1.0 / 32.0
"""Share of a braking path that is not divided any further, however long it is."""
SHARPEST = 0.08
"""Radius [m] of the sharpest bend with which shapes of a robot of this size pass each other: two
capsules of half of it, or a capsule of all of it and the edge of a box."""


class BrakingPaths:
    """Finds the pairs of links that may be near on the braking path of a state.

    Args:
        distances: Measures distances.
        limits: Limits of the joints.
        slow: Distance [m] below which pairs matter at rest.
        stop: Distance [m] below which they matter on the path.
        spacing: Largest motion [m] of links between two poses that are checked.
    """

    def __init__(
        self,
        distances: LinkDistances,
        limits: MotionLimits,
        *,
        slow: float,
        stop: float,
        spacing: float,
    ) -> None:
        self.distances = distances
        self.limits = limits
        self.spacing = spacing
        self._closest = ClosestPairs(distances, at_rest=slow, on_path=stop)

    def reset(self, positions: Array) -> Array:
        """Restart from rest at joint positions [rad]; return all distances there [m]."""
        return self._closest.reset(positions)

    def path(self, state: MotionState) -> "BrakingPath":
        """Return the braking path of a state with all pairs that may be near."""
        near = self._closest.find(state.position, state.rest, state.excursion)
        return BrakingPath(self, state, near)


class BrakingPath(NamedTuple):
    """The path from one state to rest.

    Attributes:
        paths: Measures distances and computes braking motions.
        state: The state it begins with.
        near: The pairs that may be near.
    """

    paths: BrakingPaths
    state: MotionState
    near: NearPairs

    def below(self, limit: float, inside: Collection[int]) -> dict[int, float]:
        """Return the pairs that come nearer than `limit` [m], and how near.

        Args:
            limit: The distance in [m].
            inside: Pairs that are below it already; they get no margin.
        """
        worst: dict[int, float] = {}
        _note(self.near.pairs, self.near.at_rest, limit, worst)
        unsure = self.near.at_rest - self.near.changes < limit
        if not unsure.any():
            return worst
        pairs = self.near.pairs[unsure]
        distances = self.paths.distances.contacts(pairs, self.state.position)["distance"]
        start = _Sample(0.0, self.state.position, distances)
        _note(pairs, start.distances, limit, worst)
        end = _Sample(1.0, self.state.rest, self.near.at_rest[unsure])
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
        motion = np.abs(end.pose - start.pose) + self.state.excursion
        lengths = self.paths.distances.reach[pairs].dot(motion)
        # Nowhere in between is the distance of a pair below this.
        unsure = start.distances + end.distances - lengths < 2.0 * limit
        if not unsure.any():
            return
        pairs, lengths = pairs[unsure], lengths[unsure]
        start, end = start.of(unsure), end.of(unsure)
        if lengths.max() <= self.paths.spacing or end.share - start.share <= SHORTEST:
            # Shapes that pass each other are nearest between two samples, at the bottom of an arc.
            dips = lengths * lengths / (8.0 * SHARPEST)
            dips[[pair in inside for pair in pairs.tolist()]] = 0.0
            # At the end the robot rests, and no shapes pass each other.
            nearest = (
                start.distances if end.share == 1.0 else np.minimum(start.distances, end.distances)
            )
            _note(pairs, nearest - dips, limit, worst)
            return
        share = 0.5 * (start.share + end.share)
        # A braking motion covers about this part of its length in this part of its time.
        time = 1.0 - math.sqrt(1.0 - share)
        pose = self.paths.limits.braking_pose(self.state, time)
        middle = _Sample(share, pose, self.paths.distances.contacts(pairs, pose)["distance"])
        _note(pairs, middle.distances, limit, worst)
        self._search(pairs, start, middle, limit, inside, worst)
        self._search(pairs, middle, end, limit, inside, worst)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Distances at one pose of a path.

    Attributes:
        share: Its fraction of the path, from 0 to 1.
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
