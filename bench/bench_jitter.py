# SPDX-License-Identifier: Apache-2.0
"""Loop jitter at 100 Hz: our `Scheduler` against `loop-rate-limiters`.

Jitter is the deviation of a period from 10 ms. The loops alternate in short blocks, in changing
order, so that disturbances of the machine affect all. The budget is for ordinary priority, the
peer's default; real-time priority is shown where it is permitted. On a busy or virtual machine the
tail comes from the machine: `interval` is the 90 % confidence interval of the ratio.
"""

import contextlib
import sys
import time
from collections.abc import Callable

import numpy as np
from loop_rate_limiters import RateLimiter
from numpy.typing import NDArray

from bench.intervals import ratio_interval
from teleop_system.timing.clocks import PreciseClock
from teleop_system.timing.scheduler import SPIN_SHARE, Scheduler
from teleop_system.timing.thread_priority import prompt_thread

RATE = 100.0
BLOCK_SECONDS = 1.5
ROUNDS = 10
OURS, PEER = "Scheduler", "loop-rate-limiters"

Pace = Callable[[NDArray[np.float64]], None]
"""Runs a loop and fills an array with the times of its ticks in [s]."""
Loop = tuple[str, bool]
"""Name of the loop, and whether it runs at real-time priority."""


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure the loops; return a row per loop and priority, with the verdict."""
    paces = {
        (name, realtime): make(realtime)
        for realtime in (False, True)
        for name, make in ((OURS, _scheduler), (PEER, _limiter))
    }
    loops = list(paces)
    jitter = {loop: np.empty((rounds, int(BLOCK_SECONDS * RATE) - 1)) for loop in loops}
    cpu = dict.fromkeys(loops, 0.0)
    for number in range(rounds):
        first = number % len(loops)
        for loop in loops[first:] + loops[:first]:
            jitter[loop][number], used = _run_block(paces[loop])
            cpu[loop] += used / rounds
    return [_row(loop, jitter, cpu[loop]) for loop in loops]


def _row(loop: Loop, jitter: dict[Loop, NDArray[np.float64]], cpu: float) -> dict[str, object]:
    name, realtime = loop
    p50, p99 = np.percentile(jitter[loop], (50.0, 99.0))
    row: dict[str, object] = {
        "loop at 100 Hz": name,
        "priority": "real time" if realtime else "ordinary",
        "p50 [us]": round(1e6 * float(p50), 1),
        "p99 [us]": round(1e6 * float(p99), 1),
        "CPU [%]": round(100.0 * cpu, 2),
    }
    if name == OURS:
        peer = jitter[PEER, realtime]
        ratio = float(p99 / np.percentile(peer, 99.0))
        low, high = ratio_interval(jitter[loop], peer)
        row |= {"ratio": round(ratio, 3), "interval": f"{low:.2f} to {high:.2f}"}
        if not realtime:
            row |= {"budget": 1.0, "ok": ratio <= 1.0}
    return row


def _scheduler(realtime: bool) -> Pace:
    clock = PreciseClock(SPIN_SHARE / RATE, realtime=realtime)

    def pace(times: NDArray[np.float64]) -> None:
        with Scheduler(RATE, clock=clock, capacity=len(times)) as scheduler:
            for k in range(len(times)):
                scheduler.wait()
                times[k] = time.perf_counter()

    return pace


def _limiter(realtime: bool) -> Pace:
    def pace(times: NDArray[np.float64]) -> None:
        # At ordinary priority the peer runs unchanged.
        with prompt_thread(realtime=True) if realtime else contextlib.nullcontext():
            limiter = RateLimiter(RATE, warn=False)
            for k in range(len(times)):
                limiter.sleep()
                times[k] = time.perf_counter()

    return pace


def _run_block(pace: Pace) -> tuple[NDArray[np.float64], float]:
    """Return the jitter of each period [s] and the share of a processor it took."""
    times = np.empty(int(BLOCK_SECONDS * RATE))
    cpu, wall = time.thread_time(), time.perf_counter()
    pace(times)
    used = (time.thread_time() - cpu) / (time.perf_counter() - wall)
    return np.abs(np.diff(times) - 1.0 / RATE), used


def main() -> int:
    """Print the table; return 1 if the budget is missed."""
    table = rows()
    heads = list(table[0])
    print("  ".join(f"{head:>18}" for head in heads))
    for row in table:
        print("  ".join(f"{row.get(head, '')!s:>18}" for head in heads))
    return 0 if table[0]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
