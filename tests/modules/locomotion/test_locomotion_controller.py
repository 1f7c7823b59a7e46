# SPDX-License-Identifier: Apache-2.0
import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.locomotion.config import LocomotionConfig
from teleop_system.modules.locomotion.gait_detector import GaitState
from teleop_system.modules.locomotion.locomotion_controller import (
    LocomotionController,
    LocomotionOutput,
)
from tests.modules.locomotion.drive import DT, drive, is_zero
from tests.modules.locomotion.operators import (
    HALF_STANCE,
    Operator,
    Stance,
    standing,
    stepping,
    turning,
    walking,
)

CONFIG = LocomotionConfig()


def rules(output: LocomotionOutput) -> set[Rule]:
    return {cause.rule for cause in output.causes}


@pytest.fixture
def rolling() -> LocomotionController:
    """A controller that has driven at full speed for a while; the time is 5 s."""
    controller = LocomotionController(CONFIG)
    assert drive(controller, stepping(2.2), 0.0, 5.0)[-1].command.linear_x == 0.5
    return controller


def test_standing_still_is_exactly_zero_and_has_no_cause() -> None:
    controller, rng = LocomotionController(CONFIG), random.Random(0)
    for tick in range(1, 500):
        now = tick * DT
        output = controller.update(*standing(now).poses(now, rng), now=now, dt=DT)
        assert is_zero(output)
        assert output.causes == ()


def test_stepping_in_place_drives_ahead() -> None:
    output = drive(LocomotionController(CONFIG), stepping(1.6), 0.0, 6.0)[-1]
    assert output.command.linear_x == pytest.approx(1.6 * 0.25, rel=0.05)
    assert (output.command.linear_y, output.command.angular_z) == (0.0, 0.0)
    assert output.gait.state is GaitState.STEPPING


def test_rotation_on_the_spot_rotates_the_base() -> None:
    output = drive(LocomotionController(CONFIG), turning(-0.7), 0.0, 6.0)[-1]
    assert output.command.angular_z == pytest.approx(-0.7, rel=0.05)
    assert output.command.linear_x == 0.0


def test_walking_back_and_forth_brings_the_base_back() -> None:
    def pacing(time: float) -> Stance:
        there, back = walking(0.4, stop=4.0)(time), walking(0.4, start=7.0, stop=10.0)(time)
        ends = [
            (a[0] - b[0], a[1], max(a[2], b[2]), 0.0)
            for a, b in ((there.left, back.left), (there.right, back.right))
        ]
        return Stance(*ends)

    outputs = drive(LocomotionController(CONFIG), pacing, 0.0, 14.0)
    distance = np.cumsum([output.command.linear_x for output in outputs]) * DT
    assert distance.max() > 0.8
    assert abs(distance[-1]) < 0.2


def test_scales_apply_to_the_requested_speed() -> None:
    controller = LocomotionController(LocomotionConfig(linear_scale=0.5))
    outputs = drive(controller, walking(0.6), 0.0, 6.0)
    assert outputs[-1].command.linear_x == pytest.approx(0.3, rel=0.1)


def test_too_large_a_request_is_limited_with_its_cause() -> None:
    output = drive(LocomotionController(CONFIG), walking(1.2), 0.0, 6.0)[-1]
    assert output.command.linear_x == 0.5
    (cause,) = (cause for cause in output.causes if cause.rule is Rule.VELOCITY)
    assert (cause.subject, cause.limit, cause.severity) == (
        "base linear_x",
        0.5,
        Severity.LIMITED,
    )
    assert cause.value == pytest.approx(1.2, rel=0.1)


def test_a_lateral_request_is_reported_and_ignored() -> None:
    outputs = drive(LocomotionController(CONFIG), walking(0.2, math.pi / 2.0), 0.0, 6.0)
    assert all(is_zero(output) for output in outputs)
    (cause,) = (cause for cause in outputs[-1].causes if cause.rule is Rule.UNSUPPORTED)
    assert cause.value == pytest.approx(0.2, abs=0.05)
    assert cause.since < 4.0


def test_a_holonomic_base_goes_sideways() -> None:
    controller = LocomotionController(LocomotionConfig(drive="holonomic"))
    output = drive(controller, walking(0.2, math.pi / 2.0), 0.0, 6.0)[-1]
    assert output.command.linear_y == pytest.approx(0.2, abs=0.05)
    assert Rule.UNSUPPORTED not in rules(output)


def test_a_command_carries_the_time_of_the_older_foot() -> None:
    controller = LocomotionController(CONFIG)
    left, right = standing(0.0).poses(1.0)
    output = controller.update(
        left, right.translated(np.zeros(3), timestamp=0.99), now=1.01, dt=DT
    )
    assert output.command.timestamp == 0.99


