# SPDX-License-Identifier: Apache-2.0
"""A controller fed by streams ticks as soon as possible, and never too often."""

import numpy as np
import pytest

from teleop_system.exceptions import InvalidValueError, UnknownNameError
from teleop_system.timing.tick_trigger import EARLY, GRACE, MISSES, TOLERANCE, TickTrigger

PERIOD = 0.01
HANDS = ("right_hand", "left_hand")


def trigger_of(*, optional: tuple[str, ...] = (), rate: float = 1.0 / PERIOD) -> TickTrigger:
    return TickTrigger(HANDS, optional, rate=rate)


def run(
    trigger: TickTrigger, arrivals: list[tuple[float, str]], *, until: float, poll: float = 0.001
) -> list[tuple[float, str]]:
    """Return the times of the ticks, and what caused them: a signal, or "poll"."""
    ticks: list[tuple[float, str]] = []
    polls = [(index * poll, "poll") for index in range(round(until / poll))]
    for now, who in sorted(arrivals + polls):
        if trigger.poll(now) if who == "poll" else trigger.offer(who, now):
            ticks.append((now, who))
    return ticks


def stream(
    signal: str, rate: float, *, until: float, phase: float = 0.0, jitter: float = 0.0
) -> list[tuple[float, str]]:
    rng = np.random.default_rng(len(signal))
    count = int((until - phase) * rate)
    return [
        (phase + index / rate + jitter * rng.uniform(0.0, 1.0), signal) for index in range(count)
    ]


def once_settled(ticks: list[tuple[float, str]]) -> set[str]:
    """Return what caused the ticks, without the first ones and the last ones."""
    last = ticks[-1][0]
    return {who for now, who in ticks if 50.0 * PERIOD < now < last - 5.0 * PERIOD}


def test_the_sample_that_completes_the_set_runs_the_tick() -> None:
    trigger = trigger_of()
    assert not trigger.offer("right_hand", 0.0)
    assert trigger.missing == ("left_hand",)
    assert trigger.offer("left_hand", 0.0003)


def test_samples_of_one_tick_do_not_count_for_the_next() -> None:
    trigger = trigger_of()
    trigger.offer("right_hand", 0.0)
    assert trigger.offer("left_hand", 0.0)
    assert not trigger.offer("left_hand", PERIOD)
    assert trigger.offer("right_hand", PERIOD)


@pytest.mark.parametrize("jitter", [0.0, 0.002])
def test_no_sample_waits_while_all_streams_have_the_rate(jitter: float) -> None:
    arrivals = stream("right_hand", 100.0, until=5.0, phase=0.0, jitter=jitter)
    arrivals += stream("left_hand", 100.0, until=5.0, phase=0.001, jitter=jitter)
    ticks = run(trigger_of(), arrivals, until=5.0)
    assert "poll" not in once_settled(ticks)
    assert len(ticks) == pytest.approx(500, abs=3)


@pytest.mark.parametrize(("rate", "pace"), [(100.0, 100.0), (50.0, 100.0), (100.0, 60.0)])
@pytest.mark.parametrize("phase", [0.0, 0.0003, 0.001, 0.0045, 0.0099])
def test_samples_measured_together_are_used_together(
    rate: float, pace: float, phase: float
) -> None:
    arrivals = stream("right_hand", pace, until=3.0, phase=phase)
    arrivals += stream("left_hand", pace, until=3.0, phase=phase + 0.0004)
    ticks = run(trigger_of(rate=rate), arrivals, until=3.0)
    # At first polls may split sets; after that, the later sample of a pair runs the tick.
    assert [who for now, who in ticks if now > 0.2].count("right_hand") == 0


@pytest.mark.parametrize("pace", [80.0, 100.0, 101.0, 200.0])
def test_three_streams_evenly_apart_still_make_a_set(pace: float) -> None:
    trigger = TickTrigger(("a", "b", "c"), rate=100.0)
    arrivals = [
        pair
        for index, name in enumerate("abc")
        for pair in stream(name, pace, until=3.0, phase=index / (3.0 * pace))
    ]
    ticks = run(trigger, arrivals, until=3.0)
    assert len(ticks) == pytest.approx(3.0 * min(pace, 100.0), rel=0.05)
    assert "poll" not in once_settled(ticks)


