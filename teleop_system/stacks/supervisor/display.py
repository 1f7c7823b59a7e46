# SPDX-License-Identifier: Apache-2.0
"""Output of the launcher: a live table on a terminal, plain lines elsewhere."""

import abc
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from typing_extensions import override

from teleop_system.ros2.status import Level, StatusReport
from teleop_system.stacks.supervisor.node_watch import NodeWatch, Phase

REFRESH = 0.5
"""Time in [s] between two updates of the table."""
SUMMARY_EVERY = 10.0
"""Time in [s] between two summaries without a terminal."""
MOST_CAUSES, LONGEST_CAUSE = 3, 100
"""Limits of the summary: number of causes, and characters of each."""
LATENCIES = ("latency_p50_ms", "latency_p99_ms")
"""Keys of a report: latency from the operator's sample to the command, median and p99."""
BURST = 60
LINES_PER_SECOND = 1.5
"""Sustained rate of displayed node output; lines above it are dropped and counted."""

# Format of rclpy's log lines: level, time, logger, text.
_ROS_LINE = re.compile(r"\[(\w+)\] \[[\d.]+\] \[([\w.]+)\]: (.*)")


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One row of the table.

    Attributes:
        name: The node.
        state: Lifecycle state, or progress of its start.
        rate: Reported rate in [Hz]; "" if not reported.
        cpu: Share of one core; None for a node that shares its process with others.
        latency: Reported latency in [ms]; "" if not reported.
        restarts: Number of restarts.
        cause: Reason of a problem; "" if there is none.
        is_healthy: Whether there is no problem.
    """

    name: str
    state: str
    rate: str = ""
    cpu: float | None = None
    latency: str = ""
    restarts: int = 0
    cause: str = ""
    is_healthy: bool = True


def make_row(
    name: str, watch: NodeWatch, report: StatusReport | None, cpu: float | None
) -> NodeRow:
    """Return the row of a node; `report` is None without a recent report."""
    state = watch.state if watch.is_up else watch.phase.value
    values = report.values if report is not None else {}
    reports_healthy = report is None or report.level is Level.OK
    cause = watch.cause if not watch.is_up else ""
    if report is not None and not cause:
        cause = "; ".join(report.causes[:2]) or ("" if reports_healthy else report.message)
    return NodeRow(
        name=name,
        state=f"{state} ({values['state']})" if "state" in values else state,
        rate=values.get("rate", ""),
        cpu=cpu,
        latency=" / ".join(values[key] for key in LATENCIES if values.get(key)),
        restarts=watch.restarts,
        cause=cause,
        is_healthy=watch.is_up and watch.state == "active" and reports_healthy,
    )


def summary(rows: list[NodeRow], phases: list[Phase], cpu: float) -> str:
    """Return all rows as one line."""
    up = sum(phase is Phase.UP for phase in phases)
    unhealthy = [f"{row.name}: {row.cause or row.state}" for row in rows if not row.is_healthy]
    shown = [text[:LONGEST_CAUSE] for text in unhealthy[:MOST_CAUSES]]
    if len(unhealthy) > MOST_CAUSES:
        shown.append(f"and {len(unhealthy) - MOST_CAUSES} more")
    parts = [f"{up} of {len(rows)} nodes up", f"cpu {100.0 * cpu:.0f} %"]
    parts += [f"{row.name} {row.state}" for row in rows if "(" in row.state]
    return ", ".join(parts) + (f"; {'; '.join(shown)}" if shown else "")


class Throttle:
    """Accepts a burst of lines, then a limited rate; counts the dropped lines."""

    def __init__(self, burst: int, rate: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._left = float(burst)
        self._last = clock()
        self.dropped = 0

    def allows(self) -> bool:
        """Return whether one more line may be displayed now."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._last) * self._rate)
        self._last = now
        if self._left < 1.0:
            self.dropped += 1
            return False
        self._left -= 1.0
        return True


def format_line(label: str, line: str) -> str:
    """Return a line of a node as level, logger and text."""
    match = _ROS_LINE.match(line)
    if match is None:
        return f"{label}: {line}"
    level, logger, text = match.groups()
    return f"{level:<5} {logger}: {text}"


class Display(abc.ABC):
    """Shows messages, node output and the state of all nodes."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._throttle = Throttle(BURST, LINES_PER_SECOND, clock)

    def show_message(self, text: str) -> None:
        """Display a message of the supervisor; never dropped."""
        self._console.print(f"{text}", markup=False, highlight=False, soft_wrap=True)

    def node_line(self, label: str, line: str) -> None:
        """Display a line of a node, unless there are too many."""
        if self._throttle.allows():
            dropped, self._throttle.dropped = self._throttle.dropped, 0
            self.show_message(
                format_line(label, line) + (f"  (and {dropped} other lines)" if dropped else "")
            )

    @abc.abstractmethod
    def update(self, title: str, rows: list[NodeRow], summary: str) -> None:
        """Show the current state; called often."""

    @abc.abstractmethod
    def close(self) -> None:
        """Restore the terminal."""


class PlainDisplay(Display):
    """Plain lines, for a log file or another program."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock)
        self._next = self._clock() + SUMMARY_EVERY

    @override
    def update(self, title: str, rows: list[NodeRow], summary: str) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + SUMMARY_EVERY
            self.show_message(summary)

    @override
    def close(self) -> None:
        pass


class LiveDisplay(Display):
    """A table that stays in place, below the lines of nodes."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock)
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._live.start()

    @override
    def update(self, title: str, rows: list[NodeRow], summary: str) -> None:
        self._live.update(node_table(title, rows), refresh=True)

    @override
    def close(self) -> None:
        self._live.stop()


def make_display(console: Console) -> Display:
    """Return a live display for a terminal, else a plain one."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)


def node_table(title: str, rows: list[NodeRow]) -> Table:
    """Return the table of all nodes."""
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for heading, justify in (
        ("node", "left"),
        ("state", "left"),
        ("rate [Hz]", "right"),
        ("cpu [%]", "right"),
        ("latency [ms]", "right"),
        ("restarts", "right"),
        ("cause", "left"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        style = "green" if row.is_healthy else "yellow"
        style = "bold red" if row.state == "failed" else style
        table.add_row(
            f"[bold]{escape(row.name)}[/]",
            f"[{style}]{escape(row.state)}[/]",
            escape(row.rate),
            "" if row.cpu is None else f"{100.0 * row.cpu:.0f}",
            escape(row.latency),
            str(row.restarts or ""),
            f"[yellow]{escape(row.cause)}[/]" if row.cause else "",
        )
    return table
