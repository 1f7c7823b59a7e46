# SPDX-License-Identifier: Apache-2.0
"""Runs a stack as processes, from start to shutdown."""

import os
import signal
import time
from dataclasses import dataclass, field
from types import FrameType

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.description import Stage
from teleop_system.stacks.plan import StackPlan
from teleop_system.stacks.supervisor.claims import NameClaims
from teleop_system.stacks.supervisor.display import (
    REFRESH,
    Display,
    NodeRow,
    make_row,
    summary,
)
from teleop_system.stacks.supervisor.graph import Graph
from teleop_system.stacks.supervisor.lifecycle import ManagedNode
from teleop_system.stacks.supervisor.node_process import (
    CpuMeter,
    OutputWatch,
    describe_exit,
    end_all,
)
from teleop_system.stacks.supervisor.node_watch import Action, Phase, SupervisionPolicy
from teleop_system.stacks.supervisor.process_slot import make_slots

EXIT_CLEAN, EXIT_FAILED = 0, 1
LINGER_TIME = 1.0
"""Time in [s] that ended nodes may stay in the graph."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options that are the same for all stacks."""

    compose: bool = False
    """Whether all nodes share one process."""
    duration: float | None = None
    """Time in [s] after all nodes are up at which the stack ends; None for never."""
    policy: SupervisionPolicy = field(default_factory=SupervisionPolicy)
    """Time-outs and restarts."""
    discovery_time: float = 1.0
    """Time in [s] to discover nodes with the same names on other machines."""


class Supervisor:
    """Starts a stack, restarts failed nodes, and shuts it down.

    Args:
        plan: The nodes.
        display: Output.
        options: Restarts, duration and more.
    """

    def __init__(
        self, plan: StackPlan, display: Display, options: RunOptions | None = None
    ) -> None:
        self._plan = plan
        self._display = display
        self._options = options or RunOptions()
        self._graph = Graph(plan.prefix)
        self._claims = NameClaims(self._graph.domain)
        self._nodes = [
            ManagedNode(node, self._options.policy, self._graph.node, display.show_message)
            for node in plan.nodes
        ]
        self._slots = make_slots(plan, self._nodes, compose=self._options.compose)
        self._output = OutputWatch()
        self._meter = CpuMeter()
        self._stop: str = ""
        self._next_display = 0.0
        self._began = time.monotonic()
        self._up_since: float | None = None

    def run(self) -> int:
        """Run until a signal, a failure or the end of the duration; return the exit code."""
        previous = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        try:
            self._check_names()
            while not self._stop:
                self._run_once()
            return self._exit_code()
        finally:
            self._shut_down()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _run_once(self) -> None:
        self._graph.spin_once()
        self._show_output()
        self._handle_exits()
        now = time.monotonic()
        self._act(now)
        self._note_progress(now)
        if now >= self._next_display:
            self._next_display = now + REFRESH
            self._show(now)

    def _check_names(self) -> None:
        names = {node.plan.name for node in self._nodes}
        taken = self._claims.reserve(names)
        if not taken and self._wait_for(names, self._options.discovery_time, present=True):
            # Nodes that have just ended disappear within this time.
            taken = self._wait_for(names, LINGER_TIME, present=False)
        if taken:
            raise ConfigError(
                f"{', '.join(taken)} runs already in ROS domain {self._graph.domain}; stop it, "
                "or choose another ROS_DOMAIN_ID or topic_prefix"
            )

    def _wait_for(self, names: set[str], timeout: float, *, present: bool) -> list[str]:
        """Wait at most `timeout` [s] until some or no names are present; return those present."""
        until = time.monotonic() + timeout
        found = self._graph.node.present(names)
        while bool(found) != present and time.monotonic() < until and not self._stop:
            self._graph.spin_once()
            found = self._graph.node.present(names)
        return found

    def _act(self, now: float) -> None:
        for slot in self._slots:
            for node in slot.nodes:
                action = node.next_action(now, may_activate=self._may_activate(node))
                if action is Action.START:
                    process = slot.start()
                    if process is not None:
                        self._output.add(process)
                elif action is Action.KILL:
                    slot.kill()

    def _may_activate(self, node: ManagedNode) -> bool:
        stage = node.plan.kind.stage
        return all(other.was_active for other in self._nodes if other.plan.kind.stage < stage)

    def _show_output(self) -> None:
        for process in self._output.ready():
            for line in process.read_lines():
                self._display.node_line(process.label, line)

    def _handle_exits(self) -> None:
        for slot in self._slots:
            code = slot.process.poll() if slot.process is not None else None
            if code is None:
                continue
            assert slot.process is not None
            while lines := slot.process.read_lines():
                for line in lines:
                    self._display.node_line(slot.label, line)
            process = slot.ended(describe_exit(code))
            self._output.remove(process)
            process.close()

    def _note_progress(self, now: float) -> None:
        if self._up_since is None and all(node.was_active for node in self._nodes):
            self._up_since = now
            self._display.show_message(
                f"all {len(self._nodes)} nodes up in {now - self._began:.1f} s"
            )
        phases = {node.watch.phase for node in self._nodes}
        if Phase.FAILED in phases:
            self._stop = "a node failed"
        elif phases == {Phase.ENDED} or self._robot_has_ended():
            self._stop = "the stack was shut down"
        elif self._is_time_over(now):
            self._stop = f"the duration of {self._options.duration:g} s is over"

    def _is_time_over(self, now: float) -> bool:
        duration, since = self._options.duration, self._up_since
        return duration is not None and since is not None and now - since >= duration

    def _robot_has_ended(self) -> bool:
        return any(
            node.watch.phase is Phase.ENDED
            for node in self._nodes
            if node.plan.kind.stage is Stage.ROBOT
        )

    def _show(self, now: float) -> None:
        rows = self._rows(now)
        total = sum(row.cpu or 0.0 for row in rows) + self._meter.share(os.getpid(), now)
        phases = [node.watch.phase for node in self._nodes]
        title = f"{self._plan.stack.name}   {now - self._began:.0f} s   cpu {100 * total:.0f} %"
        self._display.update(title, rows, summary(rows, phases, total))

    def _rows(self, now: float) -> list[NodeRow]:
        rows = []
        for slot in self._slots:
            cpu = self._meter.share(slot.process.pid, now) if slot.process is not None else None
            for node in slot.nodes:
                report = self._graph.node.report(node.plan.kind.status_name)
                rows.append(make_row(node.label, node.watch, report, cpu))
                cpu = None  # Shown once per process, at its first node.
        return rows

    def _exit_code(self) -> int:
        self._display.show_message(f"stopping: {self._stop}")
        failed = False
        for slot in self._slots:
            last_line = slot.process.last_line if slot.process is not None else slot.last_line
            for node in slot.nodes:
                if node.watch.phase is Phase.FAILED:
                    failed = True
                    tail = f"; last output: {last_line}" if last_line else ""
                    self._display.show_message(f"{node.label} {node.watch.cause}{tail}")
        return EXIT_FAILED if failed else EXIT_CLEAN

    def _shut_down(self) -> None:
        policy = self._options.policy
        processes = [slot.process for slot in self._slots if slot.process is not None]
        killed = end_all(processes, interrupt=policy.interrupt, terminate=policy.terminate)
        for process in killed:
            self._display.show_message(f"{process.label} did not end after SIGTERM and was killed")
        for process in processes:
            self._output.remove(process)
            process.close()
        for node in self._nodes:
            node.close()
        self._output.close()
        self._graph.close()
        self._claims.release()
        self._display.close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stop = self._stop or f"{signal.Signals(number).name} received"
