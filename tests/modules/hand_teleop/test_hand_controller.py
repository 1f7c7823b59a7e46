# SPDX-License-Identifier: Apache-2.0
"""One hand: following, holding, engaging, and causes of bad input."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, InvalidJointStateError, UnknownNameError
from teleop_system.interfaces import HandJointState
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.hand_teleop import (
    AngleRetargeter,
    HandController,
    HandOutput,
    HandPairController,
    HandTeleopConfig,
)
from teleop_system.modules.hand_teleop.dg5f import joint_names
from teleop_system.robots.description import Hand
from teleop_system.simulators.human.gestures import GESTURES
from teleop_system.simulators.simulated_hand import SimulatedHand

from .operators import DT, SIDES, Array, gesture, random_angles, state

GRIPPER = Hand("right", "gripper", "right", ("finger",), (-0.05,), (0.0,))


def hold_gesture(
    controller: HandController, name: str, *, start: float = 0.0, seconds: float = 2.0
) -> list[HandOutput]:
    """Feed a gesture that is kept; return the outputs."""
    ticks = round(seconds / DT)
    times = [start + (k + 1) * DT for k in range(ticks)]
    return [controller.update(gesture(name, t, controller.side), now=t, dt=DT) for t in times]


def rules(output: HandOutput) -> set[Rule]:
    return {cause.rule for cause in output.causes}


def steps(outputs: list[HandOutput]) -> Array:
    return np.abs(np.diff([output.positions for output in outputs], axis=0)).max(axis=1)


@pytest.mark.parametrize("side", SIDES)
def test_a_hand_reaches_the_target_of_the_retargeter(side: str) -> None:
    outputs = hold_gesture(HandController(side), "relaxed", seconds=3.0)
    wanted = AngleRetargeter(side).retarget(gesture("relaxed", side=side))
    np.testing.assert_allclose(outputs[-1].positions, wanted, atol=1e-6)
    assert outputs[-1].following
    assert not outputs[-1].causes


def test_left_and_right_do_the_same_mirrored() -> None:
    left, right = (hold_gesture(HandController(side), "two") for side in SIDES)
    mirror = np.array([-1, -1, -1, -1] + [-1, 1, 1, 1] * 3 + [-1, -1, 1, 1])
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a.positions, mirror * b.positions, atol=1e-12)


def test_names_are_those_of_the_side() -> None:
    assert HandController("left").joint_names[0] == "lj_dg_1_1"
    assert HandController("right").joint_names == joint_names("right")


def test_joints_come_in_the_order_of_the_robot() -> None:
    names = joint_names("right")[::-1]
    hand = Hand("right", "dg5f", "right", names, (0.0,) * 20, (0.0,) * 20)
    plain, mirrored = HandController("right"), HandController("right", hand=hand)
    for a, b in zip(hold_gesture(plain, "two"), hold_gesture(mirrored, "two"), strict=True):
        np.testing.assert_array_equal(a.positions[::-1], b.positions)


def test_a_dg5f_with_foreign_joints_is_refused() -> None:
    hand = Hand("right", "dg5f", "right", ("a",) * 20, (0.0,) * 20, (0.0,) * 20)
    with pytest.raises(ConfigError, match="rj_dg_1_1"):
        HandController("right", hand=hand)


def test_an_unknown_retargeter_is_reported() -> None:
    with pytest.raises(UnknownNameError, match="angels"):
        HandController("right", HandTeleopConfig(retargeter="angels"))


def test_engaging_starts_without_a_jump_and_follows_the_ramp() -> None:
    controller = HandController("right")
    start = controller.update(None, now=0.0, dt=DT).positions
    outputs = hold_gesture(controller, "fist", seconds=1.0)
    moved = [float(np.abs(output.positions - start).max()) for output in outputs]
    assert 0.0 < moved[0] <= 0.002
    assert Rule.ENGAGE_JUMP in rules(outputs[0])
    final = float(np.abs(AngleRetargeter("right").retarget(gesture("fist")) - start).max())
    assert moved[39] < 0.6 * final  # Half-way through the ramp it is at half the distance.
    assert Rule.ENGAGE_JUMP not in rules(outputs[-1])


def test_every_restart_of_following_begins_within_the_promise() -> None:
    rng = np.random.default_rng(11)
    for case in range(16):
        config = HandTeleopConfig(retargeter=("angles", "fingertips")[case % 2])
        controller = HandController("right", config)
        controller.reset(AngleRetargeter("right").retarget(state(random_angles(rng), 0.0)))
        dt = float(rng.uniform(0.002, 0.05))
        now, before = 1.0, controller.update(None, now=1.0, dt=dt).positions
        for _ in range(2):  # The first engagement, and the one after a pause.
            angles = random_angles(rng)
            for tick in range(4):
                now += dt
                output = controller.update(state(angles, now), now=now, dt=dt)
                if tick == 0:
                    assert np.abs(output.positions - before).max() <= 0.002 + 1e-12
                before = output.positions
            for _ in range(20):
                now += max(dt, 0.02)
                before = controller.update(None, now=now, dt=max(dt, 0.02)).positions


def test_a_hand_that_is_not_engaged_holds_with_a_cause() -> None:
    controller = HandController("right")
    outputs = [
        controller.update(gesture("fist", k * DT), now=k * DT, dt=DT, engaged=False)
        for k in range(1, 50)
    ]
    assert steps(outputs).max() == 0.0
    assert rules(outputs[-1]) == {Rule.NOT_ENGAGED}
    assert outputs[-1].causes[0].since == pytest.approx(DT)


def test_disengaging_in_full_motion_brakes_within_the_acceleration() -> None:
    controller = HandController("right")
    moving = hold_gesture(controller, "fist", seconds=0.5)
    now = 0.5
    outputs = moving[-2:]
    for _ in range(30):
        now += DT
        outputs.append(controller.update(gesture("fist", now), now=now, dt=DT, engaged=False))
    speeds = np.diff([output.positions for output in outputs], axis=0) / DT
    assert np.abs(speeds[0]).max() > 1.0
    assert np.abs(np.diff(speeds, axis=0)).max() / DT <= 50.0 * (1.0 + 1e-9)
    assert np.abs(speeds[-1]).max() == 0.0


def test_a_silent_glove_makes_the_hand_hold_within_a_tenth_of_a_second() -> None:
    controller = HandController("right")
    hold_gesture(controller, "fist", seconds=0.4)
    last = gesture("fist", 0.4)
    speeds, before = [], None
    for k in range(1, 40):
        now = 0.4 + k * DT
        output = controller.update(last, now=now, dt=DT)
        if before is not None:
            speeds.append((now, float(np.abs(output.positions - before).max()) / DT))
        if now - 0.4 >= 0.1 - 1e-9:
            assert Rule.STALE in rules(output)
            assert not output.following
        before = output.positions
    after = [speed for now, speed in speeds if now - 0.4 > 0.09]
    assert all(later <= sooner + 1e-9 for sooner, later in itertools.pairwise(after))
    assert after[-1] == 0.0


def test_a_lost_frame_is_bridged_and_reported() -> None:
    controller = HandController("right")
    hold_gesture(controller, "relaxed", seconds=2.0)
    lost = state(GESTURES["relaxed"], 2.01, valid=False)
    output = controller.update(lost, now=2.01, dt=DT)
    assert output.following
    assert [(c.rule, c.severity) for c in output.causes] == [(Rule.LOST, Severity.INFO)]


def test_following_resumes_after_a_loss_with_the_ramp() -> None:
    controller = HandController("right")
    hold_gesture(controller, "open", seconds=1.5)
    for k in range(1, 31):
        held = controller.update(None, now=1.5 + k * DT, dt=DT)
    assert {Rule.STALE, Rule.LOST} == rules(held)
    outputs = hold_gesture(controller, "fist", start=1.8, seconds=1.5)
    assert np.abs(outputs[0].positions - held.positions).max() <= 0.002
    assert Rule.ENGAGE_JUMP in rules(outputs[0])
    assert outputs[-1].following


@pytest.mark.parametrize(
    ("stamp", "rule"), [(0.5, Rule.TIME_ORDER), (3.0, Rule.TIME_ORDER), (-1.0, Rule.TIME_ORDER)]
)
def test_a_stamp_out_of_order_is_ignored(stamp: float, rule: Rule) -> None:
    controller = HandController("right")
    before = hold_gesture(controller, "open", seconds=2.0)[-1]
    output = controller.update(gesture("fist", stamp), now=2.01, dt=DT)
    assert rules(output) == {rule}
    np.testing.assert_allclose(output.positions, before.positions, atol=1e-6)


def test_a_repeated_stamp_with_other_angles_is_ignored() -> None:
    controller = HandController("right")
    hold_gesture(controller, "open", seconds=2.0)
    assert rules(controller.update(gesture("fist", 2.0), now=2.01, dt=DT)) == {Rule.TIME_ORDER}


def test_a_repeated_sample_has_no_cause() -> None:
    controller = HandController("right")
    hold_gesture(controller, "open", seconds=2.0)
    output = controller.update(gesture("open", 2.0), now=2.01, dt=DT)
    assert output.following
    assert not output.causes


def test_a_glove_that_restarts_its_clock_is_followed_again() -> None:
    controller = HandController("right")
    hold_gesture(controller, "open", start=100.0, seconds=1.0)
    for k in range(20):
        controller.update(None, now=101.0 + k * DT, dt=DT)
    # The loop's own clock restarted as well.
    controller.update(gesture("open", 0.0), now=0.0, dt=DT)
    outputs = hold_gesture(controller, "open", start=0.0, seconds=0.2)
    assert outputs[-1].following


def test_the_other_hand_is_not_followed() -> None:
    controller = HandController("right")
    hold_gesture(controller, "open", seconds=2.0)
    output = controller.update(gesture("fist", 2.01, "left"), now=2.01, dt=DT)
    assert rules(output) == {Rule.SWAPPED}
    for k in range(2, 12):
        output = controller.update(gesture("fist", 2.0 + k * DT, "left"), now=2.0 + k * DT, dt=DT)
    assert rules(output) == {Rule.SWAPPED, Rule.STALE}
    assert not output.following


def test_an_impossible_angle_is_ignored() -> None:
    controller = HandController("right")
    hold_gesture(controller, "open", seconds=2.0)
    angles = GESTURES["open"].copy()
    angles[6] = 4.0
    output = controller.update(HandJointState(angles, None, 2.01), now=2.01, dt=DT)
    assert rules(output) == {Rule.POSITION}


def test_tips_out_of_reach_of_a_hand_are_ignored() -> None:
    controller = HandController("right", HandTeleopConfig(retargeter="fingertips"))
    hold_gesture(controller, "open", seconds=2.0)
    far = HandJointState(np.zeros(20), np.full((5, 3), 1.0), 2.01)
    assert rules(controller.update(far, now=2.01, dt=DT)) == {Rule.INPUT_JUMP}


def test_missing_tips_are_a_hold_with_a_cause() -> None:
    controller = HandController("right", HandTeleopConfig(retargeter="fingertips"))
    assert controller.needs_tips
    output = controller.update(HandJointState(np.zeros(20), None, 1.0), now=1.0, dt=DT)
    assert rules(output) == {Rule.WRONG_SHAPE}
    assert not output.following


@pytest.mark.parametrize(
    ("now", "dt"),
    [(math.nan, DT), (math.inf, DT), (2.01, math.nan), (2.01, 0.0), (2.01, -1.0), (1.0, DT)],
)
def test_a_broken_clock_stops_the_hand_where_it_is(now: float, dt: float) -> None:
    controller = HandController("right")
    before = hold_gesture(controller, "open", seconds=2.0)[-1]
    output = controller.update(gesture("fist", 2.005), now=now, dt=dt)
    assert Rule.TIME_ORDER in rules(output)
    np.testing.assert_array_equal(output.positions, before.positions)


def test_a_stall_of_two_seconds_causes_no_jump() -> None:
    controller = HandController("right")
    before = hold_gesture(controller, "open", seconds=2.0)[-1]
    output = controller.update(gesture("fist", 4.0), now=4.0, dt=2.0)
    assert Rule.OVERRUN in rules(output)
    assert np.abs(output.positions - before.positions).max() <= 0.002


def test_causes_have_the_time_of_their_start() -> None:
    controller = HandController("right")
    for k in range(1, 20):
        output = controller.update(None, now=k * DT, dt=DT)
    assert {cause.since for cause in output.causes} == {DT}


def test_a_hand_starts_from_where_it_was_measured() -> None:
    controller = HandController("right")
    measured = AngleRetargeter("right").retarget(gesture("pinch"))
    measured[6] = -0.1  # Bent backwards, which no command does.
    controller.reset(measured)
    np.testing.assert_array_equal(controller.update(None, now=0.0, dt=DT).positions, measured)
    outputs = hold_gesture(controller, "open", seconds=2.5)
    assert np.abs(outputs[0].positions - measured).max() <= 0.002
    assert outputs[-1].positions[6] >= 0.0


def test_a_measurement_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidJointStateError, match="20 finite numbers"):
        HandController("right").reset(np.zeros(19))


@pytest.mark.parametrize(("name", "position"), [("open", -0.05), ("fist", 0.0)])
@pytest.mark.parametrize("with_tips", [True, False])
def test_a_gripper_opens_and_closes_with_the_hand(
    name: str, position: float, with_tips: bool
) -> None:
    config = HandTeleopConfig()
    if with_tips:
        name = {"fist": "pinch"}.get(name, name)
    controller = HandController("right", config, GRIPPER)
    for k in range(1, 300):
        sample = gesture(name, k * DT)
        if not with_tips:
            sample = dataclasses.replace(sample, finger_tip_positions=None)
        output = controller.update(sample, now=k * DT, dt=DT)
    assert output.positions == pytest.approx([position], abs=2e-3)


def test_a_gripper_engages_within_a_millimetre() -> None:
    controller = HandController("right", hand=GRIPPER)
    controller.reset(np.array([-0.02]))
    outputs = hold_gesture(controller, "fist", seconds=1.0)
    assert abs(outputs[0].positions[0] + 0.02) <= 0.001
    assert steps(outputs).max() <= 0.25 * DT * (1.0 + 1e-9)


def test_a_gripper_without_a_robot_is_refused() -> None:
    with pytest.raises(ConfigError, match="gripper"):
        HandController("right", HandTeleopConfig(mode="gripper"))


@pytest.mark.parametrize("retargeter", ["angles", "fingertips"])
def test_a_pair_does_what_each_hand_does_alone(retargeter: str) -> None:
    config = HandTeleopConfig(retargeter=retargeter)
    pair = HandPairController(config)
    alone = {side: HandController(side, config) for side in SIDES}
    people = {side: SimulatedHand(side, seed=5) for side in SIDES}
    for k in range(100):
        now = k * DT
        states = {side: people[side].state_at(now) for side in SIDES}
        outputs = pair.update(states, now=now, dt=DT)
        for side in SIDES:
            single = alone[side].update(states[side], now=now, dt=DT)
            # The solver may give one of two hands a step more than it needs.
            tolerance = 0.02 if pair._batch is not None else 0.0
            np.testing.assert_allclose(outputs[side].positions, single.positions, atol=tolerance)


def test_one_hand_of_a_pair_can_be_lost_or_disengaged() -> None:
    pair = HandPairController(HandTeleopConfig(retargeter="fingertips"))
    for k in range(1, 30):
        now = k * DT
        outputs = pair.update(
            {"left": gesture("fist", now, "left")}, now=now, dt=DT, engaged={"right": False}
        )
    assert outputs["left"].following
    assert {Rule.NOT_ENGAGED, Rule.LOST} == rules(outputs["right"])


@pytest.mark.parametrize("retargeter", ["angles", "fingertips"])
def test_the_same_samples_give_the_same_commands_to_the_last_bit(retargeter: str) -> None:
    def run() -> bytes:
        pair = HandPairController(HandTeleopConfig(retargeter=retargeter))
        people = {side: SimulatedHand(side, seed=6, frequency=1.25) for side in SIDES}
        commands = []
        for k in range(80):
            states = {side: people[side].state_at(k * DT) for side in SIDES}
            outputs = pair.update(states, now=k * DT, dt=DT)
            commands += [outputs[side].positions for side in SIDES]
        return np.array(commands).tobytes()

    assert run() == run()
