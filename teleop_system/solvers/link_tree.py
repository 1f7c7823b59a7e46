# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of a robot, from whichever model its joints were read.

`kinematics.py` builds a tree from a Pinocchio model, `model_trees.py` from a URDF or MJCF without
any library of kinematics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from teleop_system.solvers.kinematics_kernels import (
    ATTACHED,
    FRAME,
    JOINT,
    POSE,
    place_frames_along,
    update_tree,
)
from teleop_system.utils.poses import PoseTuple

Array = NDArray[np.float64]
Records = NDArray[np.void]


@dataclass(frozen=True, slots=True, eq=False)
class TreeJoint:
    """A joint as a model file describes it.

    Attributes:
        parent: Index of the joint before it in the tree; 0 is the world.
        rotation: Its frame in that of the parent joint, shape (3, 3).
        position: Origin of that frame in [m], shape (3,).
        axis: Unit axis in its own frame, shape (3,).
        slides: Whether it slides along the axis instead of rotating about it.
        column: Its index in vectors of joint positions.
    """

    parent: int
    rotation: ArrayLike
    position: ArrayLike
    axis: ArrayLike
    slides: bool
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class TreeFrame:
    """A frame fixed to the link behind a joint.

    Attributes:
        joint: Index of the joint.
        rotation: The frame in that of the joint, shape (3, 3).
        position: Its origin in [m], shape (3,).
    """

    joint: int
    rotation: ArrayLike = field(default_factory=lambda: np.eye(3))
    position: ArrayLike = field(default_factory=lambda: np.zeros(3))


class LinkTree:
    """The joints and links of a robot, frames on the links, and their Jacobian.

    Args:
        joints: All joints, parents before their children; the first has index 1.
        frames: The frames of interest.
        size: Length N of vectors of joint positions.
        fixed: Positions of joints that never move; their columns follow, M in number.

    Attributes:
        joints: The joints as `JOINT` records, shape (J,); the first is the world.
        links: Pose of the link behind every joint, `FRAME` records of shape (J,).
        attached: The frames on their links, `ATTACHED` records of shape (F,).
        frames: Pose of every frame, `POSE` records of shape (F,).
        jacobian: Spatial velocities at the world's origin per joint velocity, linear over
            angular, shape (6, N + M).
    """

    def __init__(
        self,
        joints: Sequence[TreeJoint],
        frames: Sequence[TreeFrame],
        size: int,
        fixed: Sequence[float] = (),
    ) -> None:
        self.joints: Records = np.zeros(len(joints) + 1, dtype=JOINT)
        for number, joint in enumerate(joints, start=1):
            for name in TreeJoint.__slots__:
                self.joints[number][name] = getattr(joint, name)
        self.links: Records = np.zeros(len(joints) + 1, dtype=FRAME)
        self.links["rotation"][0] = np.eye(3)
        self.attached: Records = np.zeros(len(frames), dtype=ATTACHED)
        for number, frame in enumerate(frames):
            for name in TreeFrame.__slots__:
                self.attached[number][name] = getattr(frame, name)
        self.frames: Records = np.zeros(len(frames), dtype=POSE)
        self._rows = self.frames.view(np.float64).reshape(len(frames), 7)
        self._positions = np.array([*np.zeros(size), *fixed])
        self._moving = self._positions[:size]
        self.jacobian = np.zeros((6, self._positions.size))

    def update(self, positions: ArrayLike) -> None:
        """Compute `links`, `frames` and `jacobian` for joint positions [rad] or [m]."""
        self._moving[:] = positions
        update_tree(
            self.joints, self._positions, self.links, self.attached, self.frames, self.jacobian
        )

    def along(self, motion: Array) -> Records:
        """Return the pose of every frame along a motion [rad] or [m], `POSE` of shape (T, F)."""
        positions = np.tile(self._positions, (len(motion), 1))
        positions[:, : self._moving.size] = motion
        frames: Records = np.empty((len(motion), self.frames.size), dtype=POSE)
        place_frames_along(self.joints, positions, self.links, self.attached, frames)
        return frames

    def poses(self, positions: ArrayLike) -> list[PoseTuple]:
        """Return the pose of every frame for joint positions [rad] or [m]."""
        self.update(positions)
        return [((x, y, z), (a, b, c, d)) for x, y, z, a, b, c, d in self._rows.tolist()]

    def ancestors(self, joint: int) -> list[int]:
        """Return the joints from the root to a joint, itself included."""
        found = []
        while joint > 0:
            found.append(joint)
            joint = int(self.joints[joint]["parent"])
        return found[::-1]

    def moves(self, joint: int) -> NDArray[np.bool_]:
        """Return whether each position moves the link behind a joint, shape (N,)."""
        mask = np.zeros(self._positions.size, dtype=bool)
        mask[self.joints["column"][self.ancestors(joint)]] = True
        return mask[: self._moving.size]

    def frame_masks(self) -> Array:
        """Return 1 if a joint moves a frame, else 0, shape (F, N)."""
        return np.array([self.moves(int(joint)) for joint in self.attached["joint"]], dtype=float)
