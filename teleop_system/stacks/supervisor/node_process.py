# SPDX-License-Identifier: Apache-2.0
"""One process that a stack consists of: started in a group of its own, and ended for certain."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence

HOST = "teleop_system.stacks.supervisor.node_host"
CHUNK = 65536
LONGEST_LINE = 2000


class NodeProcess:
    """A process with one node or several, its output, and its use of the processor.

    It runs in a session of its own, so Ctrl-C in the terminal reaches the supervisor alone, and it
    is told by the kernel when the supervisor dies, so that it never outlives it.

    Args:
        label: Name in front of its lines.
        command: What to run after the Python interpreter.
        environment: Changes to the environment; None for none.
    """

    def __init__(
        self, label: str, command: Sequence[str], environment: dict[str, str] | None = None
    ) -> None:
        self.label = label
        self.last_line = ""
        self._rest = b""
        # The kernel signals children when the *thread* that started them ends, so this must be
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
        """Return the number of the process."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def read_lines(self) -> list[str]:
        """Return the lines that it has written since the last call, without waiting."""
        try:
            data = os.read(self.output, CHUNK)
        except (BlockingIOError, OSError):
            return []
        *whole, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:  # The end of the stream ends a line, too.
            whole, self._rest = [*whole, self._rest], b""
        lines = [line.decode(errors="replace").rstrip()[:LONGEST_LINE] for line in whole]
        lines = [line for line in lines if line]
        self.last_line = lines[-1] if lines else self.last_line
        return lines

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and to all it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def close(self) -> None:
        """Let go of the output of a process that has ended."""
        self._process.wait()
        # What it may have started itself is in its group, and has no business to stay.
        self.signal(signal.SIGKILL)
        if self._process.stdout is not None:
            self._process.stdout.close()


def host_command(module: str, arguments: Sequence[str]) -> list[str]:
    """Return the command of a process that runs the `main` of one module."""
    return ["-m", HOST, str(os.getpid()), module, *arguments]


def end_all(
    processes: Iterable[NodeProcess], *, interrupt: float, terminate: float
) -> list[NodeProcess]:
    """End processes: ask, insist, and then kill; return those that had to be killed.

    Args:
        processes: To end; those that have already ended do not matter.
        interrupt: Time they have after SIGINT in [s].
        terminate: Time they have after SIGTERM in [s].
    """
    running = [process for process in processes if process.poll() is None]
    for number, patience in ((signal.SIGINT, interrupt), (signal.SIGTERM, terminate)):
        for process in running:
            process.signal(number)
        running = _wait_for(running, patience)
    for process in running:
        process.signal(signal.SIGKILL)
    _wait_for(running, 1.0)
    return running


def _wait_for(processes: list[NodeProcess], patience: float) -> list[NodeProcess]:
    """Return the processes that still run after at most `patience` [s]."""
    until = time.monotonic() + patience
    running = processes
    while running and time.monotonic() < until:
        for process in running:
            process.read_lines()  # A full pipe would keep it from ending.
        time.sleep(0.01)
        running = [process for process in running if process.poll() is None]
    return running


class OutputWatch:
    """Tells which processes have written something, without a thread for each."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, process: NodeProcess) -> None:
        """Begin to watch a process."""
        self._selector.register(process.output, selectors.EVENT_READ, process)

    def remove(self, process: NodeProcess) -> None:
        """Watch a process no more."""
        self._selector.unregister(process.output)

    def ready(self) -> list[NodeProcess]:
        """Return the processes with something to read, without waiting."""
        return [key.data for key, _ in self._selector.select(0)]

    def close(self) -> None:
        """Let go of the selector."""
        self._selector.close()
