# SPDX-License-Identifier: Apache-2.0
import pytest

from teleop_system.exceptions import InvalidValueError
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.timing.overruns import OverrunMonitor

PERIOD = 0.01


def overrun(monitor: OverrunMonitor, times: int = 1) -> None:
    for _ in range(times):
        monitor.update(0.0, 1.5 * PERIOD, waited=False)


@pytest.mark.parametrize("late", [0.0, 0.5 * PERIOD, PERIOD])
def test_up_to_a_period_late_is_no_overrun(late: float) -> None:
    assert OverrunMonitor(PERIOD).update(1.0, late, waited=False) is None


def test_more_than_a_period_late_yields_a_cause_with_its_numbers() -> None:
    cause = OverrunMonitor(PERIOD, subject="arms").update(3.0, 0.012, waited=True)
    assert cause is not None
    assert (cause.rule, cause.subject, cause.severity) == (Rule.OVERRUN, "arms", Severity.INFO)
    assert (cause.value, cause.limit, cause.since) == (0.012, PERIOD, 3.0)


def test_holds_from_the_sixth_overrun_in_a_row() -> None:
    monitor = OverrunMonitor(PERIOD)
    severities = []
    for number in range(7):
        cause = monitor.update(float(number), 0.02, waited=False)
        assert cause is not None and cause.since == 0.0
        severities.append(cause.severity)
    assert severities == [Severity.INFO] * 5 + [Severity.HOLD] * 2


def test_a_punctual_tick_ends_the_sequence() -> None:
    monitor = OverrunMonitor(PERIOD)
    for _ in range(4):
        overrun(monitor, 5)
        monitor.update(0.0, 0.0, waited=True)
    assert not monitor.hold
    assert monitor.total == 20


def test_a_tick_that_is_a_little_late_does_not_end_the_sequence() -> None:
    monitor = OverrunMonitor(PERIOD)
    for _ in range(6):
        overrun(monitor)
        monitor.update(0.0, 0.5 * PERIOD, waited=False)
    assert monitor.hold


def test_a_hold_ends_after_five_punctual_ticks_in_a_row() -> None:
    monitor = OverrunMonitor(PERIOD)
    overrun(monitor, 6)
    held = []
    for waited in (True, True, True, True, False, True, True, True, True, True):
        cause = monitor.update(0.0, 0.0, waited=waited)
        held.append(monitor.hold)
        assert (cause is not None) == monitor.hold
    assert held == [True] * 9 + [False]


def test_reset_releases_the_hold_at_once() -> None:
    monitor = OverrunMonitor(PERIOD)
    overrun(monitor, 9)
    monitor.reset()
    assert not monitor.hold


@pytest.mark.parametrize(("period", "tolerated"), [(0.0, 5), (float("nan"), 5), (0.01, -1)])
def test_rejects_impossible_numbers(period: float, tolerated: int) -> None:
    with pytest.raises(InvalidValueError):
        OverrunMonitor(period, tolerated=tolerated)
