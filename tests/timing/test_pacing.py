# SPDX-License-Identifier: Apache-2.0
"""Simulated time keeps up with real time, and reports when it does not."""

import pytest

from teleop_system.exceptions import InvalidValueError
from teleop_system.timing.pacing import Pacer


def test_jitter_of_wake_ups_does_not_accumulate() -> None:
    pacer = Pacer(0.01)
    owed = sum(
        pacer.owed(100.0 + tick * 0.01 + (0.004 if tick % 3 else 0.0)) for tick in range(1000)
    )
    assert owed == 1000
    assert pacer.overruns == 0


def test_a_late_wake_up_is_compensated_and_counted() -> None:
    pacer = Pacer(0.01)
    assert pacer.owed(0.0) == 1
    assert pacer.owed(0.035) == 3
    assert (pacer.overruns, pacer.dropped) == (1, 0)
    assert pacer.owed(0.040) == 1
    assert pacer.overruns == 1


def test_a_long_stall_is_not_compensated() -> None:
    pacer = Pacer(0.01, catch_up=5)
    pacer.owed(0.0)
    assert pacer.owed(1.0) == 5
    assert pacer.dropped == 95
    assert pacer.owed(1.01) == 1


def test_an_early_wake_up_needs_no_steps() -> None:
    pacer = Pacer(0.01)
    pacer.owed(0.0)
    assert pacer.owed(0.002) == 0
    assert pacer.owed(0.0098) == 1


def test_the_real_time_factor_is_that_of_the_recent_past() -> None:
    pacer = Pacer(0.01)
    assert pacer.real_time_factor == 0.0
    for tick in range(1000):
        pacer.note(tick * 0.01, tick * 0.01 if tick < 500 else 2.5 + tick * 0.005)
    assert pacer.real_time_factor == pytest.approx(0.5)


def test_an_intended_pause_is_no_overrun() -> None:
    pacer = Pacer(0.01)
    pacer.owed(0.0)
    pacer.restart()
    assert pacer.owed(60.0) == 1
    assert (pacer.overruns, pacer.dropped) == (0, 0)


@pytest.mark.parametrize(("period", "catch_up"), [(0.0, 5), (float("nan"), 5), (0.01, 0)])
def test_impossible_paces_are_refused(period: float, catch_up: int) -> None:
    with pytest.raises(InvalidValueError):
        Pacer(period, catch_up=catch_up)
