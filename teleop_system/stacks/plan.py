# SPDX-License-Identifier: Apache-2.0
"""Computes the nodes of a stack and their parameters from the user's options."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.description import NodeKind, Stack
from teleop_system.stacks.options import Option, Value, override_text, parse_values
from teleop_system.utils.ros2_helpers import TopicNames

OVERRIDES = "overrides"
LOG_LEVEL = "log_level"
"""An argument of ROS 2, not a parameter of a node."""


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node to start.

    Attributes:
        kind: Kind of node.
        namespace: Namespace; it has the topic prefix, so that nodes of two robots differ.
        parameters: Parameters by name.
        log_level: Least severe level in its log.
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
        """Return the command line arguments."""
        arguments = ["--ros-args", "-r", f"__node:={self.kind.executable}"]
        if self.namespace != "/":
            arguments += ["-r", f"__ns:={self.namespace}"]
        for name, value in self.parameters.items():
            arguments += ["-p", f"{name}:={yaml_text(value)}"]
        return [*arguments, "--log-level", self.log_level]


@dataclass(frozen=True, slots=True)
class StackPlan:
    """All nodes of a stack, in the order of activation."""

    stack: Stack
    nodes: tuple[NodePlan, ...]
    values: Mapping[str, Value]

    @property
    def prefix(self) -> str:
        """Return the prefix of the topics."""
        return str(self.values.get("topic_prefix", ""))

    def node(self, executable: str) -> NodePlan:
        """Return the node of an executable; KeyError if it is not in the plan."""
        for node in self.nodes:
            if node.kind.executable == executable:
                return node
        raise KeyError(executable)


def make_plan(stack: Stack, texts: Mapping[str, str] | None = None) -> StackPlan:
    """Return the nodes of a stack for options as typed.

    Raises:
        ConfigError: If an option does not exist, has an invalid value, or contradicts another.
    """
    values = parse_values(stack.options, texts or {})
    _check_time(values)
    if values.get("stream"):
        values = {**values, "camera": True}  # A stream needs the camera.
    prefix = str(values.get("topic_prefix", ""))
    TopicNames.with_prefix(TopicNames.STATUS, prefix)  # Raises if the prefix is invalid in ROS 2.
    kinds = [
        member.kind
        for member in stack.members
        if all(condition.holds(values) for condition in member.conditions)
    ]
    if not kinds:
        raise ConfigError(f"{stack.name} has no nodes with these options")
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
    """Return the parameters of one node, from the values of all options."""
    parameters: dict[str, Value] = {}
    overrides: list[str] = []
    for name, option in options.items():
        value = values[name]
        if value in ("", ()):
            continue  # The configuration or the node has the default.
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
    """Return a value for the ROS 2 command line, which keeps its type."""
    if isinstance(value, tuple):
        return json.dumps(list(value), ensure_ascii=False)
    if isinstance(value, float) and value == int(value):
        return f"{value:.1f}"  # Without a decimal point ROS 2 reads an integer.
    return json.dumps(value, ensure_ascii=False)


def _check_time(values: Mapping[str, Value]) -> None:
    pace = values.get("pace", "real_time")
    if pace != "real_time" and values.get("use_sim_time") is False:
        raise ConfigError(f"pace:={pace} uses simulated time and needs use_sim_time:=true")