@pytest.mark.parametrize("silence", [0.0, 0.003, 0.01, 0.0199])
@pytest.mark.parametrize("operator", [stepping(2.2), turning(1.2), walking(1.0)])
def test_silent_feet_begin_to_brake_within_100_ms_and_stand_within_500_ms(
    operator: Operator, silence: float
) -> None:
    controller = LocomotionController(CONFIG)
    last = drive(controller, operator, 0.0, 5.0)[-1]
    feet = operator(5.0).poses(5.0 + silence)
    history = [last.command]
    for tick in range(251, 290):
        history.append(controller.update(*feet, now=tick * DT, dt=DT).command)
    speeds = [abs(command.linear_x) + abs(command.angular_z) for command in history]
    begin = next(i for i, speed in enumerate(speeds) if speed < 0.99 * speeds[0])
    assert speeds[0] > 0.4
    assert begin * DT - silence <= 0.1 + 1e-9
    assert all(speed == 0.0 for speed in speeds[math.floor((0.5 + silence) / DT) :])


def test_a_base_that_rotates_and_drives_stands_within_500_ms() -> None:
    def curving(time: float) -> Stance:
        ahead, round_ = walking(1.0)(time), turning(1.2)(time)
        feet = [
            (a[0] + b[0], a[1] - HALF_STANCE * s + b[1], max(a[2], b[2]), b[3])
            for a, b, s in ((ahead.left, round_.left, 1), (ahead.right, round_.right, -1))
        ]
        return Stance(*feet)

    controller = LocomotionController(CONFIG)
    command = drive(controller, curving, 0.0, 6.5)[-1].command
    assert abs(command.angular_z) > 0.5
    ticks = range(326, 351)
    outputs = [controller.update(None, None, now=t * DT, dt=DT) for t in ticks]
    assert is_zero(outputs[-1])


