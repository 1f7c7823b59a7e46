# SPDX-License-Identifier: Apache-2.0
"""Several nodes of a stack in one process: `… EXECUTABLE... -- PARAMETERS [ROS ARGUMENTS]`."""

import importlib
import json
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import rclpy

from teleop_system.ros2.executor import spin
from teleop_system.ros2.fast_dds import enlarge_shared_memory
from teleop_system.stacks.catalogue import MUJOCO_BRIDGE, NODES
from teleop_system.stacks.description import NodeKind
from teleop_system.stacks.plan import NodePlan

MODULE = "teleop_system.stacks.supervisor.composition"


def composed_arguments(nodes: Sequence[NodePlan]) -> list[str]:
    """Return the command line of a process that runs all of these nodes.

    Parameters are passed as one JSON text (JSON is valid YAML): on a command line, ROS 2 cannot
    assign a parameter to one node of a namespace.
    """
    parameters = {node.name: {"ros__parameters": node.parameters} for node in nodes}
    arguments = [*(node.kind.executable for node in nodes), "--", json.dumps(parameters)]
    for node in nodes:
        logger = node.name.strip("/").replace("/", ".")
        arguments += ["--log-level", f"{logger}:={node.log_level}"]
        if node.namespace != "/":
            arguments += ["-r", f"{node.kind.executable}:__ns:={node.namespace}"]
    return arguments


def node_class(kind: NodeKind) -> Any:
    """Return the class of a kind of node."""
    return getattr(importlib.import_module(kind.module), kind.class_name)


def main() -> None:
    """Run the named nodes in one executor until shutdown."""
    end = sys.argv.index("--")
    if MUJOCO_BRIDGE.executable in sys.argv[1:end]:
        enlarge_shared_memory()
    classes = [node_class(NODES[name]) for name in sys.argv[1:end]]
    parameters, *arguments = sys.argv[end + 1 :]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(parameters)
        file.flush()
        rclpy.init(args=["--ros-args", "--params-file", file.name, *arguments])
    nodes = [make() for make in classes]
    try:
        spin(*nodes)
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
