# SPDX-License-Identifier: Apache-2.0
"""Irregular time has a cause, which says whether earlier samples are still valid."""

import math

import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.modules.gate import TickClock, TickTime
from teleop_system.safety.cause_log import CauseLog


@pytest.mark.parametrize(
    ("now", "dt", "time", "rule"),
    [
        (1.01, 0.01, TickTime.REGULAR, None),
        (1.1, 0.1, TickTime.REGULAR, None),
        (math.nan, 0.01, TickTime.INVALID, Rule.NON_FINITE),
        (math.inf, 0.01, TickTime.INVALID, Rule.NON_FINITE),
        (1.01, math.nan, TickTime.INVALID, Rule.NON_FINITE),
        (1.0, 0.01, TickTime.INVALID, Rule.TIME_ORDER),
        (1.01, 0.0, TickTime.INVALID, Rule.TIME_ORDER),
        (0.5, 0.01, TickTime.BACKWARDS, Rule.TIME_ORDER),
        (1.01, 0.2, TickTime.STALLED, Rule.OVERRUN),
        (1.2, 0.01, TickTime.STALLED, Rule.OVERRUN),
    ],
)
def test_the_time_of_a_tick_is_checked(
    now: float, dt: float, time: TickTime, rule: Rule | None
) -> None:
    clock, log = TickClock("arms", stall_after=0.1 + 1e-9), CauseLog()
    assert clock.begin(1.0, 0.01, log) is TickTime.REGULAR
    assert clock.begin(now, dt, log) is time
    assert [cause.rule for cause in log.causes] == ([] if rule is None else [rule])
    assert clock.now == (now if math.isfinite(now) else 1.0)


def test_after_an_irregular_tick_time_counts_from_there() -> None:
    clock, log = TickClock("arms", stall_after=0.1), CauseLog()
    clock.begin(1.0, 0.01, log)
    assert clock.begin(0.5, 0.01, log) is TickTime.BACKWARDS
    assert clock.begin(0.51, 0.01, log) is TickTime.REGULAR
