# SPDX-License-Identifier: Apache-2.0
"""Promise: a loop > 1 period late yields a cause, > 5 times in a row a hold.

No cycle moves further than one period allows.
"""

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule, Severity
from tests.safety.rig import Rig, causes_of
from tests.safety.test_rate_limits import free_robot

LATE = 0.025


def moving_rig() -> Rig:
    rig = Rig(free_robot())
    rig.aim(right_arm_2=2.8, head_0=1.5)
    rig.run(1.0)
    return rig


def test_a_late_cycle_is_reported_and_followed() -> None:
    rig = moving_rig()
    output = rig.cycle(LATE)
    (cause,) = causes_of(output, Rule.OVERRUN)
    assert cause.severity is Severity.INFO
    assert cause.value == pytest.approx(LATE - 0.01)
    assert not output.holding & {"right_arm", "head"}
    assert causes_of(rig.cycle(), Rule.OVERRUN) == []


def test_lateness_within_a_period_is_no_overrun() -> None:
    rig = moving_rig()
    assert causes_of(rig.cycle(0.0195), Rule.OVERRUN) == []


def test_more_than_five_late_cycles_in_a_row_are_a_hold() -> None:
    rig = moving_rig()
    severities = [causes_of(rig.cycle(LATE), Rule.OVERRUN)[0].severity for _ in range(7)]
    assert severities == [Severity.INFO] * 5 + [Severity.HOLD] * 2
    assert rig.outputs[-1].holding >= set(rig.parts)


def test_a_loop_on_time_is_followed_again() -> None:
    rig = moving_rig()
    for _ in range(8):
        rig.cycle(LATE)
    output = rig.run(2.5)
    assert not output.holding & set(rig.parts)


@pytest.mark.parametrize("elapsed", [0.02, 0.09, 2.0])
def test_a_late_cycle_moves_no_further_than_one_on_time(elapsed: float) -> None:
    rig = moving_rig()
    usual = np.abs(rig.positions[-1] - rig.positions[-2]).max()
    rig.cycle(elapsed)
    moved = np.abs(rig.positions[-1] - rig.positions[-2]).max()
    # One more cycle of acceleration at most.
    assert moved <= usual + 10.0 * 0.01**2


def test_after_a_stall_the_robot_starts_from_rest() -> None:
    rig = moving_rig()
    output = rig.cycle(2.0)
    assert causes_of(output, Rule.OVERRUN)[0].severity is Severity.HOLD
    np.testing.assert_array_equal(rig.positions[-1], rig.positions[-2])
    rig.cycle()
    assert np.abs(rig.positions[-1] - rig.positions[-2]).max() <= 0.002


@pytest.mark.parametrize("elapsed", [0.0, -0.5, float("nan")])
def test_a_clock_that_does_not_advance_makes_everything_brake(elapsed: float) -> None:
    rig = moving_rig()
    good = rig.now
    for _ in range(60):
        rig.now = good
        output = rig.cycle(elapsed)
        assert [c.subject for c in causes_of(output, Rule.TIME_ORDER)][:1] == ["loop"]
    np.testing.assert_array_equal(rig.positions[-1], rig.positions[-2])
    assert output.holding >= set(rig.parts)
