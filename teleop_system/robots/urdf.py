# SPDX-License-Identifier: Apache-2.0
"""A small URDF reader: names, tree, limits and masses, without a robotics library."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from teleop_system.exceptions import ModelError

Triple = tuple[float, float, float]

MOVING_TYPES = ("revolute", "continuous", "prismatic")
JOINT_TYPES = (*MOVING_TYPES, "fixed", "floating", "planar")


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """One joint of a URDF.

    Attributes:
        name: Name of the joint.
        kind: "revolute", "continuous", "prismatic", "fixed", "floating" or "planar".
        parent: Parent link.
        child: Child link.
        lower: Smallest position in [rad] or [m]; minus infinity without a limit.
        upper: Largest position in [rad] or [m]; infinity without a limit.
        velocity: Largest speed in [rad/s] or [m/s], or None.
        effort: Largest torque in [N m] or force in [N], or None.
        mimics: Joint that this one follows, or None.
        multiplier: Factor of the followed joint's position.
        offset: Position in [rad] or [m] at zero of the followed joint.
        xyz: Origin in the parent link in [m].
        rpy: Roll, pitch and yaw of the origin in [rad], about fixed axes in that order.
        axis: Axis in the joint's own frame, of unit length.
    """

    name: str
    kind: str
    parent: str
    child: str
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float | None = None
    effort: float | None = None
    mimics: str | None = None
    multiplier: float = 1.0
    offset: float = 0.0
    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)
    axis: Triple = (1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class UrdfModel:
    """Contents of a URDF.

    Attributes:
        path: The file.
        name: Name of the robot in the file.
        joints: Joints by name, in the order of the file.
        masses: Mass of every link in [kg]; 0 for a frame without inertia.
    """

    path: Path
    name: str
    joints: Mapping[str, UrdfJoint]
    masses: Mapping[str, float]

    @property
    def moving_joints(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order of the file."""
        return tuple(name for name, joint in self.joints.items() if joint.kind in MOVING_TYPES)

    @property
    def total_mass(self) -> float:
        """Mass of all links in [kg]."""
        return sum(self.masses.values())

    @property
    def root(self) -> str:
        """Name of the link without a parent."""
        children = {joint.child for joint in self.joints.values()}
        return next(link for link in self.masses if link not in children)


def read_urdf(path: Path) -> UrdfModel:
    """Read a URDF file.

    Raises:
        ModelError: The file is missing, is not XML, or is not a usable URDF.
    """
    try:
        root = ET.parse(path).getroot()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path) from error
    except ET.ParseError as error:
        raise ModelError(f"is not well-formed XML: {error}", path) from error
    if root.tag != "robot":
        raise ModelError(f"is not a URDF: its root is <{root.tag}>, not <robot>", path)
    masses = {_name(link, path): _mass(link, path) for link in root.findall("link")}
    joints = {}
    for element in root.findall("joint"):
        joint = _read_joint(element, path)
        for link in (joint.parent, joint.child):
            if link not in masses:
                raise ModelError(f"joint {joint.name!r} names the unknown link {link!r}", path)
        joints[joint.name] = joint
    if len(masses) - len({joint.child for joint in joints.values()}) != 1:
        raise ModelError("its links must form one tree with one root link", path)
    return UrdfModel(
        path, root.get("name", path.stem), MappingProxyType(joints), MappingProxyType(masses)
    )


def _read_joint(element: ET.Element, path: Path) -> UrdfJoint:
    name = _name(element, path)
    kind = element.get("type", "")
    if kind not in JOINT_TYPES:
        raise ModelError(f"joint {name!r} has the unknown type {kind!r}", path)
    ends = [element.find(tag) for tag in ("parent", "child")]
    parent, child = (end.get("link", "") if end is not None else "" for end in ends)
    limit = element.find("limit")
    mimic = element.find("mimic")
    bounded = kind in ("revolute", "prismatic")
    if bounded and limit is None:
        raise ModelError(f"joint {name!r} is {kind} but has no <limit>", path)
    return UrdfJoint(
        name,
        kind,
        parent,
        child,
        # The format's own default for an absent bound is zero.
        lower=_or(_number(limit, "lower", path), 0.0) if bounded else -math.inf,
        upper=_or(_number(limit, "upper", path), 0.0) if bounded else math.inf,
        velocity=_number(limit, "velocity", path),
        effort=_number(limit, "effort", path),
        mimics=mimic.get("joint") if mimic is not None else None,
        multiplier=_or(_number(mimic, "multiplier", path), 1.0),
        offset=_or(_number(mimic, "offset", path), 0.0),
        xyz=_triple(element.find("origin"), "xyz", path) or (0.0, 0.0, 0.0),
        rpy=_triple(element.find("origin"), "rpy", path) or (0.0, 0.0, 0.0),
        axis=_axis(element, name, path),
    )


def _axis(element: ET.Element, joint: str, path: Path) -> Triple:
    x, y, z = _triple(element.find("axis"), "xyz", path) or (1.0, 0.0, 0.0)
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise ModelError(f"the axis of joint {joint!r} has length 0", path)
    return x / length, y / length, z / length


def _triple(element: ET.Element | None, attribute: str, path: Path) -> Triple | None:
    text = element.get(attribute) if element is not None else None
    if element is None or text is None:
        return None
    try:
        x, y, z = (float(word) for word in text.split())
    except ValueError:
        raise ModelError(f"<{element.tag} {attribute}={text!r}> needs 3 numbers", path) from None
    return x, y, z


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _name(element: ET.Element, path: Path) -> str:
    name = element.get("name")
    if not name:
        raise ModelError(f"a <{element.tag}> has no name", path)
    return name


def _mass(link: ET.Element, path: Path) -> float:
    return _number(link.find("inertial/mass"), "value", path) or 0.0


def _number(element: ET.Element | None, attribute: str, path: Path) -> float | None:
    text = element.get(attribute) if element is not None else None
    if element is None or text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise ModelError(f"<{element.tag} {attribute}={text!r}> is not a number", path) from None
