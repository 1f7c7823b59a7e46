# SPDX-License-Identifier: Apache-2.0
"""What the launcher shows: a live table on a terminal, few plain lines elsewhere."""

import abc
import re
import time
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from typing_extensions import override

from teleop_system.stacks.supervisor.rows import NodeRow

REFRESH = 0.5
"""Time in [s] between two pictures of the table."""
SUMMARY_EVERY = 10.0
"""Time in [s] between two summaries where there is no terminal."""
BURST = 60
LINES_PER_SECOND = 1.5
"""Lines of nodes that are passed on for long; a node that says more is cut short."""

# What rclpy puts in front of every line: level, time and logger.
_ROS_LINE = re.compile(r"\[(\w+)\] \[[\d.]+\] \[([\w.]+)\]: (.*)")


class Throttle:
    """Lets a burst of lines pass and then so many a second, and counts those left out."""

    def __init__(self, burst: int, rate: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._left = float(burst)
        self._last = clock()
        self.held = 0

    def allows(self) -> bool:
        """Tell whether one more line may pass now."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._last) * self._rate)
        self._last = now
        if self._left < 1.0:
            self.held += 1
            return False
        self._left -= 1.0
        return True


def tidy(label: str, line: str) -> str:
    """Return a line of a node with its level in front and its name once."""
    match = _ROS_LINE.match(line)
    if match is None:
        return f"{label}: {line}"
    level, logger, text = match.groups()
    return f"{level:<5} {logger}: {text}"


class Display(abc.ABC):
    """Shows what the supervisor knows."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._throttle = Throttle(BURST, LINES_PER_SECOND, clock)

    def say(self, text: str) -> None:
        """Tell something that the supervisor did or saw; never left out."""
        self._console.print(f"{text}", markup=False, highlight=False, soft_wrap=True)

    def node_line(self, label: str, line: str) -> None:
        """Pass on a line of a node, unless there are too many."""
        if self._throttle.allows():
            held, self._throttle.held = self._throttle.held, 0
            self.say(tidy(label, line) + (f"  (and {held} other lines)" if held else ""))

    @abc.abstractmethod
    def update(self, title: str, rows: list[NodeRow], summary: str) -> None:
        """Show the newest state; called often."""

    @abc.abstractmethod
    def close(self) -> None:
        """Put the screen back as it was."""


class PlainDisplay(Display):
    """Plain lines, for a log file or another program."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock)
        self._next = self._clock() + SUMMARY_EVERY

    @override
    def update(self, title: str, rows: list[NodeRow], summary: str) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + SUMMARY_EVERY
            self.say(summary)

    @override
    def close(self) -> None:
        pass


class LiveDisplay(Display):
    """A table that stays in place, with the lines of nodes running above it."""

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
    """Return the display that fits where the output goes."""
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
        style = "green" if row.is_well else "yellow"
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
