# SPDX-License-Identifier: Apache-2.0
"""The supervisor's node in the ROS graph: status reports and names of other nodes."""

import os
import time
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from teleop_system.ros2.executor import LeanExecutor
from teleop_system.ros2.status import StatusListener, StatusReport
from teleop_system.utils.ros2_helpers import TopicNames

TIMEOUT = 0.05
"""Longest time in [s] of one wait for messages."""


class SupervisorNode(Node):
    """A plain node that receives the status reports of all nodes."""

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
        """Return a name of `TopicNames` with the prefix."""
        return TopicNames.with_prefix(name, self._prefix)

    def steady(self) -> float:
        """Return a time in [s] that never jumps."""
        return time.monotonic()

    def report(self, name: str) -> StatusReport | None:
        """Return the last status report of a node; None where there is no recent one."""
        return self._listener.report(name)

    def present(self, names: set[str]) -> list[str]:
        """Return those of the full node names that are in the graph."""
        found = {
            f"{namespace.rstrip('/')}/{name}"
            for name, namespace in self.get_node_names_and_namespaces()
        }
        return sorted(names & found)


class Graph:
    """Context, node and executor of the supervisor."""

    def __init__(self, prefix: str) -> None:
        self._context = rclpy.Context()
        # The supervisor handles signals itself: it must end its processes first. The command
        # line of the user is for the nodes, not for this one.
        rclpy.init(args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self.node = SupervisorNode(prefix, self._context)
        self._executor = LeanExecutor(context=self._context, rare_interval=TIMEOUT)
        self._executor.add_node(self.node)

    @property
    def domain(self) -> int:
        """The ROS domain."""
        return int(self._context.get_domain_id())

    def spin_once(self, timeout: float = TIMEOUT) -> None:
        """Wait for messages and answers for at most `timeout` [s], and run their callbacks."""
        self._executor.spin_once(timeout)

    def close(self) -> None:
        """Destroy the node."""
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)
