# SPDX-License-Identifier: Apache-2.0
"""The launcher's own node in the ROS 2 graph: it asks for lifecycles and listens to reports."""

import os
import time
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.status import Level, StatusListener
from teleop_system.stacks.supervisor.rows import Report
from teleop_system.utils.ros2_helpers import TopicNames

TURN = 0.05
"""Longest time in [s] that a turn waits."""


class SupervisorNode(Node):
    """A plain node with the reports of all others."""

    def __init__(self, prefix: str, context: Any) -> None:
        super().__init__(
            f"teleop_launch_{os.getpid()}",
            namespace=f"/{prefix.strip('/')}",
            context=context,
            use_global_arguments=False,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._prefix = prefix
        self._listener = StatusListener(self, ("teleop/",))

    def topic(self, name: str) -> str:
        """Return a name of `TopicNames` below the prefix."""
        return TopicNames.with_prefix(name, self._prefix)

    def steady(self) -> float:
        """Return a time in [s] that never jumps."""
        return time.monotonic()

    def report(self, name: str) -> Report | None:
        """Return what a node last said about itself; None where that is too long ago."""
        heard = self._listener.report(name)
        if heard is None:
            return None
        return Report(heard.message, heard.values, is_well=heard.level is Level.OK)

    def rivals(self, names: set[str]) -> list[str]:
        """Return those of the full names that somebody in the graph has already."""
        present = {
            f"{namespace.rstrip('/')}/{name}"
            for name, namespace in self.get_node_names_and_namespaces()
        }
        return sorted(names & present)


class Graph:
    """The connection to ROS 2: context, node and executor, opened and closed together."""

    def __init__(self, prefix: str) -> None:
        self._context = rclpy.Context()
        # Signals are the supervisor's own business: it has children to take down first.
        # And what the user typed is for the nodes, not for this one.
        rclpy.init(args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self.node = SupervisorNode(prefix, self._context)
        self._executor = LeanExecutor(context=self._context, rare_interval=TURN)
        self._executor.add_node(self.node)

    @property
    def domain(self) -> int:
        """The ROS domain."""
        return int(self._context.get_domain_id())

    def turn(self, timeout: float = TURN) -> None:
        """Wait for messages and answers for at most `timeout` [s], and handle them."""
        self._executor.turn(timeout)

    def close(self) -> None:
        """Leave the graph."""
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)
