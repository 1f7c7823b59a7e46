# SPDX-License-Identifier: Apache-2.0
"""A place for a process of the stack: empty, or with a process that carries one node or more."""

import signal

from teleop_system.stacks.plan import StackPlan
from teleop_system.stacks.supervisor.composition import MODULE as COMPOSITION
from teleop_system.stacks.supervisor.composition import composed_arguments
from teleop_system.stacks.supervisor.managed import ManagedNode
from teleop_system.stacks.supervisor.node_process import NodeProcess, host_command


class Host:
    """Starts its process again as often as it is asked to.

    Args:
        label: Name in front of the lines of its process.
        command: What to run after the Python interpreter.
        nodes: The nodes that live in it.
    """

    def __init__(self, label: str, command: list[str], nodes: list[ManagedNode]) -> None:
        self.label = label
        self.nodes = nodes
        self.process: NodeProcess | None = None
        self.last_words = ""
        self._command = command
        for node in nodes:
            node.on_heard = self._on_heard

    def start(self) -> NodeProcess | None:
        """Start the process and return it; None where there is one already."""
        if self.process is not None:
            return None
        self.process = NodeProcess(self.label, self._command)
        for node in self.nodes:
            node.started()
        return self.process

    def _on_heard(self, now: float) -> None:
        # Nodes in one process answer one after the other: while one loads a model, the rest wait.
        for node in self.nodes:
            node.watch.be_patient(now)

    def kill(self) -> None:
        """End a process that does not answer; there is nothing to wait for."""
        if self.process is not None:
            self.process.signal(signal.SIGKILL)

    def ended(self, how: str) -> NodeProcess:
        """Take note that the process is gone; return it."""
        process, self.process = self.process, None
        assert process is not None
        self.last_words = process.last_line
        for node in self.nodes:
            node.ended(how)
        return process


def make_hosts(plan: StackPlan, nodes: list[ManagedNode], *, compose: bool) -> list[Host]:
    """Return a place for every node, or one for all of them."""
    if not compose:
        return [
            Host(
                node.label,
                host_command(node.plan.kind.module, node.plan.ros_arguments()),
                [node],
            )
            for node in nodes
        ]
    arguments = composed_arguments([node.plan for node in nodes])
    return [Host(plan.stack.name, host_command(COMPOSITION, arguments), nodes)]
