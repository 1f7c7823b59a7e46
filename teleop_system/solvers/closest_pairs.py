# SPDX-License-Identifier: Apache-2.0
"""The pairs of links that may be near when the robot is at rest, or on its braking path.

Few pairs of links are near enough to matter. A joint that moves by `x` [rad] changes a distance
by at most `x` times the length [m] of what it moves. So the travel of each joint is counted, and
a pair is measured again only if the travel since its last measurement no longer proves that it is
far. No near pair is ever missed. When some pair has to be measured, those that will soon be due
are measured with it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import pair_kernels as kernels
from teleop_system.solvers.link_distances import LinkDistances

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Records = NDArray[np.void]


class NearPairs(NamedTuple):
    """The pairs that were measured because they may be near.

    Attributes:
        pairs: Their indices, shape (K,).
        at_rest: Their distances at rest [m], shape (K,).
        changes: Largest changes of these on the braking path [m], shape (K,).
        least_at_rest: The smallest distance at rest [m]; infinite without pairs.
        least_on_path: The smallest distance that is possible on the path [m].
    """

    pairs: Indices
    at_rest: Array
    changes: Array
    least_at_rest: float
    least_on_path: float


NONE_NEAR = NearPairs(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0), math.inf, math.inf)


class ClosestPairs:
    """Measures the pairs that may be near, and remembers which are known to be far.

    The inverse kinematics and the safety manager each have one, with distances of their own.

    Args:
        distances: Measures distances.
        at_rest: Distance [m] below which a pair is near at rest.
        on_path: Distance [m] below which a pair is near on the braking path.

    Attributes:
        distances: As given.
    """

    def __init__(self, distances: LinkDistances, *, at_rest: float, on_path: float) -> None:
        self.distances = distances
        self._at_rest, self._on_path = at_rest, on_path
        count, size = distances.reach.shape
        # One joint per row, in the order of the kernels' loops.
        self._reach = np.ascontiguousarray(distances.reach.T)
        self._travel: Records = np.zeros(size, dtype=kernels.TRAVEL)
        self._bounds: Records = np.zeros(count, dtype=kernels.BOUND)
        self._near: Records = np.zeros(count, dtype=kernels.NEAR)
        self._changes = np.zeros(count)
        self._no_excursion = np.zeros(size)

    def reset(self, joints: Array) -> Array:
        """Restart from rest at joint positions [rad]; return all distances there [m]."""
        distances = self.distances.measure_all(joints)
        self._travel["total"] = 0.0
        self._travel["rest"] = joints
        self._bounds["horizon"] = distances
        return distances

    def find(self, start: Array, rest: Array, excursion: Array | None = None) -> NearPairs:
        """Measure the pairs that may be near, at rest or on the braking path.

        Args:
            start: Joint positions at the start of the braking path [rad], shape (N,).
            rest: Joint positions at its end [rad], shape (N,).
            excursion: Largest distance by which it leads beyond the two [rad], shape (N,).
        """
        count = kernels.find_near(
            start,
            rest,
            self._no_excursion if excursion is None else excursion,
            self._travel,
            self._reach,
            self._at_rest,
            self._on_path,
            self._changes,
            self._bounds,
            self._near,
        )
        if count == 0:
            return NONE_NEAR
        near = self._near[:count]
        # Copies, because the next search writes to the same memory.
        pairs, changes = near["pair"].copy(), near["ahead"].copy()
        near["at_rest"] = at_rest = self.distances.contacts(pairs, rest)["distance"]
        return NearPairs(pairs, at_rest, changes, *kernels.note_distances(near, self._bounds))
