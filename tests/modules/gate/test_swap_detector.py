# SPDX-License-Identifier: Apache-2.0
"""Exchanged trackers are detected; fast hands are not reported as exchanged."""

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule
from teleop_system.modules.gate import GateConfig, PoseGate, SwapDetector, exchange_distance
from teleop_system.safety.cause_log import CauseLog
from teleop_system.utils.poses import IDENTITY, PoseTuple

UNIT = np.array([0.0, 0.0, 0.0, 1.0])
LEFT, RIGHT = -0.4, 0.4


class Hands:
    """Two trackers that have been worn correctly for a while."""

    def __init__(self) -> None:
        self.gates = tuple(PoseGate(name, GateConfig()) for name in ("left", "right"))
        self.detector = SwapDetector(*self.gates)
        self.log = CauseLog()
        self.now = 0.0
        assert not self.feed(LEFT, RIGHT, 10)

    def feed(self, left: float | None, right: float | None, count: int = 1) -> bool:
        """Feed both trackers; return whether they count as exchanged."""
        for _ in range(count):
            self.now += 0.01
            self.log.begin(self.now)
            for gate, y in zip(self.gates, (left, right), strict=True):
                sample = None if y is None else Pose6D(np.array([0.0, y, 1.0]), UNIT, self.now)
                gate.check(sample, self.now, self.log)
            exchanged = self.detector.check(self.log)
        return exchanged


def test_exchanged_trackers_are_reported_however_long_it_lasts() -> None:
    hands = Hands()
    assert hands.feed(RIGHT, LEFT, 200)
    assert [cause.rule for cause in hands.log.causes] == [Rule.SWAPPED]


def test_trackers_that_change_back_are_accepted() -> None:
    hands = Hands()
    hands.feed(RIGHT, LEFT, 20)
    assert not hands.feed(LEFT, RIGHT)


def test_a_reset_accepts_the_trackers_as_they_are() -> None:
    hands = Hands()
    hands.feed(RIGHT, LEFT, 20)
    hands.detector.reset()
    assert not hands.feed(RIGHT, LEFT)


def test_one_tracker_in_the_position_of_the_other_is_enough_if_it_jumped() -> None:
    assert Hands().feed(RIGHT, None)
    assert not Hands().feed(0.9, None)


def test_a_lost_tracker_is_not_exchanged() -> None:
    hands = Hands()
    assert not hands.feed(None, RIGHT, 20)
    assert not hands.feed(LEFT, RIGHT)


def test_a_sample_beyond_all_bounds_is_not_an_exchange() -> None:
    hands = Hands()
    assert not hands.feed(1e75, RIGHT)
    assert not hands.feed(LEFT, RIGHT)


@pytest.mark.parametrize(("left", "right"), [(-0.02, 0.02), (-0.2, 0.2)])
def test_hands_that_approach_each_other_quickly_are_not_exchanged(
    left: float, right: float
) -> None:
    hands = Hands()
    for share in np.linspace(0.0, 1.0, 15):
        moved = LEFT + share * (left - LEFT), RIGHT + share * (right - RIGHT)
        assert not hands.feed(*moved)


def feet(left: float, right: float) -> tuple[PoseTuple, PoseTuple]:
    return ((0.0, left, 0.0), IDENTITY), ((0.0, right, 0.0), IDENTITY)


def test_both_feet_have_to_land_where_the_other_was() -> None:
    before = feet(0.1, -0.1)
    assert exchange_distance(before, feet(-0.1, 0.1)) == pytest.approx(0.2)
    assert exchange_distance(before, feet(0.1, -0.1)) == 0.0
    assert exchange_distance(before, feet(-0.1, -0.1)) == 0.0
    assert exchange_distance(before, feet(0.4, -0.4)) == 0.0
