# SPDX-License-Identifier: Apache-2.0
"""Processes of a stack: start, output, use of the processor, and a certain end."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

PROCESS_MAIN = "teleop_system.stacks.supervisor.process_main"
CHUNK = 65536
LONGEST_LINE = 2000
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class NodeProcess:
    """A process with one node or several, and its output.

    It has its own session, so that Ctrl-C in the terminal reaches only the supervisor. The kernel
    kills it when the supervisor dies.

    Args:
        label: Prefix of its output lines.
        command: Arguments of the Python interpreter.
        environment: Additional environment variables.
    """

    def __init__(
        self, label: str, command: Sequence[str], environment: dict[str, str] | None = None
    ) -> None:
        self.label = label
        self.last_line = ""
        self._rest = b""
        # The kernel kills the child when the *thread* that started it ends, so this must be
        # called from a thread that lives as long as the supervisor.
        self._process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
        )
        assert self._process.stdout is not None
        self.output = self._process.stdout.fileno()
        os.set_blocking(self.output, False)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def read_lines(self) -> list[str]:
        """Return the lines written since the last call, without blocking."""
        try:
            data = os.read(self.output, CHUNK)
        except (BlockingIOError, OSError):
            return []
        *whole, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:  # The end of the stream also ends a line.
            whole, self._rest = [*whole, self._rest], b""
        lines = [line.decode(errors="replace").rstrip()[:LONGEST_LINE] for line in whole]
        lines = [line for line in lines if line]
        self.last_line = lines[-1] if lines else self.last_line
        return lines

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def close(self) -> None:
        """Release a process that has ended, and kill its remaining children."""
        self._process.wait()
        self.signal(signal.SIGKILL)
        if self._process.stdout is not None:
            self._process.stdout.close()


def process_command(module: str, arguments: Sequence[str]) -> list[str]:
    """Return the command of a process that runs the `main` of a module."""
    return ["-m", PROCESS_MAIN, str(os.getpid()), module, *arguments]


def end_all(
    processes: Iterable[NodeProcess], *, interrupt: float, terminate: float
) -> list[NodeProcess]:
    """End processes with SIGINT, SIGTERM and SIGKILL; return those that were killed.

    Args:
        processes: The processes; some may have ended already.
        interrupt: Time after SIGINT in [s].
        terminate: Time after SIGTERM in [s].
    """
    running = [process for process in processes if process.poll() is None]
    for number, timeout in ((signal.SIGINT, interrupt), (signal.SIGTERM, terminate)):
        for process in running:
            process.signal(number)
        running = _wait_for(running, timeout)
    for process in running:
        process.signal(signal.SIGKILL)
    _wait_for(running, 1.0)
    return running


def _wait_for(processes: list[NodeProcess], timeout: float) -> list[NodeProcess]:
    """Return the processes that still run after `timeout` [s]."""
    until = time.monotonic() + timeout
    running = processes
    while running and time.monotonic() < until:
        for process in running:
            process.read_lines()  # A full pipe would block it.
        time.sleep(0.01)
        running = [process for process in running if process.poll() is None]
    return running


class OutputWatch:
    """Finds the processes with new output, without a thread per process."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, process: NodeProcess) -> None:
        """Add a process."""
        self._selector.register(process.output, selectors.EVENT_READ, process)

    def remove(self, process: NodeProcess) -> None:
        """Remove a process."""
        self._selector.unregister(process.output)

    def ready(self) -> list[NodeProcess]:
        """Return the processes with new output, without blocking."""
        return [key.data for key, _ in self._selector.select(0)]

    def close(self) -> None:
        """Close the selector."""
        self._selector.close()


def cpu_time(pid: int) -> float:
    """Return the processor time of a process in [s]; 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    # The name in brackets may contain blanks; user and system time are fields 14 and 15.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS


class CpuMeter:
    """The share of one core that processes use between two calls."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[float, float]] = {}

    def share(self, pid: int, now: float) -> float:
        """Return the share since the last call; 0 in the first call, 1 for a whole core."""
        used = cpu_time(pid)
        then, before = self._last.get(pid, (now, used))
        self._last[pid] = (now, used)
        return max(used - before, 0.0) / (now - then) if now > then else 0.0


def describe_exit(code: int) -> str:
    """Return a description of an exit code of `subprocess`."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