LOSSES: dict[str, tuple[Callable[[Pose6D, Pose6D], tuple[Pose6D | None, Pose6D | None]], Rule]]
LOSSES = {
    "none": (lambda left, right: (None, right), Rule.LOST),
    "invalid": (lambda left, right: (left, Pose6D.lost(right.timestamp)), Rule.LOST),
    "zero quaternion": (
        lambda left, right: (Pose6D(left.position, np.zeros(4), left.timestamp), right),
        Rule.NON_UNIT,
    ),
    "long quaternion": (
        lambda left, right: (left, Pose6D(right.position, [0, 0, 0, 1.1], right.timestamp)),
        Rule.NON_UNIT,
    ),
    "jump": (lambda left, right: (left.translated(np.array([1.0, 0, 0])), right), Rule.INPUT_JUMP),
    "swap": (lambda left, right: (right, left), Rule.SWAPPED),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_bad_feet_stop_the_base_at_once_and_it_recovers_by_itself(
    rolling: LocomotionController, loss: str
) -> None:
    spoil, rule = LOSSES[loss]
    feet = stepping(2.2)(5.02).poses(5.02)
    output = rolling.update(*spoil(*feet), now=5.02, dt=DT)
    assert rule in rules(output)
    assert max(cause.severity for cause in output.causes) is Severity.HOLD
    assert output.command.linear_x < 0.5
    outputs = drive(rolling, stepping(2.2), 5.02, 10.0)
    stop = next(i for i, output in enumerate(outputs) if is_zero(output))
    assert stop * DT <= 0.4
    assert outputs[-1].command.linear_x == 0.5
    assert rule not in rules(outputs[-1])


def test_feet_that_stay_exchanged_keep_the_base_still() -> None:
    controller = LocomotionController(CONFIG)
    for tick in range(1, 300):
        now = tick * DT
        left, right = stepping(2.0)(now).poses(now)
        output = controller.update(right, left, now=now, dt=DT)
        assert is_zero(output)
        assert Rule.SWAPPED in rules(output)


def test_a_stamp_that_runs_backwards_is_ignored(rolling: LocomotionController) -> None:
    feet = stepping(2.2)(4.0).poses(4.0)
    output = rolling.update(*feet, now=5.02, dt=DT)
    assert Rule.TIME_ORDER in rules(output)
    assert output.command.linear_x == 0.5
    for tick in range(252, 280):
        output = rolling.update(*feet, now=tick * DT, dt=DT)
    assert is_zero(output)
    assert Rule.STALE in rules(output)


def test_a_repeated_stamp_with_another_pose_is_ignored(
    rolling: LocomotionController,
) -> None:
    output = rolling.update(*stepping(2.2)(5.2).poses(5.0), now=5.02, dt=DT)
    assert Rule.TIME_ORDER in rules(output)


def test_a_sample_that_is_read_twice_has_no_cause(rolling: LocomotionController) -> None:
    output = rolling.update(*stepping(2.2)(5.0).poses(5.0), now=5.02, dt=DT)
    assert rules(output) == {Rule.VELOCITY}
    assert output.command.linear_x == 0.5


def test_a_stamp_from_the_future_is_ignored(rolling: LocomotionController) -> None:
    output = rolling.update(*stepping(2.2)(5.02).poses(9.0), now=5.02, dt=DT)
    assert Rule.TIME_ORDER in rules(output)


@pytest.mark.parametrize(
    ("now", "dt", "rule"),
    [
        (4.0, DT, Rule.TIME_ORDER),
        (5.0, DT, Rule.TIME_ORDER),
        (5.02, 0.0, Rule.TIME_ORDER),
        (5.02, -1.0, Rule.TIME_ORDER),
        (math.nan, DT, Rule.NON_FINITE),
        (5.02, math.inf, Rule.NON_FINITE),
        (7.0, 2.0, Rule.OVERRUN),
    ],
)
def test_a_clock_that_fails_stops_the_base(
    rolling: LocomotionController, now: float, dt: float, rule: Rule
) -> None:
    output = rolling.update(*stepping(2.2)(5.02).poses(5.02), now=now, dt=dt)
    assert rule in rules(output)
    assert output.command.linear_x < 0.5
    for _ in range(20):
        output = rolling.update(*stepping(2.2)(5.02).poses(5.02), now=now, dt=dt)
    assert is_zero(output)


def test_a_clock_that_restarts_is_followed_again(rolling: LocomotionController) -> None:
    outputs = drive(rolling, stepping(2.2), 0.0, 5.0)
    assert Rule.TIME_ORDER in rules(outputs[0])
    assert outputs[-1].command.linear_x == 0.5


def test_disengaging_stops_the_base_with_a_cause(rolling: LocomotionController) -> None:
    for tick in range(251, 280):
        feet = stepping(2.2)(tick * DT).poses(tick * DT)
        output = rolling.update(*feet, now=tick * DT, dt=DT, engaged=False)
    assert is_zero(output)
    (cause,) = output.causes
    assert cause.rule is Rule.NOT_ENGAGED
    assert cause.since == 251 * DT


def test_engaging_during_a_walk_starts_slowly() -> None:
    controller = LocomotionController(CONFIG)
    for tick in range(1, 150):
        feet = walking(0.5)(tick * DT).poses(tick * DT)
        controller.update(*feet, now=tick * DT, dt=DT, engaged=False)
    outputs = drive(controller, walking(0.5), 149 * DT, 12.0)
    assert outputs[0].command.linear_x == 0.0
    speeds = np.array([output.command.linear_x for output in outputs])
    assert np.abs(np.diff(speeds)).max() <= 0.314 * DT * (1.0 + 1e-9)
    assert speeds[: round(0.8 / DT)].max() < 0.25


def test_a_lost_waist_is_reported_and_does_not_stop_the_base(
    rolling: LocomotionController,
) -> None:
    feet = stepping(2.2)(5.02).poses(5.02)
    output = rolling.update(*feet, Pose6D.lost(5.02), now=5.02, dt=DT)
    (cause,) = (cause for cause in output.causes if cause.rule is Rule.LOST)
    assert (cause.subject, cause.severity) == ("waist", Severity.INFO)
    assert output.command.linear_x == 0.5


def test_a_cause_keeps_the_time_at_which_it_began(rolling: LocomotionController) -> None:
    for tick in range(251, 261):
        output = rolling.update(None, None, now=tick * DT, dt=DT)
    since = {cause.rule: cause.since for cause in output.causes}
    assert since[Rule.LOST] == 251 * DT
    assert since[Rule.STALE] > 251 * DT
    rolling.update(*standing(0.0).poses(5.22), now=5.22, dt=DT)
    output = rolling.update(None, None, now=5.24, dt=DT)
    assert {cause.since for cause in output.causes} == {5.24}


def test_a_reset_controller_begins_like_a_new_one(rolling: LocomotionController) -> None:
    rolling.reset()
    again = drive(rolling, stepping(2.0), 0.0, 3.0)
    fresh = drive(LocomotionController(CONFIG), stepping(2.0), 0.0, 3.0)
    assert [output.command for output in again] == [output.command for output in fresh]
