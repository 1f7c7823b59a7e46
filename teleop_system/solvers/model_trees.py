# SPDX-License-Identifier: Apache-2.0
"""Link trees of URDF and MJCF files, without a library of kinematics.

Frames are those of the solvers: the origin is the root link of a URDF, or the body of an MJCF
that has a free joint.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots.mjcf import compile_mjcf
from teleop_system.robots.urdf import UrdfModel
from teleop_system.solvers.link_tree import LinkTree, TreeFrame, TreeJoint
from teleop_system.utils.poses import ORIGIN, PoseTuple, compose
from teleop_system.utils.quaternion_kernels import Vector, from_rotation_vector
from teleop_system.utils.transforms import (
    euler_to_quat,
    mujoco_to_ros2_quaternion,
    quat_to_matrix,
)

FREE, SLIDE = 0, 2  # MuJoCo's mjtJoint.
MOVING = ("revolute", "continuous", "prismatic")

Attachment = tuple[int, PoseTuple]
"""A joint's index in the tree, and a pose in the frame of the link behind it."""


class _ModelTree:
    """A tree under construction, with the names of its joints."""

    def __init__(self, names: Sequence[str]) -> None:
        self._size = len(names)
        self.names = list(names)
        self._joints: list[TreeJoint] = []
        self._frames: list[TreeFrame] = []

    def add_joint(self, name: str, attachment: Attachment, axis: Vector, *, slides: bool) -> int:
        """Add a joint at a pose on a link; return its index."""
        if name not in self.names:
            self.names.append(name)
        parent, (position, quaternion) = attachment
        rotation, column = quat_to_matrix(quaternion), self.names.index(name)
        self._joints.append(TreeJoint(parent, rotation, position, axis, slides, column))
        return len(self._joints)

    def add_frame(self, attachment: Attachment) -> None:
        """Add a frame of interest."""
        joint, (position, quaternion) = attachment
        self._frames.append(TreeFrame(joint, quat_to_matrix(quaternion), position))

    def build(self, fixed: Mapping[str, float]) -> tuple[LinkTree, list[str]]:
        """Return the finished tree, and the names of all its joints by column."""
        positions = [float(fixed.get(name, 0.0)) for name in self.names[self._size :]]
        return LinkTree(self._joints, self._frames, self._size, positions), self.names


def urdf_tree(
    model: UrdfModel, links: Sequence[str], names: Sequence[str], fixed: Mapping[str, float]
) -> tuple[LinkTree, list[str]]:
    """Return the tree of all joints that move some links, with a frame on each of these.

    Args:
        model: The model.
        links: Names of the links.
        names: Joints in the order of vectors of joint positions.
        fixed: Positions of all other joints by name; 0 for those that are not named.

    Returns:
        The tree, and the names of all its joints by column.

    Raises:
        UnknownNameError: The model has no such link.
    """
    tree = _ModelTree(names)
    above = {joint.child: joint for joint in model.joints.values()}
    attachments: dict[str, Attachment] = {}

    def attach(link: str) -> Attachment:
        if link not in attachments:
            joint = above.get(link)
            if joint is None:
                return 0, ORIGIN
            parent, offset = attach(joint.parent)
            x, y, z, w = euler_to_quat(*joint.rpy).tolist()
            found = parent, compose(offset, (joint.xyz, (x, y, z, w)))
            if joint.kind in MOVING:
                slides = joint.kind == "prismatic"
                found = tree.add_joint(joint.name, found, joint.axis, slides=slides), ORIGIN
            attachments[link] = found
        return attachments[link]

    for link in links:
        if link not in model.masses:
            raise UnknownNameError("link", link, model.masses)
        tree.add_frame(attach(link))
    return tree.build(fixed)


def mjcf_tree(
    path: Path, frames: Sequence[str], names: Sequence[str], fixed: Mapping[str, float]
) -> tuple[LinkTree, list[str]]:
    """Return the same for an MJCF, with frames on bodies or at sites.

    Raises:
        ModelError: The file cannot be read.
        UnknownNameError: The model has no such body or site.
    """
    model, tree = compile_mjcf(path), _ModelTree(names)
    bodies = {model.body(index).name: index for index in range(1, model.nbody)}
    sites = {model.site(index).name: index for index in range(model.nsite)}
    attachments: dict[int, Attachment] = {0: (0, ORIGIN)}

    def attach(body: int) -> Attachment:
        if body not in attachments:
            joint, offset = attach(int(model.body_parentid[body]))
            offset = compose(offset, _pose(model.body_pos[body], model.body_quat[body]))
            first = int(model.body_jntadr[body])
            found = joint, offset
            for index in range(first, first + int(model.body_jntnum[body])):
                found = _after_joint(model, index, found, tree)
            attachments[body] = found
        return attachments[body]

    for name in frames:
        if name in bodies:
            tree.add_frame(attach(bodies[name]))
        elif name in sites:
            site = sites[name]
            joint, offset = attach(int(model.site_bodyid[site]))
            on_body = _pose(model.site_pos[site], model.site_quat[site])
            tree.add_frame((joint, compose(offset, on_body)))
        else:
            raise UnknownNameError("body or site", name, [*bodies, *sites])
    return tree.build(fixed)


def _after_joint(model: Any, index: int, attachment: Attachment, tree: _ModelTree) -> Attachment:
    """Return the attachment of a body behind a joint."""
    kind = int(model.jnt_type[index])
    if kind == FREE:
        return 0, ORIGIN
    x, y, z = model.jnt_pos[index].tolist()
    ax, ay, az = model.jnt_axis[index].tolist()
    # MuJoCo draws the model at `qpos0`, and counts positions from there.
    zero = -float(model.qpos0[model.jnt_qposadr[index]])
    along = (zero * ax, zero * ay, zero * az)
    slides = kind == SLIDE
    motion = (along, ORIGIN[1]) if slides else (ORIGIN[0], from_rotation_vector(along))
    parent, offset = attachment
    at_joint = compose(compose(offset, ((x, y, z), ORIGIN[1])), motion)
    name = model.joint(index).name
    joint = tree.add_joint(name, (parent, at_joint), (ax, ay, az), slides=slides)
    return joint, ((-x, -y, -z), ORIGIN[1])


def _pose(position: Any, wxyz: Any) -> PoseTuple:
    px, py, pz = position.tolist()
    x, y, z, w = mujoco_to_ros2_quaternion(wxyz).tolist()
    return (px, py, pz), (x, y, z, w)
