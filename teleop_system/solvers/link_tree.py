# SPDX-License-Identifier: Apache-2.0
"""The joints of a model as tables, for kernels that place its links."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.solvers import link_kernels

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class LinkTree:
    """Forward kinematics of a Pinocchio model whose joints turn or slide.

    Args:
        model: Pinocchio's model.
        columns: Where each joint, in Pinocchio's order, stands in joint vectors, shape (N,).

    Attributes:
        joints: Rotation and position in the parent's frame, and the axis, shape (J, 15).
        tree: Parent, column and whether it slides, shape (J, 3); parents first.
        places: Rotation, row by row, and position of every joint's frame, shape (J, 12).
        positions: Room for joint positions, which the kernels do not take where it is read-only.
    """

    def __init__(self, model: Any, columns: NDArray[np.intp]) -> None:
        self.joints = np.zeros((model.njoints, 15))
        self.tree: Indices = np.zeros((model.njoints, 3), dtype=np.int64)
        for number in range(1, model.njoints):
            axis, slides = _axis(model.joints[number])
            self.joints[number] = [*frame_numbers(model.jointPlacements[number]), *axis]
            column = columns[model.joints[number].idx_v]
            self.tree[number] = model.parents[number], column, slides
        self.places = np.zeros((model.njoints, 12))
        self.places[0, :9] = np.eye(3).ravel()
        self.positions = np.zeros(len(columns))


class FrameTree(LinkTree):
    """The same with frames on the links, and their Jacobian.

    Args:
        model: Pinocchio's model; joint vectors are in its order.
        frames: Indices of the frames.

    Attributes:
        frames: Rotation, row by row, and position of every frame, shape (F, 12).
        jacobian: Spatial velocities at the world's origin per joint velocity, shape (6, N):
            linear over angular.
    """

    def __init__(self, model: Any, frames: list[int]) -> None:
        super().__init__(model, np.arange(model.nv))
        found = [model.frames[frame] for frame in frames]
        self._owners: Indices = np.array([frame.parentJoint for frame in found], dtype=np.int64)
        self._offsets = np.array([frame_numbers(frame.placement) for frame in found])
        self.frames = np.zeros((len(frames), 12))
        self.jacobian = np.zeros((6, model.nv))

    def update(self, joints: Array) -> None:
        """Compute everything for joint positions [rad] or [m]."""
        self.positions[:] = joints
        link_kernels.place_frames(
            self.joints,
            self.tree,
            self.positions,
            self.places,
            self._owners,
            self._offsets,
            self.frames,
            self.jacobian,
        )


def frame_numbers(placement: Any) -> Array:
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
