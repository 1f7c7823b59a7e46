# SPDX-License-Identifier: Apache-2.0
"""Where the end effectors are for given joints, and how far they reach.

The controller asks when a clutch closes, not in every tick, so that plain arithmetic will do and
the controller needs no library of kinematics. Frames are those of the solvers: the root link of
a URDF, or of an MJCF the body without a parent.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from teleop_system.exceptions import UnknownNameError
from teleop_system.modules.arm_teleop.spatial import (
    ORIGIN,
    Placement,
    Vector,
    compose,
    from_rotation_vector,
    inverse,
)
from teleop_system.robots.description import Chain, RobotDescription
from teleop_system.robots.mjcf import compile_mjcf
from teleop_system.robots.urdf import UrdfJoint, read_urdf
from teleop_system.utils.transforms import euler_to_quat, mujoco_to_ros2_quaternion

FREE, SLIDE = 0, 2  # MuJoCo's mjtJoint.
MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, slots=True)
class Segment:
    """A rigid piece, and the joint at its end.

    Attributes:
        offset: Placement of the joint in the piece before.
        joint: Its name; empty for an end effector, which does not move.
        axis: Axis in the joint's own frame.
        slides: Whether it slides rather than turns.
    """

    offset: Placement
    joint: str = ""
    axis: Vector = (0.0, 0.0, 1.0)
    slides: bool = False

    def moved(self, position: float) -> Placement:
        """Return the placement behind the joint at a position [rad] or [m]."""
        x, y, z = self.axis
        along = (x * position, y * position, z * position)
        motion = (along, ORIGIN[1]) if self.slides else (ORIGIN[0], from_rotation_vector(along))
        return compose(self.offset, motion)


@dataclass(frozen=True, slots=True)
class Reach:
    """The sphere that an end effector cannot leave.

    Attributes:
        centre: Its centre in [m], in the frame of the chain `carrier` or, without one, the base.
        radius: Stretched length of the chain in [m].
        carrier: Chain that carries this one, or None.
    """

    centre: Vector
    radius: float
    carrier: str | None = None


class ChainKinematics:
    """Forward kinematics of the chains of a robot.

    Args:
        robot: The robot.
        chains: The chains, by name.
        joints: Joints in the order of every joint vector; all others stay at the initial pose.

    Raises:
        ModelError: The model file cannot be read.
        UnknownNameError: It has no such end effector.
    """

    def __init__(
        self, robot: RobotDescription, chains: Mapping[str, Chain], joints: Sequence[str]
    ) -> None:
        self._order = {joint: index for index, joint in enumerate(joints)}
        self._others = robot.poses.get(robot.initial_pose, {}) if robot.poses else {}
        self._robot = robot
        self._chains = dict(chains)
        paths = _urdf_paths(robot, chains) if robot.urdf else _mjcf_paths(robot, chains)
        self._paths = dict(zip(chains, paths, strict=True))
        self._moving = {
            name: [segment.joint for segment in path if segment.joint in self._order]
            for name, path in self._paths.items()
        }

    def place(self, chain: str, positions: Sequence[float]) -> Placement:
        """Return where a chain's end effector is, for joint positions [rad] or [m]."""
        return self._follow(self._paths[chain], positions)

    def reach(self, chain: str) -> Reach | None:
        """Return the sphere that a chain's end effector cannot leave; None where unknown."""
        path = self._paths[chain]
        own = [i for i, segment in enumerate(path) if segment.joint in self._moving[chain]]
        first = next((i for i in own if path[i].joint in self._chains[chain].joints), len(path))
        carried = [path[i].joint for i in own if i < first]
        radius = sum(math.hypot(*segment.offset[0]) for segment in path[first + 1 :])
        radius += sum(self._slide(segment) for segment in path[first:])
        rest = [float(self._others.get(joint, 0.0)) for joint in self._order]
        stub = [*path[:first], Segment(path[first].offset if first < len(path) else ORIGIN)]
        centre = self._follow(stub, rest)
        if not carried:
            return Reach(centre[0], radius)
        for name, joints in self._moving.items():
            if name != chain and joints == carried:
                # Both are fixed to the last of these joints, however it stands.
                carrier = self._follow(self._paths[name], rest)
                return Reach(compose(inverse(carrier), centre)[0], radius, name)
        return None

    def _follow(self, path: Sequence[Segment], positions: Sequence[float]) -> Placement:
        place = ORIGIN
        for segment in path:
            index = self._order.get(segment.joint)
            rest = self._others.get(segment.joint, 0.0)
            position = float(rest if index is None else positions[index])
            place = compose(place, segment.moved(position) if segment.joint else segment.offset)
        return place

    def _slide(self, segment: Segment) -> float:
        limits = self._robot.joints.get(segment.joint)
        if not segment.slides or limits is None:
            return 0.0
        return max(abs(limits.lower), abs(limits.upper))


