# SPDX-License-Identifier: Apache-2.0
"""Distances of pairs of links at any posture, mostly without a general library."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_system.solvers import distance_kernels as kernels
from teleop_system.solvers.kinematics import KinematicModel, link_tree
from teleop_system.solvers.shape_pairs import ShapePairs

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Records = NDArray[np.void]


class LinkDistances:
    """The distances of the capsules, boxes and cylinders on pairs of links.

    Other shapes, and shapes one inside the other, are left to Pinocchio's library.

    Args:
        kinematics: The model.
        pairs: Names of the links of every pair.
        columns: Index of each joint, in Pinocchio's order, in joint vectors, shape (N,).

    Attributes:
        count: Number of pairs of shapes P.
        links: Names of the two links of every pair of shapes.
        reach: Largest change of each distance per joint motion [m/rad], shape (P, N).
        tree: The link tree; measuring changes its links.
        shapes: The shapes as `SHAPE` records, shape (S,).
        pairs: The pairs as `PAIR` records, shape (P,).

    Raises:
        UnknownNameError: The model has no such link.
        ConfigError: A link is paired with itself.
    """

    def __init__(
        self,
        kinematics: KinematicModel,
        pairs: Sequence[tuple[str, str]],
        columns: NDArray[np.intp],
    ) -> None:
        model = kinematics.model
        found = ShapePairs(kinematics, pairs)
        self._kinematics, self._geometry, self._columns = kinematics, found.geometry, columns
        self._data, self._geometry_data = model.createData(), self._geometry.createData()
        self.tree = link_tree(model, columns, ())
        objects = list(self._geometry.geometryObjects)
        self.shapes: Records = np.array([_shape(shape) for shape in objects], dtype=kernels.SHAPE)
        found_pairs = [(pair.first, pair.second) for pair in self._geometry.collisionPairs]
        kinds = self.shapes["kind"]
        self._is_swapped = [kinds[first] != kernels.CAPSULE for first, _ in found_pairs]
        self.pairs: Records = np.array(
            [
                pair[::-1] if is_swapped else pair
                for pair, is_swapped in zip(found_pairs, self._is_swapped, strict=True)
            ],
            dtype=kernels.PAIR,
        )
        names = [model.frames[shape.parentFrame].name for shape in objects]
        self.links = tuple((names[first], names[second]) for first, second in found_pairs)
        self.count = len(self.links)
        self.reach = np.empty_like(found.reach)
        self.reach[:, columns] = found.reach

    def measure_all(self, joints: Array) -> Array:
        """Return the distances [m] of all pairs at a posture [rad], shape (P,)."""
        return self.contacts(np.arange(self.count), joints)["distance"]

    def measure_with_slopes(
        self, pairs: Indices, joints: Array, near: float
    ) -> tuple[Array, Array]:
        """Return the distances of some pairs at a posture, and how the joints change them.

        Args:
            pairs: The pairs.
            joints: The posture [rad].
            near: Distance in [m] below which slopes are computed.

        Returns:
            Distances [m], shape (K,), and slopes [m/rad], shape (K, N), valid below `near`.
        """
        contacts, tree = self.contacts(pairs, joints), self.tree
        slopes = np.empty((pairs.size, joints.size))
        for k in np.flatnonzero(contacts["distance"] < near).tolist():
            pair = self.pairs[pairs[k]]
            kernels.write_slopes(
                tree.joints, tree.links, self.shapes, pair, contacts[k], slopes[k]
            )
        return contacts["distance"], slopes

    def contacts(self, pairs: Indices, joints: Array) -> Records:
        """Return the contacts of some pairs at a posture [rad] as `CONTACT` records."""
        contacts: Records = np.empty(pairs.size, dtype=kernels.CONTACT)
        tree = self.tree
        if kernels.find_contacts(
            tree.joints, joints, tree.links, self.shapes, self.pairs, pairs, contacts
        ):
            self._complete(pairs, joints, contacts)
        return contacts

    def _complete(self, pairs: Indices, joints: Array, contacts: Records) -> None:
        """Let the library compute the contacts that are still NaN."""
        kinematics, geometry, data = self._kinematics, self._geometry, self._geometry_data
        configuration = kinematics.configuration(joints[self._columns])
        pin.updateGeometryPlacements(kinematics.model, self._data, geometry, data, configuration)
        for k in np.flatnonzero(np.isnan(contacts["distance"])).tolist():
            pair, contact = int(pairs[k]), contacts[k]
            found = pin.computeDistance(geometry, data, pair)
            points = [found.getNearestPoint1(), found.getNearestPoint2()]
            normal = np.array(found.normal)
            if self._is_swapped[pair]:
                points, normal = points[::-1], -normal
            contact["distance"], contact["normal"] = found.min_distance, normal
            contact["on_first"], contact["on_second"] = points


def _shape(shape: Any) -> tuple[Any, ...]:
    """Return the fields of a `SHAPE` record."""
    kind, sizes = _kind_and_sizes(shape.geometry)
    offset = shape.placement
    rotation, position = np.array(offset.rotation), np.array(offset.translation)
    return rotation, position, sizes, shape.parentJoint, kind


def _kind_and_sizes(geometry: Any) -> tuple[int, tuple[float, float, float]]:
    """Return the kind of a shape and its sizes in [m]."""
    name = type(geometry).__name__
    if name == "Capsule":
        return kernels.CAPSULE, (geometry.radius, geometry.halfLength, 0.0)
    if name == "Cylinder":
        return kernels.CYLINDER, (geometry.radius, geometry.halfLength, 0.0)
    if name == "Box":
        return kernels.BOX, tuple(np.array(geometry.halfSide))
    return kernels.OTHER, (0.0, 0.0, 0.0)
