# SPDX-License-Identifier: Apache-2.0
"""How shapes on the links of a robot lie to each other, mostly without a general library."""

import math
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_system.solvers import link_kernels
from teleop_system.solvers.kinematics import KinematicModel
from teleop_system.solvers.link_tree import LinkTree, frame_numbers

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

NO_SLOPES: Array = np.empty((0, 0))


class LinkShapes:
    """The capsules, boxes and cylinders of a model, and its kinematics, as tables for the kernels.

    Other shapes, and those that are one inside the other, are left to Pinocchio's library.

    Args:
        kinematics: The model.
        geometry: Pinocchio's shapes and the pairs of them.
        columns: Where each joint, in Pinocchio's order, stands in joint vectors, shape (N,).
    """

    def __init__(
        self, kinematics: KinematicModel, geometry: Any, columns: NDArray[np.intp]
    ) -> None:
        model = kinematics.model
        self._kinematics, self._geometry, self._columns = kinematics, geometry, columns
        self._data, self._placed = model.createData(), geometry.createData()
        self._tree = LinkTree(model, columns)
        objects = geometry.geometryObjects
        self._shapes = np.zeros((len(objects), 15))
        self._owners = np.zeros((len(objects), 2), dtype=np.int64)
        for number, shape in enumerate(objects):
            kind, sizes = _measures(shape.geometry)
            self._shapes[number] = [*frame_numbers(shape.placement), *sizes]
            self._owners[number] = shape.parentJoint, kind
        kinds = self._owners[:, 1]
        pairs = np.array([(pair.first, pair.second) for pair in geometry.collisionPairs])
        pairs = pairs.reshape(-1, 2).astype(np.int64)
        # The kernels want a capsule first.
        self._is_turned = kinds[pairs[:, 0]] != link_kernels.CAPSULE
        self._pairs = np.where(self._is_turned[:, None], pairs[:, ::-1], pairs)
        self._work = np.zeros((6, 12))

    @property
    def tables(self) -> tuple[Array, Indices, Array, Array, Indices, Indices]:
        """The joints, tree, places, shapes, owners and pairs of `link_kernels.find_contacts`."""
        tree = self._tree
        return tree.joints, tree.tree, tree.places, self._shapes, self._owners, self._pairs

    def contacts(self, pairs: Indices, joints: Array) -> Array:
        """Return how pairs of shapes lie to each other at a posture [rad].

        Returns:
            Distances, directions from the first to the second shape and the nearest points of
            both, all in [m], shape (K, 10).
        """
        contacts, is_known = self.measure(pairs, joints)
        if not is_known:
            self._ask_library(pairs, joints, contacts)
        return contacts

    def distances(self, pairs: Indices, joints: Array, near: float) -> tuple[Array, Array]:
        """Return the distances of pairs at a posture, and how the joints change them.

        Args:
            pairs: The pairs.
            joints: The posture [rad].
            near: Distance in [m] below which that matters.

        Returns:
            Distances [m], shape (K,), and slopes [m/rad], shape (K, N), as far as they matter.
        """
        slopes = np.empty((pairs.size, self._tree.positions.size))
        contacts, is_known = self.measure(pairs, joints, near, slopes)
        if not is_known:
            unknown = self._ask_library(pairs, joints, contacts)
            tree = self._tree
            for place in unknown:
                one, other = self._owners[self._pairs[pairs[place]], 0].tolist()
                link_kernels.write_slopes(
                    tree.joints, tree.tree, tree.places, one, other, contacts[place], slopes[place]
                )
        return contacts[:, 0], slopes

    def measure(
        self, pairs: Indices, joints: Array, near: float = -math.inf, slopes: Array = NO_SLOPES
    ) -> tuple[Array, bool]:
        """Return contacts as far as they are known without the library; whether all of them are.

        Args:
            pairs: The pairs.
            joints: The posture [rad].
            near: Distance in [m] below which `slopes` are written.
            slopes: Memory for them, shape (K, N).
        """
        tree = self._tree
        tree.positions[:] = joints
        contacts = np.empty((pairs.size, 10))
        missing = link_kernels.find_contacts(
            tree.joints,
            tree.tree,
            tree.positions,
            tree.places,
            self._shapes,
            self._owners,
            self._pairs,
            pairs,
            self._work,
            contacts,
            near,
            slopes,
        )
        return contacts, missing == 0

    def _ask_library(self, pairs: Indices, joints: Array, contacts: Array) -> list[int]:
        """Fill in what is not known, and return the places of it."""
        kinematics, geometry, placed = self._kinematics, self._geometry, self._placed
        configuration = kinematics.configuration(joints[self._columns])
        pin.updateGeometryPlacements(kinematics.model, self._data, geometry, placed, configuration)
        unknown: list[int] = np.flatnonzero(np.isnan(contacts[:, 0])).tolist()
        for place in unknown:
            pair = int(pairs[place])
            found = pin.computeDistance(geometry, placed, pair)
            points = [found.getNearestPoint1(), found.getNearestPoint2()]
            normal = np.array(found.normal)
            if self._is_turned[pair]:
                points, normal = points[::-1], -normal
            contacts[place] = np.concatenate([[found.min_distance], normal, *points])
        return unknown


def _measures(geometry: Any) -> tuple[int, tuple[float, float, float]]:
    """Return the kind of a shape and its sizes in [m]."""
    name = type(geometry).__name__
    if name == "Capsule":
        return link_kernels.CAPSULE, (geometry.radius, geometry.halfLength, 0.0)
    if name == "Cylinder":
        return link_kernels.CYLINDER, (geometry.radius, geometry.halfLength, 0.0)
    if name == "Box":
        return link_kernels.BOX, tuple(np.array(geometry.halfSide))
    return link_kernels.OTHER, (0.0, 0.0, 0.0)
