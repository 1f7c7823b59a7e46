# SPDX-License-Identifier: Apache-2.0
"""What keeping every tick costs the loop: a replay in real time, recorded and not, by turns.

Both take the same ticks of the same motion through all controllers, the safety manager and
MuJoCo at 100 Hz on the wall's clock. The period of a tick is the time since the one before.
"""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.robots import load_robot
from teleop_system.runtime.session.build import build_session, is_time_simulated, make_simulator
from teleop_system.runtime.session.runner import SessionRunner
from teleop_system.runtime.session.status import StatusReporter
from teleop_system.tools.replay.replay import replay_settings

ROUNDS = 14
TURN_SECONDS = 5.0
SKIPPED = 100
"""Ticks at the beginning of a turn in which caches fill."""
BUDGET = 1.05

Array = NDArray[np.float64]


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Measure the loop with and without a recording; return both, and the verdict."""
    ways = (False, True)
    periods: dict[bool, list[Array]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way in ways if number % 2 else ways[::-1]:
            found = _take_turn(record=way)
            if number:  # The first round loads what all others share.
                periods[way].append(found)
    return [_row(way, periods) for way in ways]


def _take_turn(*, record: bool) -> Array:
    settings = replay_settings(
        Path("walk_and_reach"),
        [
            "simulation.real_time=true",
            "simulation.render=false",
            "session.self_test=false",
            f"session.record={str(record).lower()}",
        ],
    )
    simulator = make_simulator(settings)
    session = build_session(settings, simulator=simulator)
    times: list[float] = []
    runner = SessionRunner(
        session,
        StatusReporter(session, load_robot(settings.robot.name)),
        simulated_time=is_time_simulated(settings, session),
        real_time=True,
    )
    try:
        runner.run(TURN_SECONDS, on_tick=lambda now: times.append(time.perf_counter()))
    finally:
        session.close()
        simulator.shutdown()
    return np.diff(times)[SKIPPED:]


def _row(record: bool, periods: dict[bool, list[Array]]) -> dict[str, object]:
    all_periods = np.concatenate(periods[record])
    p50, p99 = np.percentile(all_periods, (50.0, 99.0))
    row: dict[str, object] = {
        "whole-body loop at 100 Hz": "recorded" if record else "not recorded",
        "ticks": len(all_periods),
        "p50 of the period [ms]": round(1e3 * float(p50), 3),
        "p99 of the period [ms]": round(1e3 * float(p99), 3),
    }
    if record:
        ratio = float(p99 / np.percentile(np.concatenate(periods[False]), 99.0))
        row |= {"ratio": round(ratio, 4), "budget": BUDGET, "ok": ratio < BUDGET}
    return row
