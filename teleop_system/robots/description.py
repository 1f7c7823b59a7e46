# SPDX-License-Identifier: Apache-2.0
"""Description of a robot: joints and limits, chains, hands, head, base and named poses."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from teleop_system.exceptions import InvalidValueError, UnknownNameError

Value = TypeVar("Value")

LIMIT_NAMES = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
CHAIN_KINDS = ("torso", "arm", "leg", "finger")
BASE_KINDS = ("differential", "floating")
SIDES = ("left", "right")

# The first of these that a robot has is the pose it starts in.
INITIAL_POSES = ("ready", "home", "a_pose", "zero")


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Position, velocity, acceleration, jerk and effort limits of a joint.

    Attributes:
        lower: Smallest position in [rad] or [m]; minus infinity for a wheel.
        upper: Largest position in [rad] or [m]; infinity for a wheel.
        velocity: Largest speed in [rad/s] or [m/s].
        acceleration: Largest acceleration in [rad/s^2] or [m/s^2].
        jerk: Largest declared jerk in [rad/s^3] or [m/s^3].
        effort: Largest torque in [N m] or force in [N]; infinity if unknown.
        assumed: Names of the limits that neither model nor `robot.yaml` states; they have
            cautious defaults.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = 1.0
    acceleration: float = 5.0
    jerk: float = 50.0
    effort: float = math.inf
    assumed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:  # Written so that NaN fails too.
            raise InvalidValueError(f"lower limit {self.lower} is above upper {self.upper}")
        for name in ("velocity", "acceleration", "jerk", "effort"):
            if not getattr(self, name) > 0.0:
                raise InvalidValueError(f"{name} must be positive, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Actuator:
    """One actuator of the model.

    Attributes:
        name: Name in the MJCF.
        joint: Driven joint; for a tendon, its first joint.
        kind: Meaning of its control signal: "position", "velocity" or "effort".
    """

    name: str
    joint: str
    kind: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Joints in series from the body towards an end effector.

    Attributes:
        name: Name within the robot, such as "right_arm".
        kind: "torso", "arm", "leg" or "finger".
        side: "left", "right" or None.
        joints: Joint names from the body to the end effector.
        end_effector: Name of the body, link or site that follows a target.
    """

    name: str
    kind: str
    side: str | None
    joints: tuple[str, ...]
    end_effector: str


