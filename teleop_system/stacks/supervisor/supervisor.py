# SPDX-License-Identifier: Apache-2.0
"""Runs a stack as processes, from the first start to the last end."""

import os
import signal
import time
from dataclasses import dataclass, field
from types import FrameType

from teleop_system.exceptions import ConfigError
from teleop_system.stacks.description import Stage
from teleop_system.stacks.plan import StackPlan
from teleop_system.stacks.supervisor.claims import NameClaims
from teleop_system.stacks.supervisor.display import REFRESH, Display
from teleop_system.stacks.supervisor.graph import Graph
from teleop_system.stacks.supervisor.host import make_hosts
from teleop_system.stacks.supervisor.managed import ManagedNode
from teleop_system.stacks.supervisor.node_process import OutputWatch, end_all
from teleop_system.stacks.supervisor.node_watch import Action, Phase
from teleop_system.stacks.supervisor.policy import SupervisionPolicy
from teleop_system.stacks.supervisor.process_usage import CpuMeter, describe_exit
from teleop_system.stacks.supervisor.rows import NodeRow, make_row, summary

EXIT_CLEAN, EXIT_FAILED = 0, 1
LEAVING = 1.0
"""Time in [s] that nodes which are ending may stay in the graph."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a stack is run, whatever it consists of."""

    compose: bool = False
    """Whether all nodes share one process."""
    duration: float | None = None
    """Time in [s] after which a stack that is up ends by itself; None for never."""
    policy: SupervisionPolicy = field(default_factory=SupervisionPolicy)
    """Time-outs and restarts."""
    look_around: float = 1.0
    """Time in [s] to find out who is in the graph already; who runs on this machine is known."""


class Supervisor:
    """Starts a stack, keeps it up, and takes it down.

    Args:
        plan: What to start.
        display: Where to show it.
        options: How to run it.
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
            ManagedNode(node, self._options.policy, self._graph.node, display.say)
            for node in plan.nodes
        ]
        self._hosts = make_hosts(plan, self._nodes, compose=self._options.compose)
        self._output = OutputWatch()
        self._meter = CpuMeter()
        self._stop: str = ""
        self._next_display = 0.0
        self._began = time.monotonic()
        self._up_since: float | None = None

    def run(self) -> int:
        """Run until it is told to stop; return the exit code of the program."""
        previous = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        try:
            self._refuse_rivals()
            while not self._stop:
                self._turn()
            return self._exit_code()
        finally:
            self._take_down()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _turn(self) -> None:
        self._graph.turn()
        self._pass_on_output()
        self._notice_ends()
        now = time.monotonic()
        self._act(now)
        self._note_progress(now)
        if now >= self._next_display:
            self._next_display = now + REFRESH
            self._show(now)

    def _refuse_rivals(self) -> None:
        names = {node.plan.name for node in self._nodes}
        rivals = self._claims.take(names)
        if not rivals and self._look_for(names, self._options.look_around):
            # Those that are just ending are none.
            rivals = self._look_for(names, LEAVING, seen=True)
        if rivals:
            raise ConfigError(
                f"{', '.join(rivals)} runs already in ROS domain {self._graph.domain}; stop it, "
                "or choose another ROS_DOMAIN_ID or topic_prefix"
            )

    def _look_for(self, names: set[str], timeout: float, *, seen: bool = False) -> list[str]:
        """Return which names are in the graph, at once where that is not as it was `seen`."""
        until = time.monotonic() + timeout
        rivals = self._graph.node.rivals(names)
        while bool(rivals) == seen and time.monotonic() < until and not self._stop:
            self._graph.turn()
            rivals = self._graph.node.rivals(names)
        return rivals

    def _act(self, now: float) -> None:
        for host in self._hosts:
            for node in host.nodes:
                action = node.next_action(now, may_activate=self._may_activate(node))
                if action is Action.START:
                    process = host.start()
                    if process is not None:
                        self._output.add(process)
                elif action is Action.KILL:
                    host.kill()

    def _may_activate(self, node: ManagedNode) -> bool:
        stage = node.plan.kind.stage
        return all(other.has_been_up for other in self._nodes if other.plan.kind.stage < stage)

    def _pass_on_output(self) -> None:
        for process in self._output.ready():
            for line in process.read_lines():
                self._display.node_line(process.label, line)

    def _notice_ends(self) -> None:
        for host in self._hosts:
            code = host.process.poll() if host.process is not None else None
            if code is None:
                continue
            assert host.process is not None
            while lines := host.process.read_lines():
                for line in lines:
                    self._display.node_line(host.label, line)
            process = host.ended(describe_exit(code))
            self._output.remove(process)
            process.close()

    def _note_progress(self, now: float) -> None:
        if self._up_since is None and all(node.has_been_up for node in self._nodes):
            self._up_since = now
            self._display.say(f"all {len(self._nodes)} nodes up in {now - self._began:.1f} s")
        phases = {node.watch.phase for node in self._nodes}
        if Phase.FAILED in phases:
            self._stop = "a node could not be brought up"
        elif phases == {Phase.ENDED} or self._robot_has_ended():
            self._stop = "the stack was shut down"
        elif self._is_time_over(now):
            self._stop = f"its {self._options.duration:g} s are over"

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
        for host in self._hosts:
            cpu = self._meter.share(host.process.pid, now) if host.process is not None else None
            for node in host.nodes:
                report = self._graph.node.report(node.plan.kind.status_name)
                rows.append(make_row(node.label, node.watch, report, cpu))
                cpu = None  # The first of several nodes in a process stands for all.
        return rows

    def _exit_code(self) -> int:
        self._display.say(f"stopping: {self._stop}")
        failed = False
        for host in self._hosts:
            words = host.process.last_line if host.process is not None else host.last_words
            for node in host.nodes:
                if node.watch.phase is Phase.FAILED:
                    failed = True
                    tail = f"; it last said: {words}" if words else ""
                    self._display.say(f"{node.label} {node.watch.cause}{tail}")
        return EXIT_FAILED if failed else EXIT_CLEAN

    def _take_down(self) -> None:
        policy = self._options.policy
        processes = [host.process for host in self._hosts if host.process is not None]
        killed = end_all(processes, interrupt=policy.interrupt, terminate=policy.terminate)
        for process in killed:
            self._display.say(f"{process.label} did not end when asked, and was killed")
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
