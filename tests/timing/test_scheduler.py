# SPDX-License-Identifier: Apache-2.0
import itertools
import json
import math
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.timing.clocks import VirtualClock
from teleop_system.timing.scheduler import Scheduler, Tick

PERIOD = 0.01


class LateClock(VirtualClock):
    """A clock that wakes late by given times, once per tick."""

    def __init__(self, *delays: float) -> None:
        super().__init__()
        self.delays = deque(delays)

    def sleep_until(self, deadline: float) -> None:
        super().sleep_until(deadline)
        if self.delays:
            self.advance(self.delays.popleft())


def scheduler_on(clock: VirtualClock, catch_up: float = 0.01) -> Scheduler:
    return Scheduler(
        1.0 / PERIOD, clock=clock, catch_up=catch_up, capacity=4000, stopwatch=clock.now
    )


def work(scheduler: Scheduler, clock: VirtualClock, durations: list[float]) -> list[Tick]:
    """Spend each duration [s] on a tick; return those ticks and the one after them."""
    ticks = []
    for duration in durations:
        ticks.append(scheduler.wait())
        clock.advance(duration)
    return [*ticks, scheduler.wait()]


def test_ticks_are_due_at_multiples_of_the_period_even_if_some_are_late() -> None:
    rng = np.random.default_rng(1)
    delays = rng.uniform(0.0, 1e-4, 3000)
    scheduler = scheduler_on(LateClock(*delays))
    ticks = [scheduler.wait() for _ in range(3001)]
    assert [tick.index for tick in ticks] == list(range(3001))
    assert ticks[-1].due == pytest.approx(3000 * PERIOD, abs=1e-9)
    assert all(0.0 <= tick.late <= 1e-4 + 1e-9 for tick in ticks)


def test_work_within_the_period_does_not_shift_the_ticks() -> None:
    clock = VirtualClock()
    ticks = work(scheduler_on(clock), clock, [0.002, 0.009, 0.0, 0.005])
    np.testing.assert_allclose([tick.start for tick in ticks], [0.0, 0.01, 0.02, 0.03, 0.04])


def test_missed_ticks_are_skipped_and_counted() -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    ticks = work(scheduler, clock, [0.0, 0.035, 0.0])
    assert [tick.index for tick in ticks] == [0, 1, 4, 5]
    assert [tick.skipped for tick in ticks] == [0, 0, 2, 0]
    assert scheduler.skipped == 2


def test_an_overrun_is_reported_with_its_delay() -> None:
    clock = VirtualClock()
    *_, late, after = work(scheduler_on(clock), clock, [0.0, 0.035, 0.0])
    assert late.cause is not None
    assert (late.cause.rule, late.cause.severity) == (Rule.OVERRUN, Severity.INFO)
    assert late.cause.value == pytest.approx(0.025)
    assert late.cause.limit == PERIOD
    assert late.cause.since == pytest.approx(0.02)
    assert after.cause is None


@pytest.mark.parametrize("stall", [0.013, 0.035, 0.0999, 2.0])
def test_a_stall_is_never_followed_by_a_burst(stall: float) -> None:
    clock = VirtualClock()
    ticks = work(scheduler_on(clock), clock, [0.0, stall] + [0.001] * 200)
    gaps = np.diff([tick.start for tick in ticks])
    assert gaps.min() >= 0.99 * PERIOD - 1e-9
    assert ticks[-1].late < 1e-9  # By then it is back on the grid.


def test_catching_up_by_a_whole_period_returns_to_the_grid_at_once() -> None:
    clock = VirtualClock()
    ticks = work(scheduler_on(clock, catch_up=1.0), clock, [0.0, 0.014, 0.0])
    np.testing.assert_allclose([tick.start for tick in ticks], [0.0, 0.01, 0.024, 0.03])


def test_a_late_wake_up_counts_as_an_overrun_too() -> None:
    scheduler = scheduler_on(LateClock(0.0, 0.03))
    ticks = [scheduler.wait() for _ in range(4)]
    assert [tick.cause is not None for tick in ticks] == [False, False, True, False]


@pytest.mark.parametrize("load", [1.2, 1.5, 2.5, 10.0])
def test_lasting_overload_ends_in_a_hold(load: float) -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    ticks = work(scheduler, clock, [load * PERIOD] * 60)
    held = [tick.hold for tick in ticks]
    assert scheduler.hold and held[-1]
    assert held == sorted(held)  # The hold lasts as long as the overload.
    overruns = sum(tick.skipped > 0 for tick in ticks[: held.index(True) + 1])
    assert overruns == 6


def test_a_hold_is_released_once_the_load_is_gone() -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    work(scheduler, clock, [0.025] * 20)
    assert scheduler.hold
    ticks = work(scheduler, clock, [0.001] * 10)
    assert not ticks[-1].hold and ticks[-1].cause is None


def test_single_stalls_never_cause_a_hold() -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    ticks = work(scheduler, clock, [0.025, 0.001] * 50)
    assert not any(tick.hold for tick in ticks)
    assert scheduler.overruns.total == 50