@dataclass(frozen=True, slots=True)
class Hand:
    """A gripper or a multi-fingered hand.

    Attributes:
        name: Name within the robot, usually its side.
        kind: "gripper", "hand", or a product name such as "dg5f".
        side: "left", "right" or None.
        joints: Joint names in command order.
        open: Positions of the open hand in [rad] or [m], one per joint.
        closed: Positions of the closed hand in [rad] or [m], one per joint.
    """

    name: str
    kind: str
    side: str | None
    joints: tuple[str, ...]
    open: tuple[float, ...]
    closed: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """A neck that moves a camera.

    Attributes:
        pan: Joint that rotates to the left, or None.
        tilt: Joint that rotates down, or None.
        camera: Name of the camera it carries, or None.
    """

    pan: str | None
    tilt: str | None
    camera: str | None

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints of the neck, pan first."""
        return tuple(joint for joint in (self.pan, self.tilt) if joint is not None)


@dataclass(frozen=True, slots=True)
class Base:
    """The mobile base.

    Attributes:
        kind: "differential" for two driven wheels, "floating" for a free body without a drive.
        left_wheel: Joint of the left wheel, or None.
        right_wheel: Joint of the right wheel, or None.
        wheel_radius: Radius of the wheels in [m].
        track: Distance between the wheels in [m].
        axle_offset: Distance of the axle ahead of the base frame's origin in [m].
        wheel_sign: +1 if a positive wheel speed drives forward, -1 if backward.
        max_linear: Largest forward speed in [m/s].
        max_angular: Largest yaw rate in [rad/s].
        max_linear_acceleration: Largest forward acceleration in [m/s^2].
        max_angular_acceleration: Largest yaw acceleration in [rad/s^2].
    """

    kind: str
    left_wheel: str | None = None
    right_wheel: str | None = None
    wheel_radius: float = 0.1
    track: float = 0.5
    axle_offset: float = 0.0
    wheel_sign: int = 1
    max_linear: float = 0.5
    max_angular: float = 1.0
    max_linear_acceleration: float = 0.3
    max_angular_acceleration: float = 1.0

    def __post_init__(self) -> None:
        lengths = ("wheel_radius", "track")
        rates = ("max_linear", "max_angular")
        for name in (*lengths, *rates, *(f"{rate}_acceleration" for rate in rates)):
            if not getattr(self, name) > 0.0:
                raise InvalidValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.wheel_sign not in (-1, 1):
            raise InvalidValueError(f"wheel_sign must be 1 or -1, got {self.wheel_sign}")

    @property
    def joints(self) -> tuple[str, ...]:
        """The wheel joints, left first."""
        return tuple(wheel for wheel in (self.left_wheel, self.right_wheel) if wheel is not None)


@dataclass(frozen=True, slots=True)
class RobotDescription:
    """Description of one robot; mappings are read-only.

    Attributes:
        name: Name of the robot.
        folder: Folder of its model files.
        description: One line of text.
        mjcf: MJCF file.
        urdf: URDF file, or None.
        joints: Limits of every driven joint, in the order of the model.
        chains: Serial chains by name.
        poses: Named poses; each gives a position in [rad] or [m] for every driven joint.
        hands: Hands by name.
        head: The neck, or None.
        base: The mobile base, or None for a fixed robot.
        collision_pairs: Pairs of bodies that must keep their distance.
        actuators: Actuators in the order of the model.
        assumptions: Sentences about what was inferred or assumed.
    """

    name: str
    folder: Path
    mjcf: Path
    description: str = ""
    urdf: Path | None = None
    joints: Mapping[str, JointLimits] = field(default_factory=dict)
    chains: Mapping[str, Chain] = field(default_factory=dict)
    poses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hands: Mapping[str, Hand] = field(default_factory=dict)
    head: Head | None = None
    base: Base | None = None
    collision_pairs: tuple[tuple[str, str], ...] = ()
    actuators: tuple[Actuator, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        poses = {name: MappingProxyType(dict(pose)) for name, pose in self.poses.items()}
        object.__setattr__(self, "poses", MappingProxyType(poses))
        for name in ("joints", "chains", "hands"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def chain(self, name: str) -> Chain:
        """Return a chain by name.

        Raises:
            UnknownNameError: The chain does not exist.
        """
        return _find("chain", name, self.chains)

    def limits(self, joint: str) -> JointLimits:
        """Return the limits of a joint.

        Raises:
            UnknownNameError: The driven joint does not exist.
        """
        return _find("joint", joint, self.joints)

    def pose(self, name: str) -> Mapping[str, float]:
        """Return a named pose: a position in [rad] or [m] for every driven joint.

        Raises:
            UnknownNameError: The pose does not exist.
        """
        return _find("pose", name, self.poses)

    @property
    def dof(self) -> int:
        """Number of joints that can be commanded."""
        return len(self.controlled_joints)

    @property
    def controlled_joints(self) -> tuple[str, ...]:
        """Joints of the base, chains, hands and head, each once."""
        return controlled_joints(self.chains.values(), self.hands.values(), self.head, self.base)

    @property
    def initial_pose(self) -> str:
        """Name of the pose the robot starts in."""
        named = [name for name in INITIAL_POSES if name in self.poses]
        return (named or list(self.poses))[0]


def controlled_joints(
    chains: Iterable[Chain], hands: Iterable[Hand], head: Head | None, base: Base | None
) -> tuple[str, ...]:
    """Return the joints of all these parts, each once."""
    parts = [part for part in (base, *chains, *hands, head) if part is not None]
    return tuple(dict.fromkeys(joint for part in parts for joint in part.joints))


def _find(kind: str, name: str, choices: Mapping[str, Value]) -> Value:
    try:
        return choices[name]
    except KeyError:
        raise UnknownNameError(kind, name, choices) from None
