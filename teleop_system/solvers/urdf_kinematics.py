# SPDX-License-Identifier: Apache-2.0
"""The moving part of a URDF, for solvers that do without Pinocchio."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError, ModelError, UnknownNameError
from teleop_system.robots.urdf import UrdfJoint, read_urdf
from teleop_system.solvers.link_tree import LinkTree
from teleop_system.solvers.model_trees import urdf_tree
from teleop_system.solvers.motion_bounds import JointLimitArrays
from teleop_system.solvers.options import (
    DEFAULT_ACCELERATION,
    DEFAULT_VELOCITY,
    LimitsByName,
    SolverOptions,
)

Array = NDArray[np.float64]


class UrdfKinematics:
    """A URDF reduced to the joints that a solver moves; names and order as `KinematicModel`.

    Attributes:
        joint_names: Joints in the order of every joint vector.
        external_order: The identity: there is only one order here.
        limits: Limits of the joints.
        posture: The reference posture of the joints.
    """

    def __init__(self, path: str, options: SolverOptions) -> None:
        file = Path(path)
        if file.suffix == ".xml":
            raise ModelError("this solver reads URDF files only", file)
        model = read_urdf(file)
        if not options.chains:
            raise ConfigError("a solver needs at least one chain; `chains` is empty")
        reference = options.reference_posture
        links = [config.ee_frame for config in options.chains.values()]
        # Without names, all joints that move a chain.
        names = options.joint_names or urdf_tree(model, links, (), reference)[1]
        for name in (*names, *reference):
            if name not in model.moving_joints:
                raise UnknownNameError("joint", name, model.moving_joints)
        self.joint_names = list(names)
        self._tree = urdf_tree(model, links, names, reference)[0]
        self.external_order = np.arange(len(self.joint_names))
        joints = [model.joints[name] for name in self.joint_names]
        self.limits = _limits(joints, options)
        posture = [reference.get(name, 0.0) for name in self.joint_names]
        self.posture = np.clip(posture, self.limits.lower, self.limits.upper)

    def to_internal(self, joints: Array) -> Array:
        """Return a joint vector of the caller in internal order, which is the same."""
        return joints

    def tree(self) -> LinkTree:
        """Return the link tree with a frame for every chain."""
        return self._tree


def _limits(joints: list[UrdfJoint], options: SolverOptions) -> JointLimitArrays:
    ranges = [
        options.position_limits.get(joint.name, (joint.lower, joint.upper)) for joint in joints
    ]
    lower, upper = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    velocity = [
        _limit(options.velocity_limits, joint.name, joint.velocity or DEFAULT_VELOCITY)
        for joint in joints
    ]
    acceleration = [
        _limit(options.acceleration_limits, joint.name, DEFAULT_ACCELERATION) for joint in joints
    ]
    return JointLimitArrays(lower, upper, np.array(velocity), np.array(acceleration))


def _limit(given: LimitsByName, name: str, default: float) -> float:
    return float(given.get(name, default) if isinstance(given, Mapping) else given)