def _urdf_paths(
    robot: RobotDescription, chains: Mapping[str, Chain]
) -> Iterator[tuple[Segment, ...]]:
    assert robot.urdf is not None
    model = read_urdf(robot.urdf)
    above = {joint.child: joint for joint in model.joints.values()}
    for chain in chains.values():
        link = chain.end_effector
        if link not in model.masses:
            raise UnknownNameError("link", link, model.masses)
        path: list[UrdfJoint] = []
        while link in above:
            path.append(above[link])
            link = above[link].parent
        yield tuple(_urdf_segments(path[::-1]))


def _urdf_segments(path: Sequence[UrdfJoint]) -> Iterator[Segment]:
    fixed = ORIGIN
    for joint in path:
        x, y, z, w = euler_to_quat(*joint.rpy).tolist()
        fixed = compose(fixed, (joint.xyz, (x, y, z, w)))
        if joint.kind in MOVING:
            yield Segment(fixed, joint.name, joint.axis, joint.kind == "prismatic")
            fixed = ORIGIN
    yield Segment(fixed)


def _mjcf_paths(
    robot: RobotDescription, chains: Mapping[str, Chain]
) -> Iterator[tuple[Segment, ...]]:
    model = compile_mjcf(robot.mjcf)
    bodies = {model.body(index).name: index for index in range(1, model.nbody)}
    sites = {model.site(index).name: index for index in range(model.nsite)}
    for chain in chains.values():
        name, tool = chain.end_effector, ORIGIN
        if name in bodies:
            body = bodies[name]
        elif name in sites:
            body = int(model.site_bodyid[sites[name]])
            tool = _mujoco_placement(model.site_pos[sites[name]], model.site_quat[sites[name]])
        else:
            raise UnknownNameError("body or site", name, [*bodies, *sites])
        path = []
        while body != 0:
            path.append(body)
            body = int(model.body_parentid[body])
        yield tuple(_mjcf_segments(model, path[::-1], tool))


def _mjcf_segments(source: Any, path: Sequence[int], tool: Placement) -> Iterator[Segment]:
    fixed = ORIGIN
    for body in path:
        fixed = compose(fixed, _mujoco_placement(source.body_pos[body], source.body_quat[body]))
        first = source.body_jntadr[body]
        for index in range(first, first + source.body_jntnum[body]):
            if source.jnt_type[index] == FREE:
                fixed = ORIGIN  # Its body is the base.
                continue
            x, y, z = source.jnt_pos[index].tolist()
            slides = bool(source.jnt_type[index] == SLIDE)
            made = Segment(
                compose(fixed, ((x, y, z), ORIGIN[1])),
                source.joint(index).name,
                tuple(source.jnt_axis[index].tolist()),
                slides,
            )
            zero = -float(source.qpos0[source.jnt_qposadr[index]])
            yield Segment(made.moved(zero), made.joint, made.axis, slides)
            fixed = ((-x, -y, -z), ORIGIN[1])
    yield Segment(compose(fixed, tool))


def _mujoco_placement(position: Any, wxyz: Any) -> Placement:
    px, py, pz = position.tolist()
    x, y, z, w = mujoco_to_ros2_quaternion(wxyz).tolist()
    return (px, py, pz), (x, y, z, w)
