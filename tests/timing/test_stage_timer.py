# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.timing.stage_timer import StageTimer, TimingHistory, TimingSummary


class Nanoseconds:
    """A clock in [ns] that the test sets."""

    def __init__(self) -> None:
        self.value = 0

    def __call__(self) -> int:
        return self.value


@pytest.mark.parametrize("recorded", [0, 1, 7, 8, 9, 20])
def test_history_keeps_the_newest_rows_oldest_first(recorded: int) -> None:
    history = TimingHistory(("a", "b"), capacity=8)
    for number in range(recorded):
        history.record((number, -number))
    expected = list(range(recorded))[-8:]
    assert history.column("a").tolist() == expected
    assert history.column("b").tolist() == [-number for number in expected]
    assert (len(history), history.total) == (len(expected), recorded)


def test_recording_reuses_the_same_memory() -> None:
    history = TimingHistory(("a",), capacity=4)
    rows = history._rows
    for _ in range(10):
        history.record((1.0,))
    assert history._rows is rows


def test_a_column_is_a_copy() -> None:
    history = TimingHistory(("a",), capacity=4)
    history.record((1.0,))
    history.column("a")[0] = 9.0
    assert history.column("a").tolist() == [1.0]


def test_summary_agrees_with_numpy() -> None:
    samples = np.random.default_rng(3).exponential(1e-3, 1000)
    figures = TimingSummary.of(samples)
    assert figures.count == 1000
    assert figures.mean == pytest.approx(samples.mean())
    assert figures.p50 == pytest.approx(np.median(samples))
    assert figures.p99 == pytest.approx(np.quantile(samples, 0.99))
    assert figures.max == samples.max()


def test_missing_samples_do_not_count() -> None:
    assert TimingSummary.of(np.array([np.nan, 2.0, np.nan])) == TimingSummary(1, 2, 2, 2, 2)
    assert TimingSummary.of(np.array([np.nan])) == TimingSummary(0, 0, 0, 0, 0)


def test_clear_drops_everything() -> None:
    history = TimingHistory(("a",), capacity=4)
    history.record((1.0,))
    history.clear()
    assert history.summary()["a"].count == 0


def test_unknown_column_names_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'compute'"):
        TimingHistory(("compute", "late")).column("compute_")


@pytest.mark.parametrize(("columns", "capacity"), [((), 4), (("a", "a"), 4), (("a",), 0)])
def test_rejects_impossible_columns_and_sizes(columns: tuple[str, ...], capacity: int) -> None:
    with pytest.raises(InvalidValueError):
        TimingHistory(columns, capacity)


def test_stage_times_add_up_within_a_tick_and_restart_with_the_next() -> None:
    clock = Nanoseconds()
    timer = StageTimer(("ik", "safety"), capacity=4, clock_ns=clock)
    timer.begin_tick()
    for stage, work in (("ik", 1_000_000), ("safety", 500_000), ("ik", 2_000_000)):
        clock.value += work
        timer.lap(stage)
    timer.finish_tick()
    clock.value += 9_000_000  # Between two ticks no stage runs.
    timer.begin_tick()
    clock.value += 7_000_000
    timer.lap("ik")
    timer.finish_tick()
    np.testing.assert_allclose(timer.history.column("ik"), [3e-3, 7e-3], rtol=1e-12)
    np.testing.assert_allclose(timer.history.column("total"), [3.5e-3, 7e-3], rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(timer.history.column("safety")), [False, True])
    assert timer.summary()["safety"].count == 1


def test_a_tick_that_was_not_finished_does_not_count() -> None:
    clock = Nanoseconds()
    timer = StageTimer(("ik",), capacity=4, clock_ns=clock)
    for work in (5_000_000, 1_000_000):
        timer.begin_tick()
        clock.value += work
        timer.lap("ik")
    timer.finish_tick()
    assert timer.history.column("ik").tolist() == [1e-3]


def test_unknown_stage_names_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="valid choices: ik, safety"):
        StageTimer(("ik", "safety")).lap("saftey")


def test_json_holds_figures_and_samples_without_nan(tmp_path: Path) -> None:
    history = TimingHistory(("a",), capacity=4)
    history.record((0.25,))
    history.record((np.nan,))
    path = tmp_path / "timing.json"
    history.write_json(path, samples=True)
    document = json.loads(path.read_text())
    assert document["samples"] == {"a": [0.25, None]}
    assert document["summary"]["a"]["p99"] == 0.25
    assert document["total"] == 2
    assert "samples" not in json.loads(history.to_json())
