# SPDX-License-Identifier: Apache-2.0
"""Parts of a stack: kinds of nodes, their conditions, and options."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from teleop_system.exceptions import UnknownNameError
from teleop_system.stacks.options import Option, Value


class Stage(enum.IntEnum):
    """Order of activation: a stage waits until all nodes of the earlier stages are active."""

    ROBOT = 0
    """First the robot: it holds until it is engaged."""
    MODULES = 1
    """Then the controllers."""
    OPERATOR = 2
    """Last the operator's devices, so that every listener is active before samples come."""


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A kind of node.

    Attributes:
        executable: Name of the console script and of the ROS 2 node.
        module: Module with its `main`.
        class_name: Name of its class, to run several nodes in one process.
        stage: Stage of activation.
        summary: One line for lists.
    """

    executable: str
    module: str
    class_name: str
    stage: Stage
    summary: str

    @property
    def status_name(self) -> str:
        """Return its name on the status topic."""
        return "teleop/robot" if self.stage is Stage.ROBOT else f"teleop/{self.executable}"


@dataclass(frozen=True, slots=True)
class Condition:
    """True if an option has one of some values, or its list contains one."""

    option: str
    any_of: tuple[str | bool, ...]

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Return whether the condition is true for these values of all options."""
        value = values[self.option]
        chosen = value if isinstance(value, tuple) else (value,)
        return any(entry in self.any_of for entry in chosen)


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a stack; it is part of the stack if all conditions are true."""

    kind: NodeKind
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Stack:
    """Nodes that are started together."""

    name: str
    summary: str
    members: tuple[Member, ...]
    options: Mapping[str, Option]

    def option(self, name: str) -> Option:
        """Return an option by its name.

        Raises:
            UnknownNameError: If the stack has no such option.
        """
        if name not in self.options:
            raise UnknownNameError(f"option of {self.name}", name, self.options)
        return self.options[name]
