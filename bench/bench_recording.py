# SPDX-License-Identifier: Apache-2.0
"""Cost of recording every tick: one replay in real time, with recording on and off.

All controllers, the safety manager and MuJoCo run at 100 Hz in wall time. Recording is switched on
or off every half second, so that disturbances of the machine affect both. The period of a tick is
the time since the previous tick.
"""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.intervals import ratio_interval
from teleop_system.robots import load_robot
from teleop_system.session.build import build_session, is_time_simulated, make_simulator
from teleop_system.session.runner import SessionRunner
from teleop_system.session.status import StatusReporter
from teleop_system.tools.replay.replay import replay_settings

SECONDS = 150.0
BLOCK = 50
"""Ticks of a block."""
BUDGET = 1.05

Array = NDArray[np.float64]


def rows(seconds: float = SECONDS) -> list[dict[str, object]]:
    """Measure the loop with and without a recording; return both, and the verdict."""
    times = _run(seconds)
    # Tick k was recorded where k // BLOCK is even; its period starts at tick k - 1.
    periods = np.diff(times)[2 * BLOCK - 1 :]
    pairs = len(periods) // (2 * BLOCK)
    blocks = periods[: 2 * BLOCK * pairs].reshape(pairs, 2, BLOCK)
    recorded, plain = blocks[:, 0], blocks[:, 1]
    ratio = float(np.percentile(recorded, 99.0) / np.percentile(plain, 99.0))
    low, high = ratio_interval(recorded, plain)
    verdict = {
        "ratio": round(ratio, 4),
        "interval": f"{low:.3f} to {high:.3f}",
        "budget": BUDGET,
        "ok": ratio < BUDGET,
    }
    return [_row("not recorded", plain), _row("recorded", recorded) | verdict]


def _run(seconds: float) -> Array:
    settings = replay_settings(
        Path("walk_and_reach"),
        [
            "mocap.loop=true",
            "simulation.real_time=true",
            "simulation.render=false",
            "session.self_test=false",
        ],
    )
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator)
    recorder = session.recorder
    times: list[float] = []

    def tick(now: float) -> None:
        times.append(time.perf_counter())
        session.recorder = None if (len(times) // BLOCK) % 2 else recorder

    runner = SessionRunner(
        session,
        StatusReporter(session, load_robot(settings.robot.name)),
        simulated_time=is_time_simulated(settings, session),
        real_time=True,
    )
    try:
        runner.run(seconds, on_tick=tick)
    finally:
        session.recorder = recorder
        session.close()
        simulator.shutdown()
    return np.array(times)


def _row(name: str, periods: Array) -> dict[str, object]:
    p50, p99 = np.percentile(periods, (50.0, 99.0))
    return {
        "whole-body loop at 100 Hz": name,
        "ticks": periods.size,
        "p50 of the period [ms]": round(1e3 * float(p50), 3),
        "p99 of the period [ms]": round(1e3 * float(p99), 3),
    }
