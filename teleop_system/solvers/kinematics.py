# SPDX-License-Identifier: Apache-2.0
"""The moving part of a robot model: joints by name, limits, shapes, and its link tree.

Inside, everything is in Pinocchio's order of joints; `to_internal()` and `external_order` convert
between it and the order of `joint_names`, which callers see.
"""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, UnknownNameError
from teleop_system.solvers.link_tree import LinkTree, TreeFrame, TreeJoint
from teleop_system.solvers.model_loader import (
    find_frame,
    joints_towards,
    load_model,
    movable_joints,
    posture_vector,
    reduce_model,
)
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import (
    DEFAULT_ACCELERATION,
    DEFAULT_VELOCITY,
    LimitsByName,
    SolverOptions,
)

Array = NDArray[np.float64]


class KinematicModel:
    """A Pinocchio model reduced to the joints that a solver moves.

    Attributes:
        model: The reduced Pinocchio model.
        geometry: Its collision geometry.
        joint_names: Joints in the caller's order.
        limits: Limits of the joints, internal order.
        posture: The reference posture of the joints, internal order.
        external_order: Internal index of each joint of `joint_names`.
        frames: Frame index of every chain, in the order of the options.
    """

    def __init__(self, path: str | os.PathLike[str], options: SolverOptions) -> None:
        full, geometry = load_model(path)
        if not options.chains:
            raise ConfigError("a solver needs at least one chain; `chains` is empty")
        _require_joints(full, options)
        names = options.joint_names or _joints_of_chains(full, options)
        self.joint_names = list(names)
        self.model, self.geometry = reduce_model(
            full, geometry, self.joint_names, options.reference_posture
        )
        self.frames = [
            find_frame(self.model, config.ee_frame) for config in options.chains.values()
        ]
        internal = movable_joints(self.model)
        self._to_internal = np.array([self.joint_names.index(name) for name in internal])
        self.external_order: NDArray[np.intp] = np.array(
            [internal.index(name) for name in self.joint_names]
        )
        self._layout = _ConfigurationLayout(self.model)
        self.limits = _limits(self.model, internal, options)
        reference = posture_vector(full, options.reference_posture)
        positions = [_joint_position(full, reference, name) for name in internal]
        self.posture = np.clip(positions, self.limits.lower, self.limits.upper)

    @property
    def size(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    def to_internal(self, joints: Array) -> Array:
        """Return a joint vector of the caller in internal order."""
        ordered: Array = joints[self._to_internal]
        return ordered

    def configuration(self, joints: Array) -> Array:
        """Return Pinocchio's configuration of joint positions in internal order."""
        return self._layout.configuration(joints)

    def tree(self) -> LinkTree:
        """Return the link tree with a frame for every chain; joint vectors in internal order."""
        return link_tree(self.model, np.arange(self.size), self.frames)


def link_tree(model: Any, columns: NDArray[np.intp], frames: Sequence[int]) -> LinkTree:
    """Return the link tree of a Pinocchio model; its joints keep their indices.

    Args:
        model: The model.
        columns: Index of each of its joints in joint vectors, shape (N,).
        frames: Indices of the frames of interest.
    """
    joints = []
    for number in range(1, model.njoints):
        joint, offset = model.joints[number], model.jointPlacements[number]
        axis, slides = _axis(joint)
        joints.append(
            TreeJoint(
                int(model.parents[number]),
                *(np.array(offset.rotation), np.array(offset.translation)),
                *(axis, slides),
                int(columns[joint.idx_v]),
            )
        )
    found = [model.frames[frame] for frame in frames]
    attached = [
        TreeFrame(
            frame.parentJoint,
            np.array(frame.placement.rotation),
            np.array(frame.placement.translation),
        )
        for frame in found
    ]
    return LinkTree(joints, attached, len(columns))


def _axis(joint: Any) -> tuple[Array, bool]:
    """Return the axis of a joint in its own frame, shape (3,), and whether it slides along it."""
    data = joint.createData()
    # Pinocchio keeps a joint without limits as a point on the unit circle.
    joint.calc(data, np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(joint.nq))
    motion = np.asarray(data.S).ravel()
    linear, angular = motion[:3], motion[3:]
    slides = not angular.any()
    return (linear if slides else angular), slides


class _ConfigurationLayout:
    """Converts joint positions to Pinocchio's configuration vector."""

    def __init__(self, model: Any) -> None:
        joints = list(model.joints)[1:]
        self._is_plain = all(joint.nq == 1 for joint in joints)
        self._starts = np.array([joint.idx_q for joint in joints])
        self._circular = np.array([joint.nq == 2 for joint in joints])
        self._vector = np.zeros(model.nq)

    def configuration(self, joints: Array) -> Array:
        if self._is_plain:
            return joints
        vector, circular = self._vector, self._circular
        vector[self._starts] = np.where(circular, np.cos(joints), joints)
        vector[self._starts[circular] + 1] = np.sin(joints[circular])
        return vector


def _require_joints(model: Any, options: SolverOptions) -> None:
    known = set(movable_joints(model))
    for option in ("position_limits", "velocity_limits", "acceleration_limits"):
        given = getattr(options, option)
        for name in given if isinstance(given, Mapping) else ():
            if name not in known:
                raise UnknownNameError(f"joint (in {option})", name, sorted(known))


def _joints_of_chains(model: Any, options: SolverOptions) -> list[str]:
    frames = [find_frame(model, config.ee_frame) for config in options.chains.values()]
    names = dict.fromkeys(name for frame in frames for name in joints_towards(model, frame))
    if not names:
        raise ConfigError("no joint of the model moves any of the chains")
    return list(names)


def _joint_position(model: Any, configuration: Array, name: str) -> float:
    joint = model.joints[model.getJointId(name)]
    if joint.nq == 2:
        return float(np.arctan2(configuration[joint.idx_q + 1], configuration[joint.idx_q]))
    return float(configuration[joint.idx_q])


def _limits(model: Any, names: list[str], options: SolverOptions) -> JointLimitArrays:
    given = options.position_limits
    lower, upper, velocity = [], [], []
    for name in names:
        joint = model.joints[model.getJointId(name)]
        low, high = -math.inf, math.inf
        if joint.nq == 1:
            low = float(model.lowerPositionLimit[joint.idx_q])
            high = float(model.upperPositionLimit[joint.idx_q])
        low, high = given.get(name, (low, high))
        if not low <= high:
            raise ConfigError(f"position limits of {name!r} are reversed: {low} > {high}")
        lower.append(low)
        upper.append(high)
        speed = float(model.upperVelocityLimit[joint.idx_v])
        velocity.append(speed if 0.0 < speed < 1e3 else DEFAULT_VELOCITY)
    speeds = dict(zip(names, velocity, strict=True))
    accelerations = dict.fromkeys(names, DEFAULT_ACCELERATION)
    return JointLimitArrays(
        np.array(lower),
        np.array(upper),
        _overridden("velocity_limits", speeds, options.velocity_limits),
        options.acceleration_share
        * _overridden("acceleration_limits", accelerations, options.acceleration_limits),
    )


def _overridden(option: str, values: Mapping[str, float], given: LimitsByName) -> Array:
    if isinstance(given, Mapping):
        chosen = [float(given.get(name, value)) for name, value in values.items()]
    else:
        chosen = [float(given)] * len(values)
    for name, value in zip(values, chosen, strict=True):
        if not 0.0 < value < math.inf:
            raise ConfigError(f"{option} of {name!r} must be positive and finite, got {value}")
    return np.array(chosen)
