# SPDX-License-Identifier: Apache-2.0
"""Exchanged foot trackers stop the base, but crossed steps do not."""

import itertools
import math

import pytest

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.modules.locomotion.locomotion_controller import (
    LocomotionController,
    LocomotionOutput,
)
from teleop_system.settings import load_settings
from tests.modules.locomotion.drive import DT, drive, is_zero
from tests.modules.locomotion.operators import Operator, Stance, standing, stepping, walking

LIVE = LocomotionConfig()
RECORDED = LocomotionConfig(check_sides=False)
FULL_STOP = 0.5
"""The base stands within this time in [s] from any motion."""


def beside(offset: float, ahead: float = 0.0, yaw: float = 0.0) -> Operator:
    """Stand with the left foot `offset` [m] to the left of the right one, and `ahead` [m]."""
    cosine, sine = math.cos(yaw), math.sin(yaw)
    x, y = 0.5 * ahead, 0.5 * offset
    left = (cosine * x - sine * y, sine * x + cosine * y, 0.0, yaw)
    right = (-left[0], -left[1], 0.0, yaw)
    return lambda time: Stance(left, right)


def exchanged(operator: Operator) -> Operator:
    """Wear the left tracker on the right foot, and the right one on the left."""

    def wearing(time: float) -> Stance:
        stance = operator(time)
        return Stance(stance.right, stance.left)

    return wearing


def crossed(operator: Operator, by: float = 0.3) -> Operator:
    """Do the same with each foot `by` [m] towards the other one and past it."""

    def dancing(time: float) -> Stance:
        (lx, ly, *left), (rx, ry, *right) = operator(time).left, operator(time).right
        return Stance((lx, ly - by, *left), (rx, ry + by, *right))

    return dancing


def is_swapped(output: LocomotionOutput) -> bool:
    found = [cause for cause in output.causes if cause.rule is Rule.SWAPPED]
    assert all(cause.severity is Severity.HOLD for cause in found)
    return bool(found)


@pytest.mark.parametrize("yaw", [0.0, 1.0, math.pi, -2.0])
@pytest.mark.parametrize(
    ("offset", "ahead", "swapped"),
    [
        (0.24, 0.0, False),
        (0.02, 0.0, False),
        (-0.05, 0.0, False),  # Heels that touch, and trackers that sit on the outside.
        (-0.12, 0.0, True),
        (-0.4, 0.0, True),
        (-0.12, 0.4, False),  # One foot far ahead: the stance is undefined.
        (-0.3, 0.1, True),
    ],
)
def test_feet_at_rest_are_on_their_sides_for_any_heading(
    offset: float, ahead: float, swapped: bool, yaw: float
) -> None:
    outputs = drive(LocomotionController(LIVE), beside(offset, ahead, yaw), 0.0, 1.0)
    assert [is_swapped(output) for output in outputs] == [swapped] * len(outputs)
    assert all(is_zero(output) for output in outputs)
    outputs = drive(LocomotionController(RECORDED), beside(offset, ahead, yaw), 0.0, 1.0)
    assert not any(is_swapped(output) or output.causes for output in outputs)


@pytest.mark.parametrize("operator", [stepping(2.2), walking(0.4)])
def test_exchanged_trackers_move_nothing_until_they_are_worn_correctly(
    operator: Operator,
) -> None:
    controller = LocomotionController(LIVE)
    wrong = drive(controller, exchanged(operator), 0.0, 4.0)
    assert all(is_zero(output) and is_swapped(output) for output in wrong)
    # The operator exchanges them, which takes some time without samples.
    silence = [controller.update(None, None, now=4.0 + tick * DT, dt=DT) for tick in range(1, 101)]
    assert all(is_zero(output) for output in silence)
    right = drive(controller, lambda time: operator(time - 6.0), 6.0, 14.0)
    # In the first tick each one is at the last position of the other.
    assert not any(is_swapped(output) for output in right[1:])
    assert right[-1].command.linear_x > 0.3
    speeds = [0.0, *(output.command.linear_x for output in right)]
    steps = [abs(b - a) for a, b in itertools.pairwise(speeds)]
    assert max(steps) <= LIVE.linear_acceleration * DT + 1e-9, "no jump from the swap to the walk"


@pytest.mark.parametrize("config", [LIVE, RECORDED])
def test_trackers_exchanged_during_a_walk_stop_the_base_until_they_are_back(
    config: LocomotionConfig,
) -> None:
    operator = stepping(2.2)
    controller = LocomotionController(config)
    assert drive(controller, operator, 0.0, 5.0)[-1].command.linear_x == config.max_linear
    flicker = drive(controller, exchanged(operator), 5.0, 5.0 + DT)
    assert is_swapped(flicker[0]), "known feet do not exchange in one tick, either"
    after = drive(controller, operator, 5.0 + DT, 12.0)
    stop = next(index for index, output in enumerate(after) if is_zero(output))
    assert stop * DT <= FULL_STOP
    assert after[-1].command.linear_x == config.max_linear
    assert not is_swapped(after[-1])


def test_a_dancer_with_crossed_feet_is_followed_only_where_the_feet_are_known() -> None:
    operator = crossed(walking(0.4))
    live = drive(LocomotionController(LIVE), operator, 0.0, 8.0)
    assert all(is_zero(output) for output in live)
    known = drive(LocomotionController(RECORDED), operator, 0.0, 8.0)
    assert not any(is_swapped(output) for output in known)
    uncrossed = drive(LocomotionController(RECORDED), walking(0.4), 0.0, 8.0)
    assert known[-1].command.linear_x > 0.3
    assert [output.command for output in known] == [output.command for output in uncrossed]


def test_feet_that_cross_slowly_are_reported_at_rest_until_they_uncross() -> None:
    def crossing(time: float) -> Stance:
        """Cross from 1 to 2 s, stay, and uncross from 5 to 6 s."""
        share = min(1.0, max(0.0, time - 1.0)) - min(1.0, max(0.0, time - 5.0))
        return crossed(standing, 0.3 * share)(time)

    outputs = drive(LocomotionController(LIVE), crossing, 0.0, 9.0)
    reported = [index * DT for index, output in enumerate(outputs) if is_swapped(output)]
    assert all(is_zero(output) for output in outputs)
    assert 1.0 < reported[0] < 3.0 and 5.0 < reported[-1] < 6.5
    since = {cause.since for output in outputs for cause in output.causes}
    assert len(since) == 1, "one swap is one cause"


def test_exchanged_feet_stay_reported_while_one_is_far_ahead() -> None:
    controller = LocomotionController(LIVE)
    assert is_swapped(drive(controller, beside(-0.24), 0.0, 1.0)[-1])
    striding = drive(controller, beside(-0.24, ahead=0.6), 1.0, 2.0)
    assert all(is_swapped(output) for output in striding)
    assert not is_swapped(drive(controller, beside(0.24), 2.0, 3.0)[-1])
    controller = LocomotionController(LIVE)
    drive(controller, beside(-0.24), 0.0, 1.0)
    controller.reset()
    assert not is_swapped(drive(controller, beside(-0.24, ahead=0.6), 1.0, 2.0)[-1])


def test_recordings_know_their_feet_and_live_operators_do_not() -> None:
    assert load_settings([]).locomotion.check_sides
    assert not load_settings(["hardware=mocap"]).locomotion.check_sides
