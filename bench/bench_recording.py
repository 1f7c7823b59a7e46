# SPDX-License-Identifier: Apache-2.0
"""What keeping every tick costs the loop: one replay in real time, recorded by turns.

All controllers, the safety manager and MuJoCo at 100 Hz on the wall's clock. Every half second the
recording is switched on or off, so that whatever else the machine does falls on both alike. The
period of a tick is the time since the one before.
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
TURN = 50
"""Ticks of a turn."""
BUDGET = 1.05

Array = NDArray[np.float64]


def rows(seconds: float = SECONDS) -> list[dict[str, object]]:
    """Measure the loop with and without a recording; return both, and the verdict."""
    times = _run(seconds)
    # Tick k was recorded where k // TURN is even; its period is that from tick k - 1 on.
    periods = np.diff(times)[2 * TURN - 1 :]
    turns = len(periods) // (2 * TURN)
    blocks = periods[: 2 * TURN * turns].reshape(turns, 2, TURN)
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
        session.recorder = None if (len(times) // TURN) % 2 else recorder

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
