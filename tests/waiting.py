# SPDX-License-Identifier: Apache-2.0
"""Waiting in tests: for an event, bounded by progress and not by how busy the machine is."""

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import psutil

PATIENCE = 60.0
"""A wait fails after this time without progress in [s]."""
LIMIT = 150.0
"""A wait fails after this time in [s], even with progress."""
POLL = 0.005
"""Pause between two evaluations of the condition in [s]."""
_LONGEST_EVALUATION = 0.1
"""A longer evaluation counts as this long in [s]: this process itself had to wait."""
_PROGRESS_PERIOD = 0.25
"""Pause between two readings of the progress in [s]; reading processor times is expensive."""
_SAMPLE = 0.3
"""Processor time over which the speed of the machine is measured in [s]."""
_WORK = 0.2
"""Processor time of a process that counts as progress in [s]."""


def wait_for(
    condition: Callable[[], object],
    what: str | Callable[[], object] = "the condition never became true",
    *,
    progress: Callable[[], object] = lambda: None,
    patience: float = PATIENCE,
    limit: float = LIMIT,
) -> None:
    """Wait until `condition()` is true.

    Args:
        condition: What to wait for.
        what: Message of the failure, or a function that returns it.
        progress: Any value that changes as long as things move on, such as a count of messages
            or the processor time of a process. Each change renews the patience.
        patience: Fail after this time without progress in [s].
        limit: Fail after this time even with progress in [s].

    Raises:
        AssertionError: There was no progress for too long.
    """
    elapsed = idle = 0.0
    seen, last, due = progress(), time.monotonic(), _PROGRESS_PERIOD
    while not condition():
        now = time.monotonic()
        elapsed += min(now - last, _LONGEST_EVALUATION)
        idle += min(now - last, _LONGEST_EVALUATION)
        last = now
        if elapsed > due or idle > patience:
            due = elapsed + _PROGRESS_PERIOD
            if (current := progress()) != seen:
                seen, idle = current, 0.0
        if idle > patience or elapsed > max(limit, patience):
            raise AssertionError(str(what() if callable(what) else what))
        time.sleep(POLL)


def happens(condition: Callable[[], object], patience: float = PATIENCE) -> bool:
    """Return whether `condition()` becomes true within the patience."""
    try:
        wait_for(condition, patience=patience)
    except AssertionError:
        return False
    return True


def wait_until_constant(
    value: Callable[[], object], span: float, *, within: float = PATIENCE
) -> None:
    """Wait until `value()` has not changed for a span in [s]; fail after `within` more [s]."""
    seen, since = value(), time.monotonic()

    def is_constant() -> bool:
        nonlocal seen, since
        if (current := value()) != seen:
            seen, since = current, time.monotonic()
        return time.monotonic() - since >= span

    wait_for(is_constant, lambda: f"it still changes: {seen}", patience=span + within)


def stays(condition: Callable[[], object], span: float) -> bool:
    """Return whether `condition()` is true all through a span in [s]."""
    end = time.monotonic() + span
    while condition():
        if time.monotonic() > end:
            return True
        time.sleep(POLL)
    return False


def slowdown() -> float:
    """Return how many times slower than on a calm machine this process runs, at least 1."""
    wall, used = time.monotonic(), time.process_time()
    while time.process_time() - used < _SAMPLE:
        pass
    return max((time.monotonic() - wall) / _SAMPLE, 1.0)


def run_to_end(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command for as long as it makes progress; options are those of `Popen`."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, text=True, **options)
        try:
            end_of(process)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        texts = [(file.seek(0), file.read())[1] for file in (output, errors)]
    return subprocess.CompletedProcess(command, process.returncode, *texts)


def end_of(process: "subprocess.Popen[Any]") -> int:
    """Wait for the end of a process as long as it makes progress; return its exit code."""
    wait_for(
        lambda: process.poll() is not None,
        f"{process.args} does not end",
        progress=lambda: work_of([process.pid]),
    )
    return process.wait()


def work_of(pids: Iterable[int]) -> int:
    """Return the processor time that processes and their children have used, in coarse steps."""
    total = 0.0
    for pid in pids:
        try:
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        except psutil.Error:
            continue
        for process in family:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system
    return int(total / _WORK)
