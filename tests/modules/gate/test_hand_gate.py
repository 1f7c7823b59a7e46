# SPDX-License-Identifier: Apache-2.0
"""Only possible angles of a human hand pass, and bad samples have a cause."""

import numpy as np
import pytest

from teleop_system.exceptions import InvalidHandStateError
from teleop_system.interfaces import HandJointState
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.gate import GateConfig, HandGate, Verdict, malformed_rule
from teleop_system.safety.cause_log import CauseLog

FAR_TIPS = np.full((5, 3), 0.3)


def hand(
    stamp: float, angle: float = 0.1, side: str = "right", **fields: object
) -> HandJointState:
    return HandJointState(np.full(20, angle), timestamp=stamp, side=side, **fields)  # type: ignore[arg-type]


class Glove:
    """A gate that has already passed a sample of time 1 s."""

    def __init__(self) -> None:
        self.gate, self.log = HandGate("right", GateConfig()), CauseLog()
        assert self.check(hand(1.0), 1.0) is Verdict.NEW

    def check(self, sample: HandJointState | None, now: float) -> Verdict:
        self.log.begin(now)
        return self.gate.check(sample, now, self.log)

    @property
    def rules(self) -> list[Rule]:
        return [cause.rule for cause in self.log.causes]


@pytest.mark.parametrize(
    ("sample", "rule"),
    [
        (None, Rule.LOST),
        (hand(1.01, valid=False), Rule.LOST),
        (hand(1.01, side="left"), Rule.SWAPPED),
        (hand(1.01, 4.0), Rule.POSITION),
        (hand(1.01, finger_tip_positions=FAR_TIPS), Rule.INPUT_JUMP),
    ],
)
def test_a_bad_sample_is_bridged_with_its_cause_until_the_last_is_stale(
    sample: HandJointState | None, rule: Rule
) -> None:
    glove = Glove()
    assert glove.check(sample, 1.01) is Verdict.RECENT
    assert glove.rules == [rule]
    assert glove.check(sample, 1.09) is Verdict.STALE
    assert glove.rules == [rule, Rule.STALE]
    assert glove.check(hand(1.1), 1.1) is Verdict.NEW
    assert glove.rules == []


@pytest.mark.parametrize(("offset", "value"), [(-0.5, -0.5), (0.5, 0.49)])
def test_a_stamp_out_of_order_is_ignored(offset: float, value: float) -> None:
    glove = Glove()
    last = glove.gate.sample
    assert glove.check(hand(1.0 + offset, 0.2), 1.01) is Verdict.RECENT
    (cause,) = glove.log.causes
    assert (cause.rule, cause.value) == (Rule.TIME_ORDER, pytest.approx(value))
    assert glove.gate.sample is last


def test_a_silent_glove_goes_stale() -> None:
    glove = Glove()
    last = glove.gate.sample
    assert glove.check(last, 1.05) is Verdict.RECENT
    assert glove.check(last, 1.2) is Verdict.STALE
    assert glove.rules == [Rule.STALE]


@pytest.mark.parametrize(
    ("angles", "stamp", "rule"),
    [
        (np.zeros(19), 1.0, Rule.WRONG_SHAPE),
        (["a"] * 20, 1.0, Rule.WRONG_SHAPE),
        (np.full(20, np.nan), 1.0, Rule.NON_FINITE),
        (np.zeros(20), float("nan"), Rule.NON_FINITE),
    ],
)
def test_invalid_numbers_have_a_cause(angles: object, stamp: float, rule: Rule) -> None:
    with pytest.raises(InvalidHandStateError) as refused:
        HandJointState(angles, timestamp=stamp)  # type: ignore[arg-type]
    assert malformed_rule(refused.value) is rule


@pytest.mark.parametrize("order", ["C", "F"])
def test_finger_tips_pass_in_any_memory_layout(order: str) -> None:
    tips = np.array(np.full((5, 3), 0.05), order=order)  # type: ignore[call-overload]
    glove = Glove()
    assert glove.check(hand(1.01, finger_tip_positions=tips), 1.01) is Verdict.NEW
    far = tips.copy(order="K")
    far[3, 1] = 0.5
    assert glove.check(hand(1.02, finger_tip_positions=far), 1.02) is Verdict.RECENT
    assert glove.rules == [Rule.INPUT_JUMP]
