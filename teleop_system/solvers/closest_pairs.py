# SPDX-License-Identifier: Apache-2.0
"""The pairs of links that may be near when the robot is at rest, or on its braking path.

Few pairs of links are near enough to matter. A joint that moves by `x` [rad] changes a distance
by at most `x` times the length [m] of what it moves. So the travel of each joint is counted, and
a pair is measured again only if the travel since its last measurement no longer proves that it is
far. No near pair is ever missed. When some pair has to be measured, those that will soon be due
are measured with it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import pair_kernels as kernels
from teleop_system.solvers.distance_kernels import CONTACT
from teleop_system.solvers.link_distances import LinkDistances

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Records = NDArray[np.void]

Nearest = kernels.Nearest
NONE_NEAR = Nearest(is_known=True, at_rest=math.inf, on_path=math.inf)


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
        self._links = distances.tree.links.copy()
        self._contact: Records = np.zeros(1, dtype=CONTACT)
        self._no_excursion = np.zeros(size)
        self._count = 0

    def reset(self, joints: Array) -> Array:
        """Start anew from rest at joint positions [rad]; return all distances there [m]."""
        distances = self.distances.measure_all(joints)
        self._travel["total"] = 0.0
        self._travel["rest"] = joints
        self._bounds["horizon"] = distances
        return distances

    def find(self, start: Array, rest: Array, excursion: Array | None = None) -> Nearest:
        """Measure the pairs that may be near, at rest or on the braking path.

        Args:
            start: Joint positions at the begin of the braking path [rad], shape (N,).
            rest: Joint positions at its end [rad], shape (N,).
            excursion: Largest distance by which it leads beyond the two [rad], shape (N,).

        Returns:
            The smallest distances; infinite if all pairs are far.
        """
        excursion = self._no_excursion if excursion is None else excursion
        self._count = kernels.find_near(
            start,
            rest,
            excursion,
            self._travel,
            self._reach,
            self._at_rest,
            self._on_path,
            self._changes,
            self._bounds,
            self._near,
        )
        if self._count == 0:
            return NONE_NEAR
        near, distances = self._near[: self._count], self.distances
        nearest: Nearest = kernels.measure_near(
            distances.tree.joints,
            rest,
            self._links,
            distances.shapes,
            distances.pairs,
            self._contact,
            near,
            self._bounds,
        )
        if nearest.is_known:
            return nearest
        near["at_rest"] = distances.measure(self.pairs, rest)
        return kernels.note_distances(near, self._bounds)

    @property
    def pairs(self) -> Indices:
        """The pairs found by the last `find()`, shape (K,)."""
        return np.array(self._near["pair"][: self._count])

    @property
    def at_rest(self) -> Array:
        """Their distances at rest [m], shape (K,)."""
        return np.array(self._near["at_rest"][: self._count])

    @property
    def changes(self) -> Array:
        """Largest changes of these distances on the braking path [m], shape (K,)."""
        return np.array(self._near["ahead"][: self._count])
