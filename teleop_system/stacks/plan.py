# SPDX-License-Identifier: Apache-2.0
"""From a stack and what the user chose to the nodes to start, each with its parameters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.description import NodeKind, Stack
from teleop_system.stacks.options import Option, Value, override_text, parse_values
from teleop_system.utils.ros2_helpers import TopicNames

OVERRIDES = "overrides"
LOG_LEVEL = "log_level"
"""Goes to ROS 2 itself, not to a parameter of a node."""


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node to start.

    Attributes:
        kind: Which one.
        namespace: Of the node; "/" without a prefix, so that two robots' nodes differ by name.
        parameters: By name, as the node gets them.
        log_level: Least severe level that it logs.
    """

    kind: NodeKind
    namespace: str = "/"
    parameters: Mapping[str, Value] = field(default_factory=dict)
    log_level: str = "info"

    @property
    def name(self) -> str:
        """Return the full name of the node in the ROS 2 graph."""
        return f"{self.namespace.rstrip('/')}/{self.kind.executable}"

    def ros_arguments(self) -> list[str]:
        """Return what follows the executable on its command line."""
        arguments = ["--ros-args", "-r", f"__node:={self.kind.executable}"]
        if self.namespace != "/":
            arguments += ["-r", f"__ns:={self.namespace}"]
        for name, value in self.parameters.items():
            arguments += ["-p", f"{name}:={yaml_text(value)}"]
        return [*arguments, "--log-level", self.log_level]


@dataclass(frozen=True, slots=True)
class StackPlan:
    """All nodes of a stack to start, in the order in which they are activated."""

    stack: Stack
    nodes: tuple[NodePlan, ...]
    values: Mapping[str, Value]

    @property
    def prefix(self) -> str:
        """Return the prefix of the topics."""
        return str(self.values.get("topic_prefix", ""))

    def node(self, executable: str) -> NodePlan:
        """Return the node of an executable; KeyError where it is not part of the plan."""
        for node in self.nodes:
            if node.kind.executable == executable:
                return node
        raise KeyError(executable)


def make_plan(stack: Stack, texts: Mapping[str, str] | None = None) -> StackPlan:
    """Return what to start for a stack, with options as they were typed.

    Raises:
        ConfigError: If an option does not exist, has a value it cannot have, or two do not go
            together.
    """
    values = parse_values(stack.options, texts or {})
    _check_time(values)
    if values.get("stream"):
        values = {**values, "camera": True}  # There would be nothing to see.
    prefix = str(values.get("topic_prefix", ""))
    TopicNames.with_prefix(TopicNames.STATUS, prefix)  # A prefix ROS 2 cannot take ends here.
    kinds = [
        member.kind
        for member in stack.members
        if all(condition.holds(values) for condition in member.conditions)
    ]
    if not kinds:
        raise ConfigError(f"{stack.name} has no node to start with these options")
    namespace = f"/{prefix.strip('/')}"
    nodes = tuple(
        NodePlan(
            kind=kind,
            namespace=namespace,
            parameters=node_parameters(kind.executable, stack.options, values),
            log_level=str(values.get(LOG_LEVEL, "info")),
        )
        for kind in sorted(kinds, key=lambda kind: kind.stage)
    )
    return StackPlan(stack, nodes, values)


def node_parameters(
    executable: str, options: Mapping[str, Option], values: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the parameters that the values of a stack's options give to one of its nodes."""
    parameters: dict[str, Value] = {}
    overrides: list[str] = []
    for name, option in options.items():
        value = values[name]
        if value in ("", ()):
            continue  # Left to the configuration, or to the node's own default.
        for target in option.targets:
            if not target.reaches(executable) or target.parameter == LOG_LEVEL:
                continue
            if target.parameter != OVERRIDES:
                parameters[target.parameter] = value
            elif target.override:
                overrides.append(override_text(target.override, value))
            else:
                assert isinstance(value, tuple)
                overrides += value
    if overrides:
        parameters[OVERRIDES] = tuple(overrides)
    return parameters


def yaml_text(value: Value) -> str:
    """Return a value as ROS 2 reads it on a command line, of the same type and no other."""
    if isinstance(value, tuple):
        return json.dumps(list(value), ensure_ascii=False)
    if isinstance(value, float) and value == int(value):
        return f"{value:.1f}"  # Without a point it would be a whole number.
    return json.dumps(value, ensure_ascii=False)


def _check_time(values: Mapping[str, Value]) -> None:
    pace = values.get("pace", "real_time")
    if pace != "real_time" and values.get("use_sim_time") is False:
        raise ConfigError(
            f"pace:={pace} runs on simulated time; use_sim_time:=true is needed with it"
        )
