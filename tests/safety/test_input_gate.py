# SPDX-License-Identifier: Apache-2.0
"""Only samples that may be acted upon get through the gates, and the rest has its cause."""

import numpy as np
import pytest

from teleop_system.interfaces import HandJointState, Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule
from teleop_system.safety.cause_log import CauseLog
from teleop_system.safety.input_gate import AngleGate, PoseGate, TrackerGates
from teleop_system.safety.sample_gate import InputGateConfig

LEFT, RIGHT = TrackerRole.LEFT_HAND, TrackerRole.RIGHT_HAND
UNIT = np.array([0.0, 0.0, 0.0, 1.0])


def pose(x: float, stamp: float, quaternion: np.ndarray = UNIT, *, valid: bool = True) -> Pose6D:
    return Pose6D(np.array([x, 0.0, 1.0]), quaternion, stamp, valid)


class Bench:
    """One gate with its log and clock."""

    def __init__(self) -> None:
        self.log = CauseLog()
        self.gate = PoseGate("right_hand", InputGateConfig(), self.log)
        self.now = 10.0

    def feed(self, sample: Pose6D | None, elapsed: float = 0.01) -> Pose6D | None:
        self.now += elapsed
        self.log.begin(self.now)
        return self.gate.update(sample, self.now)

    def feed_good(self, count: int, x: float = 0.0) -> Pose6D | None:
        for _ in range(count):
            result = self.feed(pose(x, self.now + 0.01))
        return result

    @property
    def rules(self) -> set[Rule]:
        return {cause.rule for cause in self.log.causes}


def test_good_samples_pass_unchanged() -> None:
    bench = Bench()
    sample = pose(0.0, 10.01)
    assert bench.feed(sample) is sample
    assert bench.rules == set()


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (lambda now: None, Rule.LOST),
        (lambda now: pose(0.0, now, valid=False), Rule.LOST),
        (lambda now: pose(0.0, now, np.array([0.0, 0.0, 0.0, 1.1])), Rule.NON_UNIT),
        (lambda now: pose(0.0, now, np.zeros(4)), Rule.NON_UNIT),
        (lambda now: pose(1.0, now), Rule.INPUT_JUMP),
        (lambda now: pose(0.0, now, np.array([0.0, 0.0, 1.0, 0.0])), Rule.INPUT_JUMP),
    ],
)
def test_bad_sample_is_held_back_until_enough_good_ones_follow(bad: object, rule: Rule) -> None:
    bench = Bench()
    bench.feed_good(10)
    assert bench.feed(bad(bench.now + 0.01)) is None  # type: ignore[operator]
    assert bench.rules == {rule}
    # The way back from a jump is a jump as well, and begins the count anew.
    needed = InputGateConfig().recovery + (1 if rule is Rule.INPUT_JUMP else 0)
    assert bench.feed_good(needed - 1) is None
    assert bench.feed_good(1) is not None


def test_a_body_that_stays_where_it_jumped_to_is_believed_in_the_end() -> None:
    bench = Bench()
    bench.feed_good(10)
    assert bench.feed_good(5, x=1.0) is None
    assert bench.feed_good(1, x=1.0) is not None


@pytest.mark.parametrize(("offset", "value"), [(-0.5, -0.5), (0.5, 0.49)])
def test_stamp_out_of_order_is_passed_over(offset: float, value: float) -> None:
    bench = Bench()
    bench.feed_good(10)
    last = bench.gate.last
    assert bench.feed(pose(0.0, bench.now + offset)) is last
    (cause,) = bench.log.causes
    assert (cause.rule, cause.value) == (Rule.TIME_ORDER, pytest.approx(value))


def test_a_repeated_sample_is_not_fresh_and_goes_stale() -> None:
    bench = Bench()
    bench.feed_good(10)
    last = bench.gate.last
    for _ in range(8):
        assert bench.feed(last) is last
    assert bench.feed(last) is None
    assert bench.rules == {Rule.STALE}


