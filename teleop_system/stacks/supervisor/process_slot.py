# SPDX-License-Identifier: Apache-2.0
"""One process of a running stack with its nodes; it can be restarted."""

import signal

from teleop_system.stacks.plan import StackPlan
from teleop_system.stacks.supervisor.composition import MODULE as COMPOSITION
from teleop_system.stacks.supervisor.composition import composed_arguments
from teleop_system.stacks.supervisor.lifecycle import ManagedNode
from teleop_system.stacks.supervisor.node_process import NodeProcess, process_command


class ProcessSlot:
    """One process of the stack; it can be started again after its end.

    Args:
        label: Prefix of its output lines.
        command: Arguments of the Python interpreter.
        nodes: The nodes in the process.
    """

    def __init__(self, label: str, command: list[str], nodes: list[ManagedNode]) -> None:
        self.label = label
        self.nodes = nodes
        self.process: NodeProcess | None = None
        self.last_line = ""
        self._command = command
        for node in nodes:
            node.on_answer = self._on_answer

    def start(self) -> NodeProcess | None:
        """Start the process and return it; None if it is running."""
        if self.process is not None:
            return None
        self.process = NodeProcess(self.label, self._command)
        for node in self.nodes:
            node.started()
        return self.process

    def _on_answer(self, now: float) -> None:
        # Nodes in one process answer one after the other; while one loads a model, others wait.
        for node in self.nodes:
            node.watch.extend_wait(now)

    def kill(self) -> None:
        """Kill a process that does not answer."""
        if self.process is not None:
            self.process.signal(signal.SIGKILL)

    def ended(self, how: str) -> NodeProcess:
        """Record the end of the process; return it."""
        process, self.process = self.process, None
        assert process is not None
        self.last_line = process.last_line
        for node in self.nodes:
            node.ended(how)
        return process


def make_slots(plan: StackPlan, nodes: list[ManagedNode], *, compose: bool) -> list[ProcessSlot]:
    """Return a process per node, or with `compose` one process for all nodes."""
    if not compose:
        return [
            ProcessSlot(
                node.label,
                process_command(node.plan.kind.module, node.plan.ros_arguments()),
                [node],
            )
            for node in nodes
        ]
    arguments = composed_arguments([node.plan for node in nodes])
    return [ProcessSlot(plan.stack.name, process_command(COMPOSITION, arguments), nodes)]
