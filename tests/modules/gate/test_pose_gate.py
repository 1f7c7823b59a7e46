# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.gate import USABLE, GateConfig, PoseGate, Verdict
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.transforms import quat_exp

UNIT = [0.0, 0.0, 0.0, 1.0]


def pose(time: float, x: float = 0.0, quaternion: object = UNIT) -> Pose6D:
    return Pose6D([x, 0.0, 0.0], quaternion, time)  # type: ignore[arg-type]


class Judge:
    """A gate that has already passed a sample of time 1 s."""

    def __init__(self, *, bridges_losses: bool = True) -> None:
        self.gate = PoseGate("tracker", GateConfig(), bridges_losses=bridges_losses)
        self.log = CauseLog()
        assert self.check(pose(1.0), 1.0) is Verdict.NEW

    def check(self, sample: Pose6D | None, now: float) -> Verdict:
        self.log.begin(now)
        return self.gate.check(sample, now, self.log)

    @property
    def rules(self) -> list[Rule]:
        return [cause.rule for cause in self.log.causes]


def test_a_newer_sample_passes_without_a_cause() -> None:
    judge = Judge()
    assert judge.check(pose(1.01), 1.01) is Verdict.NEW
    assert judge.rules == []


def test_a_repeated_sample_is_used_again_without_a_cause() -> None:
    judge = Judge()
    assert judge.check(pose(1.0), 1.01) is Verdict.RECENT
    assert judge.rules == []


@pytest.mark.parametrize("sample", [pose(1.0, 0.01), pose(0.99), pose(1.2)])
def test_a_sample_out_of_order_is_ignored_with_its_cause(sample: Pose6D) -> None:
    judge = Judge()
    assert judge.check(sample, 1.01) is Verdict.RECENT
    assert judge.rules == [Rule.TIME_ORDER]
    assert judge.gate.sample is not sample


@pytest.mark.parametrize("sample", [None, Pose6D.lost(1.01)])
def test_a_loss_is_bridged_or_bad_at_once(sample: Pose6D | None) -> None:
    for bridges, verdict in ((True, Verdict.RECENT), (False, Verdict.BAD)):
        judge = Judge(bridges_losses=bridges)
        assert judge.check(sample, 1.01) is verdict
        assert judge.rules == [Rule.LOST]
        (cause,) = judge.log.causes
        assert cause.severity is (Severity.INFO if bridges else Severity.HOLD)


def test_a_loss_is_bridged_only_while_the_last_sample_is_fresh() -> None:
    judge = Judge()
    assert judge.check(None, 1.07) is Verdict.RECENT
    assert judge.check(None, 1.09) is Verdict.STALE
    assert judge.rules == [Rule.LOST, Rule.STALE]
    assert {cause.severity for cause in judge.log.causes} == {Severity.HOLD}


def test_before_the_first_sample_there_is_nothing_to_use() -> None:
    gate, log = PoseGate("tracker", GateConfig()), CauseLog()
    assert gate.check(None, 1.0, log) is Verdict.STALE
    assert [cause.rule for cause in log.causes] == [Rule.LOST]


@pytest.mark.parametrize("quaternion", [[0, 0, 0, 0], [0, 0, 0, 1.01], [3, 1, 2, 1]])
def test_a_non_unit_quaternion_is_bad_and_not_kept(quaternion: list[float]) -> None:
    judge = Judge(bridges_losses=False)
    assert judge.check(pose(1.01, quaternion=quaternion), 1.01) is Verdict.BAD
    assert judge.rules == [Rule.NON_UNIT]
    assert judge.gate.age(1.01) == pytest.approx(0.01)


@pytest.mark.parametrize("x", [1e3, -1e3, 1e300])
def test_a_coordinate_beyond_all_bounds_is_bad_and_not_kept(x: float) -> None:
    judge = Judge(bridges_losses=False)
    for _ in range(3):
        assert judge.check(pose(1.01, x), 1.01) is Verdict.BAD
        assert judge.rules == [Rule.INPUT_JUMP]
    assert judge.check(pose(1.02), 1.02) is Verdict.NEW


