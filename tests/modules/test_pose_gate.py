# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.pose_gate import GateLimits, PoseGate, Sample
from teleop_system.safety.cause_log import CauseLog

UNIT = [0.0, 0.0, 0.0, 1.0]


def pose(time: float, x: float = 0.0, quaternion: object = UNIT) -> Pose6D:
    return Pose6D([x, 0.0, 0.0], quaternion, time)  # type: ignore[arg-type]


class Judge:
    """A gate that has already passed a sample of time 1 s."""

    def __init__(self) -> None:
        self.gate, self.log = PoseGate("tracker", GateLimits()), CauseLog()
        assert self.check(pose(1.0), 1.0) is Sample.FRESH

    def check(self, sample: Pose6D | None, now: float) -> Sample:
        self.log.begin(now)
        return self.gate.check(sample, now, self.log)

    @property
    def rules(self) -> list[Rule]:
        return [cause.rule for cause in self.log.causes]


def test_a_newer_sample_is_fresh_without_a_cause() -> None:
    judge = Judge()
    assert judge.check(pose(1.01), 1.01) is Sample.FRESH
    assert judge.rules == []


def test_the_same_sample_again_waits_without_a_cause() -> None:
    judge = Judge()
    assert judge.check(pose(1.0), 1.01) is Sample.WAITING
    assert judge.rules == []


@pytest.mark.parametrize("sample", [pose(1.0, 0.01), pose(0.99), pose(1.2)])
def test_a_sample_out_of_order_waits_with_its_cause(sample: Pose6D) -> None:
    judge = Judge()
    assert judge.check(sample, 1.01) is Sample.WAITING
    assert judge.rules == [Rule.TIME_ORDER]
    assert judge.gate.pose is not sample


@pytest.mark.parametrize("sample", [None, Pose6D.lost(1.01)])
def test_a_lost_body_is_bad_at_once(sample: Pose6D | None) -> None:
    judge = Judge()
    assert judge.check(sample, 1.01) is Sample.BAD
    assert judge.rules == [Rule.LOST]


@pytest.mark.parametrize("quaternion", [[0, 0, 0, 0], [0, 0, 0, 1.01], [3, 1, 2, 1]])
def test_a_non_unit_quaternion_is_bad_and_not_kept(quaternion: list[float]) -> None:
    judge = Judge()
    assert judge.check(pose(1.01, quaternion=quaternion), 1.01) is Sample.BAD
    assert judge.rules == [Rule.NON_UNIT]
    assert judge.gate.age(1.01) == pytest.approx(0.01)


def test_a_jump_is_told_once_and_then_believed() -> None:
    judge = Judge()
    assert judge.check(pose(1.01, 1.0), 1.01) is Sample.JUMPED
    assert judge.rules == [Rule.INPUT_JUMP]
    assert judge.check(pose(1.02, 1.0), 1.02) is Sample.FRESH


def test_a_turn_too_fast_for_a_body_is_a_jump() -> None:
    judge = Judge()
    turned = [0.0, math.sin(0.7), 0.0, math.cos(0.7)]
    assert judge.check(pose(1.01, quaternion=turned), 1.01) is Sample.JUMPED


def test_the_other_sign_of_a_quaternion_is_no_jump() -> None:
    judge = Judge()
    assert judge.check(pose(1.01, quaternion=-np.array(UNIT)), 1.01) is Sample.FRESH


def test_a_sample_is_stale_past_its_age() -> None:
    judge = Judge()
    assert judge.check(pose(1.0), 1.079) is Sample.WAITING
    assert judge.check(pose(1.0), 1.081) is Sample.STALE
    assert judge.rules == [Rule.STALE]


def test_a_sample_that_comes_late_is_stale_however_new() -> None:
    judge = Judge()
    assert judge.check(pose(1.4), 1.5) is Sample.STALE


def test_the_severity_is_that_of_the_gate() -> None:
    gate, log = PoseGate("waist", GateLimits(), Severity.INFO), CauseLog()
    log.begin(1.0)
    gate.check(None, 1.0, log)
    assert [cause.severity for cause in log.causes] == [Severity.INFO]


def test_a_cause_lasts_from_its_first_tick_to_a_tick_without_it() -> None:
    log = CauseLog()
    since = []
    for now, acts in ((1.0, True), (2.0, True), (3.0, False), (4.0, True)):
        log.begin(now)
        if acts:
            log.add(Rule.LOST, "head", 0.0, 0.0)
        since.append([cause.since for cause in log.causes])
    assert since == [[1.0], [1.0], [], [4.0]]


def test_limits_that_are_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="stale_after"):
        GateLimits(stale_after=0.0)
