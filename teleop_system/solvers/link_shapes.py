# SPDX-License-Identifier: Apache-2.0
"""Distances of simple shapes on the links of a robot, without asking a general library."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import link_kernels
from teleop_system.solvers.kinematics import KinematicModel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class LinkShapes:
    """The capsules and boxes of a model, and its kinematics, as tables for the kernels.

    Args:
        kinematics: The model; positions come in the order of its `joint_names`.
        geometry: Pinocchio's shapes and the pairs of them.
    """

    def __init__(self, kinematics: KinematicModel, geometry: Any) -> None:
        model = kinematics.model
        columns = np.argsort(kinematics.external_order)
        self._joints = np.zeros((model.njoints, 15))
        self._tree = np.zeros((model.njoints, 3), dtype=np.int64)
        for number in range(1, model.njoints):
            axis, slides = _axis(model.joints[number])
            self._joints[number] = [*_frame(model.jointPlacements[number]), *axis]
            column = columns[model.joints[number].idx_v]
            self._tree[number] = model.parents[number], column, slides
        objects = geometry.geometryObjects
        self._shapes = np.zeros((len(objects), 15))
        self._owners = np.zeros((len(objects), 2), dtype=np.int64)
        for number, shape in enumerate(objects):
            kind, sizes = _measures(shape.geometry)
            self._shapes[number] = [*_frame(shape.placement), *sizes]
            self._owners[number] = shape.parentJoint, kind
        kinds = self._owners[:, 1]
        pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs]
        # The distance is the same both ways, and the kernel wants a capsule first.
        pairs = [pair if kinds[pair[0]] == link_kernels.CAPSULE else pair[::-1] for pair in pairs]
        self._pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self._positions = np.zeros(kinematics.size)
        self._places = np.zeros((model.njoints, 12))
        self._places[0, :9] = np.eye(3).ravel()
        self._work = np.zeros((6, 12))

    def measure(self, pairs: Indices, joints: Array) -> tuple[Array, bool]:
        """Return the distances [m] of some pairs at a posture [rad].

        Returns:
            The distances, shape (K,), NaN where this cannot tell; and whether any is.
        """
        self._positions[:] = joints  # It may be read-only, which the kernels do not take.
        link_kernels.place_links(self._joints, self._tree, self._positions, self._places)
        distances = np.empty(pairs.size)
        missing = link_kernels.pair_distances(
            self._places, self._shapes, self._owners, self._pairs, pairs, self._work, distances
        )
        return distances, missing > 0


def _frame(placement: Any) -> Array:
    """Return rotation, row by row, and position, shape (12,)."""
    return np.concatenate([np.array(placement.rotation).ravel(), np.array(placement.translation)])


def _axis(joint: Any) -> tuple[Array, bool]:
    """Return the axis of a joint in its own frame, shape (3,), and whether it slides along it."""
    data = joint.createData()
    joint.calc(data, _neutral(joint))
    motion = np.asarray(data.S).ravel()
    linear, angular = motion[:3], motion[3:]
    slides = not angular.any()
    return (linear if slides else angular), slides


def _neutral(joint: Any) -> Array:
    # A joint without limits is a point on the unit circle.
    return np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(joint.nq)


def _measures(geometry: Any) -> tuple[int, tuple[float, float, float]]:
    """Return the kind of a shape and its sizes in [m]."""
    name = type(geometry).__name__
    if name == "Capsule":
        return link_kernels.CAPSULE, (geometry.radius, geometry.halfLength, 0.0)
    if name == "Box":
        return link_kernels.BOX, tuple(np.array(geometry.halfSide))
    return link_kernels.OTHER, (0.0, 0.0, 0.0)
