# SPDX-License-Identifier: Apache-2.0
"""How much of the processor a process has used, and how it ended."""

import os
import signal
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_time(pid: int) -> float:
    """Return the processor time of a process in [s]; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    # The name in brackets may contain blanks; the 14th and 15th fields follow it.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


class CpuMeter:
    """The share of one core that processes use, between one look and the next."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[float, float]] = {}

    def share(self, pid: int, now: float) -> float:
        """Return the share since the last look; 0 at the first one, 1 for a whole core."""
        used = cpu_time(pid)
        then, before = self._last.get(pid, (now, used))
        self._last[pid] = (now, used)
        return max(used - before, 0.0) / (now - then) if now > then else 0.0


def describe_exit(code: int) -> str:
    """Return an exit code of `subprocess` in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
