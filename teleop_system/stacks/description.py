# SPDX-License-Identifier: Apache-2.0
"""What a stack is made of: kinds of nodes, when each is part of it, and its options."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from teleop_system.exceptions import UnknownNameError
from teleop_system.stacks.options import Option, Value


class Stage(enum.IntEnum):
    """When a node is activated: the next stage waits until every node of this one is active."""

    ROBOT = 0
    """The robot first: it holds still until somebody it trusts commands it."""
    MODULES = 1
    """Then those who turn the operator's motion into commands."""
    OPERATOR = 2
    """The operator last, so that nothing moves before everybody listens."""


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A node that can be started.

    Attributes:
        executable: Name of the console script and of the ROS 2 node.
        module: Where its `main` is.
        class_name: The node's class in that module, for several nodes in one process.
        stage: When it is activated.
        summary: What it does, for lists.
    """

    executable: str
    module: str
    class_name: str
    stage: Stage
    summary: str

    @property
    def status_name(self) -> str:
        """Return the name under which it reports on the status topic."""
        return "teleop/robot" if self.stage is Stage.ROBOT else f"teleop/{self.executable}"


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds where an option has, or a list contains, one of some values."""

    option: str
    any_of: tuple[str | bool, ...]

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Tell whether it holds for the values of all options."""
        value = values[self.option]
        chosen = value if isinstance(value, tuple) else (value,)
        return any(entry in self.any_of for entry in chosen)


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a stack, and when it is part of it: where all conditions hold."""

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
            UnknownNameError: If the stack does not have it.
        """
        if name not in self.options:
            raise UnknownNameError(f"option of {self.name}", name, self.options)
        return self.options[name]