def test_histories_hold_expected_and_actual_periods_compute_and_lateness() -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    work(scheduler, clock, [0.002, 0.035, 0.003])
    history = scheduler.history
    np.testing.assert_allclose(history.column("expected"), [0.01, 0.03, 0.01], atol=1e-12)
    np.testing.assert_allclose(history.column("actual"), [0.01, 0.035, 0.0099], atol=1e-12)
    np.testing.assert_allclose(history.column("compute"), [0.002, 0.035, 0.003], atol=1e-12)
    np.testing.assert_allclose(history.column("late"), [0.0, 0.005, 0.0049], atol=1e-12)
    assert scheduler.summary()["jitter"].max == pytest.approx(0.005)


def test_the_artefact_contains_ticks_skips_and_overruns(tmp_path: Path) -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    work(scheduler, clock, [0.002, 0.035, 0.003])
    scheduler.write_json(tmp_path / "scheduler.json")
    document = json.loads((tmp_path / "scheduler.json").read_text())
    assert (document["ticks"], document["skipped"], document["overruns"]) == (4, 2, 1)
    assert document["summary"]["compute"]["max"] == pytest.approx(0.035)


def test_simulated_time_hits_every_due_time_exactly() -> None:
    scheduler = Scheduler.simulated(30.0, start=2.0)
    ticks = list(itertools.islice(scheduler, 1000))
    assert [tick.start for tick in ticks] == [2.0 + k * (1.0 / 30.0) for k in range(1000)]


def test_simulated_runs_are_equal_to_the_last_bit() -> None:
    first, second = (
        [tick.start for tick in itertools.islice(Scheduler.simulated(90.0), 500)] for _ in range(2)
    )
    assert first == second


def test_run_calls_back_until_stopped() -> None:
    seen: list[int] = []
    Scheduler.simulated(100.0).run(lambda tick: seen.append(tick.index), lambda: len(seen) == 5)
    assert seen == [0, 1, 2, 3, 4]


def test_stop_ends_iteration_after_the_present_tick() -> None:
    scheduler = Scheduler.simulated(100.0)
    seen = []
    for tick in scheduler:
        seen.append(tick.index)
        if tick.index == 2:
            scheduler.stop()
    assert seen == [0, 1, 2]


def test_restart_begins_a_new_schedule_without_an_overrun() -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    scheduler.wait()
    clock.advance(5.0)
    scheduler.restart()
    ticks = [scheduler.wait(), scheduler.wait()]
    assert [tick.start for tick in ticks] == [5.0, 5.01]
    assert ticks[0].cause is None


def test_restart_releases_a_hold() -> None:
    clock = VirtualClock()
    scheduler = scheduler_on(clock)
    work(scheduler, clock, [0.025] * 20)
    scheduler.restart()
    assert not scheduler.hold and not scheduler.wait().hold


def test_after_an_error_in_the_loop_the_scheduler_stays_usable() -> None:
    scheduler = Scheduler.simulated(100.0)
    with pytest.raises(KeyboardInterrupt), scheduler:
        scheduler.wait()
        raise KeyboardInterrupt
    assert scheduler.wait().index == 1


def test_real_time_keeps_the_requested_rate() -> None:
    with Scheduler(1000.0) as scheduler:
        ticks = [scheduler.wait() for _ in range(6)]
    assert ticks[-1].start - ticks[0].start >= 5e-3
    assert all(tick.late >= 0.0 for tick in ticks)


@pytest.mark.parametrize(("rate", "picked"), [(100.0, 100), (50.0, 50), (30.0, 30), (1.0, 1)])
def test_a_divider_selects_its_share_of_every_second(rate: float, picked: int) -> None:
    scheduler = Scheduler.simulated(100.0)
    divider = scheduler.at(rate)
    due = [divider.is_due(tick) for tick in itertools.islice(scheduler, 300)]
    assert [sum(due[k : k + 100]) for k in (0, 100, 200)] == [picked] * 3
    assert due[0]
    gaps = np.diff(np.flatnonzero(due))
    assert gaps.max() - gaps.min() <= 1
    assert divider.rate == pytest.approx(rate)


def test_every_third_tick_is_selected() -> None:
    scheduler = Scheduler.simulated(90.0)
    divider = scheduler.every(3)
    due = [divider.is_due(tick) for tick in itertools.islice(scheduler, 7)]
    assert due == [True, False, False, True, False, False, True]


def test_slow_work_whose_tick_was_skipped_is_done_in_the_next_tick() -> None:
    divider = Scheduler.simulated(100.0).every(4)
    indices = [0, 1, 2, 3, 5, 6, 7, 8]
    assert [k for k in indices if divider.is_due(Tick(k, 0.0, 0.0))] == [0, 5, 8]


@pytest.mark.parametrize("rate", [0.0, -5.0, 100.5, math.nan, math.inf])
def test_a_divider_rejects_rates_that_the_loop_cannot_provide(rate: float) -> None:
    with pytest.raises(InvalidValueError):
        Scheduler.simulated(100.0).at(rate)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_rejects_an_invalid_rate(rate: float) -> None:
    with pytest.raises(InvalidValueError, match="rate must be positive"):
        Scheduler(rate)