def test_a_jump_is_reported_once_and_confirmed_by_the_next_sample() -> None:
    judge = Judge()
    jumped = pose(1.01, 1.0)
    assert judge.check(jumped, 1.01) is Verdict.JUMPED
    assert judge.rules == [Rule.INPUT_JUMP]
    assert judge.check(jumped, 1.015) is Verdict.JUMPED  # Another sample has to confirm it.
    assert judge.check(None, 1.02) is Verdict.JUMPED
    assert judge.check(pose(1.02, 1.0), 1.02) is Verdict.NEW


def test_the_return_from_a_jump_is_a_jump() -> None:
    judge = Judge()
    assert judge.check(pose(1.01, 1.0), 1.01) is Verdict.JUMPED
    assert judge.check(pose(1.02), 1.02) is Verdict.JUMPED
    assert judge.check(pose(1.03), 1.03) is Verdict.NEW


def test_a_rotation_too_fast_for_a_body_is_a_jump() -> None:
    judge = Judge()
    rotated = [0.0, math.sin(0.7), 0.0, math.cos(0.7)]
    assert judge.check(pose(1.01, quaternion=rotated), 1.01) is Verdict.JUMPED


def test_the_other_sign_of_a_quaternion_is_not_a_jump() -> None:
    judge = Judge()
    assert judge.check(pose(1.01, quaternion=-np.array(UNIT)), 1.01) is Verdict.NEW


def test_a_sample_is_stale_past_its_age() -> None:
    judge = Judge()
    assert judge.check(pose(1.0), 1.079) is Verdict.RECENT
    assert judge.check(pose(1.0), 1.081) is Verdict.STALE
    assert judge.rules == [Rule.STALE]


def test_a_sample_that_arrives_late_is_stale() -> None:
    judge = Judge()
    assert judge.check(pose(1.4), 1.5) is Verdict.STALE


def test_the_severity_is_that_of_the_gate() -> None:
    gate, log = PoseGate("waist", GateConfig(), Severity.INFO), CauseLog()
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
        GateConfig(stale_after=0.0)


def test_a_reset_forgets_the_last_sample() -> None:
    judge = Judge()
    judge.gate.reset()
    assert judge.gate.sample is None
    assert judge.check(pose(0.5, 9.0), 0.5) is Verdict.NEW


def wild(random: np.random.Generator, now: float) -> Pose6D | None:
    """Return a sample that is good in most cases."""
    if random.random() < 0.05:
        return None
    late = random.choice([0.0, -0.005, -0.09, 0.015, 0.1], p=[0.8, 0.1, 0.03, 0.04, 0.03])
    size = random.choice([0.005, 0.1, 0.5, 1e4], p=[0.89, 0.07, 0.03, 0.01])
    length = random.choice([1.0, 1.0004, 1.0012, 0.5], p=[0.8, 0.1, 0.05, 0.05])
    rotation = quat_exp(random.normal(size=3) * random.choice([0.02, 0.3], p=[0.95, 0.05]))
    sign = random.choice([1.0, -1.0])
    valid = bool(random.random() < 0.97)
    position = random.normal(size=3) * size
    return Pose6D(position, rotation * length * sign, now + float(late), valid)


@pytest.mark.parametrize("bridges_losses", [True, False])
def test_only_fresh_valid_samples_are_used_for_any_input(bridges_losses: bool) -> None:
    random = np.random.default_rng(5)
    config = GateConfig()
    gate, log = PoseGate("tracker", config, bridges_losses=bridges_losses), CauseLog()
    seen, before = set(), None
    for tick in range(4000):
        now, last = 0.01 * tick, gate.sample
        sample = before if random.random() < 0.2 else wild(random, now)
        before = sample = None if tick % 500 > 480 else sample
        log.begin(now)
        verdict = gate.check(sample, now, log)
        seen.add(verdict)
        if verdict in USABLE:
            used = gate.sample
            assert used is not None
            assert used.valid
            assert -config.ahead <= now - used.timestamp <= config.stale_after
            assert abs(np.linalg.norm(used.orientation) - 1.0) <= 1e-3
            assert np.abs(used.position).max() < 1e3
        if verdict is Verdict.NEW and last is not None:
            assert used.timestamp > last.timestamp
            elapsed = used.timestamp - last.timestamp
            moved = np.linalg.norm(used.position - last.position)
            assert moved <= config.distance + config.speed * elapsed
        if verdict not in USABLE:
            assert log.causes or last is gate.sample
    assert seen == set(Verdict) - ({Verdict.BAD} if bridges_losses else set())
