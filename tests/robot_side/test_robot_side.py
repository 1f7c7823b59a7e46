# SPDX-License-Identifier: Apache-2.0
"""Engagement, preparation, safety and drive together, on a robot of plain slaves."""

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.robot_side.engagement_table import EngagementState
from tests.robot_side.robot_sides import RobotSideRig

_S = EngagementState
JOINT = "right_arm_3"


def rules_of(rig: RobotSideRig) -> set[Rule]:
    return {cause.rule for cause in rig.robot_side.causes}


def test_the_operator_moves_the_robot_only_once_engaged() -> None:
    rig = RobotSideRig()
    rig.offsets = {JOINT: 0.2}
    rig.run_until(_S.READY)
    before = rig.position_of(JOINT)
    rig.run(0.5)
    assert rig.position_of(JOINT) == before
    rig.engage()
    rig.run(2.0)
    assert abs(rig.position_of(JOINT) - before - 0.2) < 1e-3


def test_an_emergency_stop_latches_within_a_cycle_and_holds_under_power() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.offsets = {JOINT: 0.5}
    rig.run(0.6)
    output = rig.cycle(estop=True)
    assert output is not None and rig.state is _S.ESTOPPED
    assert Rule.ESTOP in rules_of(rig)
    rig.run(1.0, engage=True)
    stopped = rig.ideal.positions.copy()
    rig.run(0.5)
    assert rig.state is _S.ESTOPPED
    np.testing.assert_array_equal(rig.ideal.positions, stopped)
    assert np.abs(stopped).max() > 0.1, "holds its pose; it was not sent to zeros"


def test_after_an_emergency_stop_reset_and_engage_are_both_needed() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.cycle(estop=True)
    rig.offsets = {JOINT: 0.2}
    rig.cycle(reset_estop=True)
    rig.run_until(_S.READY)
    before = rig.position_of(JOINT)
    rig.run(0.5)
    assert rig.position_of(JOINT) == before
    rig.engage()
    rig.run(2.0)
    assert abs(rig.position_of(JOINT) - before) > 0.1


def test_an_open_clutch_holds_the_robot_without_giving_up_control() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.run(0.5)
    rig.cycle(clutch=False)
    before = rig.position_of(JOINT)
    rig.offsets = {JOINT: 0.2}
    rig.run(0.5, clutch=False)
    assert rig.state is _S.ENGAGED and not rig.robot_side.is_following
    assert abs(rig.position_of(JOINT) - before) < 1e-6


def test_silent_commands_hold_every_part_and_lost_inputs_give_up_control() -> None:
    rig = RobotSideRig()
    rig.velocity = 0.3
    rig.engage()
    rig.run(1.5)
    assert rig.outputs[-1].base.linear_x > 0.1
    rig.silent, rig.fresh = True, False
    rig.run(0.5)
    output = rig.outputs[-1]
    assert output.base.linear_x == 0.0
    assert output.holding == {*rig.parts, "base"}
    rig.run(2.0)
    assert rig.state is _S.READY and "inputs were lost" in rig.robot_side.status.reason


def test_a_robot_that_does_not_follow_is_a_fault() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.ideal.jammed = True
    rig.offsets = {JOINT: 0.9}
    rig.run_until(_S.ERROR_RECOVERY, longest=4.0)
    assert JOINT in rig.robot_side.status.reason


def test_a_robot_that_was_put_elsewhere_starts_from_there_without_a_jump() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.offsets = {JOINT: 0.4}
    rig.run(2.0)
    rig.ideal.positions[rig.parts.joints.index(JOINT)] -= 0.4
    rig.outputs.clear()
    before = rig.ideal.positions.copy()
    rig.robot_side.restart()
    rig.run_until(_S.READY)
    sent = np.array([before, *(output.positions for output in rig.outputs)])
    assert np.abs(np.diff(sent, axis=0)).max() < 0.002


def test_a_restart_does_not_release_the_emergency_stop() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.cycle(estop=True)
    rig.robot_side.restart()
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED
    rig.cycle(reset_estop=True)
    rig.run(0.5)
    assert rig.state is _S.SYNCING, "not even homing moves it before a person requests it"
    rig.cycle(engage=True)
    rig.run_until(_S.READY)


def test_a_core_can_begin_stopped() -> None:
    rig = RobotSideRig()
    rig.robot_side.latch_estop()
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED


def test_it_connects_again_to_a_robot_that_went_away() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.ideal.answers = False
    rig.run(0.1)
    assert rig.state is _S.ERROR_RECOVERY
    rig.ideal.answers = True
    rig.run_until(_S.READY)


def test_bad_commands_become_causes_even_before_anybody_engages() -> None:
    rig = RobotSideRig()
    rig.run_until(_S.READY)
    rig.offsets = {JOINT: float("nan")}
    rig.run(0.05)
    assert Rule.NON_FINITE in rules_of(rig)


def test_why_nobody_can_take_control_is_told_in_words() -> None:
    rig = RobotSideRig()
    rig.run(0.02)
    assert "waiting_for_state" in rig.robot_side.refusal(inputs_fresh=True) or "syncing" in (
        rig.robot_side.refusal(inputs_fresh=True)
    )
    rig.run_until(_S.READY)
    assert rig.robot_side.refusal(inputs_fresh=False) == "no fresh inputs"
    assert rig.robot_side.refusal(inputs_fresh=True) == ""
    rig.cycle(estop=True)
    assert "emergency stop" in rig.robot_side.refusal(inputs_fresh=True)


@pytest.mark.parametrize("cycles", [0, 1, 100])
def test_a_stop_that_was_there_before_survives_further_restarts(cycles: int) -> None:
    rig = RobotSideRig()
    rig.robot_side.latch_estop()
    for _ in range(cycles):
        rig.cycle()
    assert rig.robot_side.is_estopped
    rig.robot_side.restart()
    assert rig.robot_side.is_estopped
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED


def test_a_stop_while_the_robot_s_place_is_unknown_survives_a_restart() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.robot_side.restart()
    rig.cycle(estop=True)
    rig.robot_side.restart()
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED


def test_a_lost_slave_stops_the_base_and_every_other_part() -> None:
    rig = RobotSideRig()
    rig.engage()
    rig.velocity = 0.4
    rig.run(2.0)
    assert rig.ideal.velocity[0] > 0.3
    rig.ideal.lost.add("left_arm")
    rig.offsets["right_arm_3"] = 0.3
    before = rig.position_of("right_arm_3")
    rig.run(0.5)
    assert rig.ideal.velocity == (0.0, 0.0, 0.0)
    rig.run(0.5)
    assert rig.state is not EngagementState.ENGAGED
    assert abs(rig.position_of("right_arm_3") - before) < 0.1