@pytest.mark.parametrize(
    ("position", "orientation", "stamp", "rule"),
    [
        ([np.nan, 0.0, 0.0], UNIT, 10.0, Rule.NON_FINITE),
        ([0.0, 0.0, 0.0], [0.0, 0.0, np.inf, 1.0], 10.0, Rule.NON_FINITE),
        ([0.0, 0.0, 0.0], UNIT, float("nan"), Rule.NON_FINITE),
        ([0.0, 0.0], UNIT, 10.0, Rule.WRONG_SHAPE),
        (["a", "b", "c"], UNIT, 10.0, Rule.WRONG_SHAPE),
    ],
)
def test_raw_numbers_that_make_no_pose_become_a_cause(
    position: object, orientation: object, stamp: float, rule: Rule
) -> None:
    bench = Bench()
    result = bench.gate.update_raw(position, orientation, stamp, 10.0)  # type: ignore[arg-type]
    assert result is None
    assert bench.rules == {rule}


def fed_gates() -> TrackerGates:
    gates = TrackerGates([LEFT, RIGHT])
    for index in range(10):
        stamp = 0.01 * index
        gates.update({LEFT: pose(-0.4, stamp), RIGHT: pose(0.4, stamp)}, stamp)
    return gates


def feed_both(gates: TrackerGates, left: float, right: float, first: float, count: int) -> bool:
    """Feed both hands; tell whether both got through in the end."""
    for index in range(count):
        stamp = first + 0.01 * index
        poses = gates.update({LEFT: pose(left, stamp), RIGHT: pose(right, stamp)}, stamp)
    return poses[LEFT] is not None and poses[RIGHT] is not None


def test_exchanged_hands_are_held_however_long_it_lasts() -> None:
    gates = fed_gates()
    assert not feed_both(gates, 0.4, -0.4, 0.1, 200)
    assert {cause.rule for cause in gates.causes} == {Rule.SWAPPED}
    assert {cause.subject for cause in gates.causes} == {"left_hand", "right_hand"}


def test_hands_that_change_back_are_believed_again() -> None:
    gates = fed_gates()
    feed_both(gates, 0.4, -0.4, 0.1, 20)
    assert feed_both(gates, -0.4, 0.4, 0.3, 10)


def test_a_reset_ends_the_suspicion() -> None:
    gates = fed_gates()
    feed_both(gates, 0.4, -0.4, 0.1, 20)
    gates.reset()
    assert feed_both(gates, 0.4, -0.4, 0.3, 1)


def test_one_lost_tracker_does_not_hold_back_the_other() -> None:
    gates = fed_gates()
    poses = gates.update({LEFT: None, RIGHT: pose(0.4, 0.1)}, 0.1)
    assert poses[LEFT] is None
    assert poses[RIGHT] is not None


def angles(value: float, stamp: float, **fields: bool) -> HandJointState:
    return HandJointState(np.full(20, value), timestamp=stamp, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (np.zeros(19), Rule.WRONG_SHAPE),
        (np.full(20, np.nan), Rule.NON_FINITE),
        (np.full(20, 4.0), Rule.POSITION),
        (np.full(20, 2.0), Rule.INPUT_JUMP),
    ],
)
def test_bad_glove_angles_are_held_back_with_their_cause(raw: np.ndarray, rule: Rule) -> None:
    log = CauseLog()
    gate = AngleGate("right glove", InputGateConfig(), log)
    for index in range(5):
        assert gate.update(angles(0.1, 0.01 * index), 0.01 * index) is not None
    log.begin(0.05)
    assert gate.update_raw(raw, 0.05, 0.05) is None
    assert {cause.rule for cause in log.causes} == {rule}


def test_a_silent_glove_goes_stale() -> None:
    log = CauseLog()
    gate = AngleGate("right glove", InputGateConfig(), log)
    sample = angles(0.1, 0.0)
    assert gate.update(sample, 0.0) is sample
    assert gate.update(sample, 0.2) is None
