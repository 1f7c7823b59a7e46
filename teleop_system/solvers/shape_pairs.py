# SPDX-License-Identifier: Apache-2.0
"""The pairs of collision shapes that must be kept apart, and the joints that move them."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.solvers.kinematics import KinematicModel

Array = NDArray[np.float64]


class ShapePairs:
    """All pairs of shapes of all pairs of links that can move against each other.

    Attributes:
        geometry: Pinocchio's geometry with these collision pairs.
        reach: Largest change of each distance per unit motion of each joint, shape (P, N).

    Raises:
        UnknownNameError: The model has no such link.
        ConfigError: A link is paired with itself.
    """

    def __init__(self, kinematics: KinematicModel, pairs: Sequence[tuple[str, str]]) -> None:
        self._kinematics = kinematics
        self._model = kinematics.model
        self.geometry = kinematics.geometry.copy()
        shapes = self._pair_up(pairs)
        size = kinematics.size
        self.reach = np.array([self._pair_reach(*pair) for pair in shapes]).reshape(-1, size)

    def _pair_up(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
        frames = self._model.frames
        links = {frame.name for frame in frames}
        shapes: dict[str, list[int]] = {}
        for index, shape in enumerate(self.geometry.geometryObjects):
            shapes.setdefault(frames[shape.parentFrame].name, []).append(index)
        self.geometry.removeAllCollisionPairs()
        found = []
        for pair in pairs:
            for name in pair:
                if name not in links:
                    raise UnknownNameError("link (in collision_pairs)", name, sorted(links))
            if pair[0] == pair[1]:
                raise ConfigError(f"link {pair[0]!r} cannot collide with itself")
            for first in shapes.get(pair[0], []):
                for second in shapes.get(pair[1], []):
                    if self._pair_reach(first, second).any():
                        self.geometry.addCollisionPair(pin.CollisionPair(first, second))
                        found.append((first, second))
        return found

    def _pair_reach(self, first: int, second: int) -> Array:
        """Return the largest relative motion of two shapes per unit motion of each joint."""
        reaches = [self._shape_reach(index) for index in (first, second)]
        # A joint that carries both shapes does not change their distance.
        return np.where((reaches[0] > 0.0) & (reaches[1] > 0.0), 0.0, reaches[0] + reaches[1])

    def _shape_reach(self, index: int) -> Array:
        shape, model = self.geometry.geometryObjects[index], self._model
        shape.geometry.computeLocalAABB()
        centre = shape.placement.act(np.array(shape.geometry.aabb_center))
        length = float(np.linalg.norm(centre)) + float(shape.geometry.aabb_radius)
        reach = np.zeros(self._kinematics.size)
        for joint in reversed(list(model.supports[shape.parentJoint])[1:]):
            slides = model.joints[joint].shortname().startswith("JointModelP")
            column = model.joints[joint].idx_v
            reach[column] = 1.0 if slides else length
            length += float(np.linalg.norm(model.jointPlacements[joint].translation))
            if slides:
                limits = self._kinematics.limits
                length += float(max(-limits.lower[column], limits.upper[column], 0.0))
        return reach