@pytest.mark.parametrize("rate", [50.0, 100.0, 101.0, 130.0, 250.0, 1000.0])
def test_ticks_never_exceed_the_rate(rate: float) -> None:
    arrivals = [
        pair for hand in HANDS for pair in stream(hand, rate, until=4.0, jitter=0.5 / rate)
    ]
    times = np.array([now for now, _ in run(trigger_of(), arrivals, until=4.0)])
    for first in range(0, len(times), 10):
        counts = np.arange(len(times) - first)
        spans = times[first:] - times[first]
        assert (counts <= (spans / PERIOD + EARLY) / (1.0 - TOLERANCE) + 1e-6).all()
    assert np.diff(times).max() <= (1.0 + GRACE + EARLY) * PERIOD + 0.001


def test_a_faster_stream_is_used_as_it_arrives() -> None:
    arrivals = [pair for hand in HANDS for pair in stream(hand, 100.0, until=4.0, jitter=0.0015)]
    ticks = run(trigger_of(rate=50.0), arrivals, until=4.0)
    assert len(ticks) == pytest.approx(200, abs=3)
    assert "poll" not in once_settled(ticks)


def test_an_incomplete_set_ticks_at_the_end_of_the_period() -> None:
    trigger = trigger_of()
    trigger.offer("right_hand", 0.0)
    trigger.offer("left_hand", 0.0)
    trigger.offer("right_hand", PERIOD)
    end = (1.0 - TOLERANCE + GRACE) * PERIOD
    assert trigger.deadline == pytest.approx(end)
    assert not trigger.poll(end - 1e-6)
    assert trigger.poll(end)
    # No waiting time after an incomplete set.
    assert trigger.deadline == pytest.approx(end + (1.0 - TOLERANCE) * PERIOD)


def test_a_stream_that_stopped_does_not_delay_the_others() -> None:
    arrivals = stream("right_hand", 100.0, until=1.0)
    arrivals += stream("left_hand", 100.0, until=0.5, phase=0.001)
    ticks = run(trigger_of(), arrivals, until=1.0)
    late = [who for now, who in ticks if now > 0.5 + (MISSES + 20) * PERIOD]
    assert set(late) == {"right_hand"}
    assert len(late) == pytest.approx(27, abs=3)


def test_a_stream_that_returns_is_waited_for_again() -> None:
    trigger = trigger_of()
    now = 0.0
    for _ in range(MISSES + 2):
        now += 2.0 * PERIOD
        trigger.offer("right_hand", now)
        trigger.poll(now)
    assert trigger.missing == ("right_hand",)
    trigger.offer("left_hand", now + 2.0 * PERIOD)
    now += 4.0 * PERIOD
    trigger.poll(now)
    assert set(trigger.missing) == set(HANDS)


def test_ticks_continue_at_the_rate_when_nothing_arrives() -> None:
    ticks = run(trigger_of(), [], until=1.0)
    assert len(ticks) == pytest.approx(100, abs=3)


def test_an_optional_signal_is_waited_for_after_its_first_sample() -> None:
    trigger = trigger_of(optional=("waist",))
    trigger.offer("right_hand", 0.0)
    assert trigger.offer("left_hand", 0.0)
    trigger.offer("waist", 0.001)
    trigger.offer("right_hand", PERIOD)
    assert trigger.offer("left_hand", PERIOD)
    trigger.offer("right_hand", 2.0 * PERIOD)
    assert not trigger.offer("left_hand", 2.0 * PERIOD)
    assert trigger.offer("waist", 2.0 * PERIOD)


def test_a_reset_recovers_from_time_that_runs_backwards() -> None:
    trigger = trigger_of()
    trigger.poll(100.0)
    assert not trigger.poll(1.0)
    trigger.reset()
    assert trigger.poll(1.0)


def test_a_signal_that_was_not_declared_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="right_hnd"):
        trigger_of().offer("right_hnd", 0.0)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_an_invalid_rate_is_refused(rate: float) -> None:
    with pytest.raises(InvalidValueError, match="rate"):
        TickTrigger(HANDS, rate=rate)


@pytest.mark.parametrize("names", [(), ("waist", "waist")])
def test_signals_need_distinct_names(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValueError, match="distinct"):
        TickTrigger(names, rate=100.0)
