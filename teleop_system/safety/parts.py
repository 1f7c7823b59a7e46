# SPDX-License-Identifier: Apache-2.0
"""The parts of a robot that are commanded separately, and all their joints in one order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import UnknownNameError
from teleop_system.robots.description import RobotDescription

Array = NDArray[np.float64]

HEAD = "head"
BASE = "base"
LARGEST = 1e6
"""Stands in for an infinite limit, which the arithmetic could not use."""


@dataclass(frozen=True, slots=True)
class Part:
    """Joints that follow one stream of commands.

    Attributes:
        name: "right_arm", "torso", "right_hand", "head" and the like.
        joints: Their names, in the order of commands without names.
        columns: Their indices in every joint vector.
    """

    name: str
    joints: tuple[str, ...]
    columns: slice


class RobotParts(Mapping[str, Part]):
    """The parts of a robot by name: its chains, `<name>_hand` for each hand, and "head".

    A joint belongs to one part only, chains first; the fingers of a hand count as the hand.

    Args:
        robot: The robot.

    Attributes:
        joints: All joints, part after part.
        lower: Smallest positions in [rad] or [m], shape (N,), read-only, as all that follow.
        upper: Largest positions.
        velocity: Largest speeds in [rad/s] or [m/s].
        acceleration: Largest accelerations in [rad/s^2] or [m/s^2].
        jerk: Largest jerks in [rad/s^3] or [m/s^3].
    """

    def __init__(self, robot: RobotDescription) -> None:
        parts: dict[str, Part] = {}
        taken: list[str] = []
        for name, joints in _groups(robot):
            own = tuple(joint for joint in joints if joint not in taken)
            if own:
                columns = slice(len(taken), len(taken) + len(own))
                parts[name] = Part(name, own, columns)
                taken.extend(own)
        self._parts = MappingProxyType(parts)
        self.joints = tuple(taken)
        limits = [robot.limits(joint) for joint in taken]
        self.lower = _frozen([limit.lower for limit in limits])
        self.upper = _frozen([limit.upper for limit in limits])
        self.velocity = _frozen([min(limit.velocity, LARGEST) for limit in limits])
        self.acceleration = _frozen([min(limit.acceleration, LARGEST) for limit in limits])
        self.jerk = _frozen([min(limit.jerk, LARGEST) for limit in limits])

    def __getitem__(self, name: str) -> Part:
        try:
            return self._parts[name]
        except KeyError:
            raise UnknownNameError("part", name, self._parts) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def size(self) -> int:
        """Number of joints N."""
        return len(self.joints)


def _groups(robot: RobotDescription) -> Iterator[tuple[str, tuple[str, ...]]]:
    for chain in robot.chains.values():
        if chain.kind != "finger":
            yield chain.name, chain.joints
    for hand in robot.hands.values():
        yield f"{hand.name}_hand", hand.joints
    if robot.head is not None:
        yield HEAD, robot.head.joints
    for chain in robot.chains.values():
        yield chain.name, chain.joints


def _frozen(values: list[float]) -> Array:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
