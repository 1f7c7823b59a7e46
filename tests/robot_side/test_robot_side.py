# SPDX-License-Identifier: Apache-2.0
"""The robot's half of the wiring: engagement, preparation, safety, and what reaches the robot."""

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule
from teleop_system.robot_side.engagement_table import EngagementState
from tests.robot_side.robot_sides import CoreRig

_S = EngagementState
JOINT = "right_arm_3"


def rules_of(rig: CoreRig) -> set[Rule]:
    return {cause.rule for cause in rig.core.causes}


def test_the_operator_moves_the_robot_only_once_engaged() -> None:
    rig = CoreRig()
    rig.offsets = {JOINT: 0.2}
    rig.run_until(_S.READY)
    before = rig.place_of(JOINT)
    rig.run(0.5)
    assert rig.place_of(JOINT) == before
    rig.engage()
    rig.run(2.0)
    assert abs(rig.place_of(JOINT) - before - 0.2) < 1e-3


def test_an_emergency_stop_latches_within_a_cycle_and_holds_under_power() -> None:
    rig = CoreRig()
    rig.engage()
    rig.offsets = {JOINT: 0.5}
    rig.run(0.6)
    output = rig.cycle(estop=True)
    assert output is not None and rig.state is _S.ESTOPPED
    assert Rule.ESTOP in rules_of(rig)
    rig.run(1.0, engage=True)
    stopped = rig.side.place.copy()
    rig.run(0.5)
    assert rig.state is _S.ESTOPPED
    np.testing.assert_array_equal(rig.side.place, stopped)
    assert np.abs(stopped).max() > 0.1, "holds its pose; it was not sent to zeros"


def test_after_an_emergency_stop_reset_and_engage_are_both_needed() -> None:
    rig = CoreRig()
    rig.engage()
    rig.cycle(estop=True)
    rig.offsets = {JOINT: 0.2}
    rig.cycle(reset_estop=True)
    rig.run_until(_S.READY)
    before = rig.place_of(JOINT)
    rig.run(0.5)
    assert rig.place_of(JOINT) == before
    rig.engage()
    rig.run(2.0)
    assert abs(rig.place_of(JOINT) - before) > 0.1


def test_an_open_clutch_holds_the_robot_without_giving_up_control() -> None:
    rig = CoreRig()
    rig.engage()
    rig.run(0.5)
    rig.cycle(clutch=False)
    before = rig.place_of(JOINT)
    rig.offsets = {JOINT: 0.2}
    rig.run(0.5, clutch=False)
    assert rig.state is _S.ENGAGED and not rig.core.is_following
    assert abs(rig.place_of(JOINT) - before) < 1e-6


def test_silent_commands_hold_every_part_and_lost_inputs_give_up_control() -> None:
    rig = CoreRig()
    rig.velocity = 0.3
    rig.engage()
    rig.run(1.5)
    assert rig.side.sent[-1].base.linear_x > 0.1
    rig.silent, rig.fresh = True, False
    rig.run(0.5)
    output = rig.side.sent[-1]
    assert output.base.linear_x == 0.0
    assert output.holding == {*rig.parts, "base"}
    rig.run(2.0)
    assert rig.state is _S.READY and "inputs were lost" in rig.core.status.reason


def test_a_robot_that_does_not_follow_is_a_fault() -> None:
    rig = CoreRig()
    rig.engage()
    rig.side.jammed = True
    rig.offsets = {JOINT: 0.9}
    rig.run_until(_S.ERROR_RECOVERY, longest=4.0)
    assert JOINT in rig.core.status.reason


def test_a_robot_that_was_put_elsewhere_starts_from_there_without_a_jump() -> None:
    rig = CoreRig()
    rig.engage()
    rig.offsets = {JOINT: 0.4}
    rig.run(2.0)
    rig.side.place[rig.parts.joints.index(JOINT)] -= 0.4
    rig.side.sent.clear()
    before = rig.side.place.copy()
    rig.core.restart()
    rig.run_until(_S.READY)
    sent = np.array([before, *(output.positions for output in rig.side.sent)])
    assert np.abs(np.diff(sent, axis=0)).max() < 0.002


def test_a_restart_does_not_release_the_emergency_stop() -> None:
    rig = CoreRig()
    rig.engage()
    rig.cycle(estop=True)
    rig.core.restart()
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED
    rig.cycle(reset_estop=True)
    rig.run(0.5)
    assert rig.state is _S.SYNCING, "not even homing moves it before a person asks"
    rig.cycle(engage=True)
    rig.run_until(_S.READY)


def test_a_core_can_begin_stopped() -> None:
    rig = CoreRig()
    rig.core.latch_estop()
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED


def test_it_connects_again_to_a_robot_that_went_away() -> None:
    rig = CoreRig()
    rig.engage()
    rig.side.answers = False
    rig.run(0.1)
    assert rig.state is _S.ERROR_RECOVERY
    rig.side.answers = True
    rig.run_until(_S.READY)


def test_bad_commands_become_causes_even_before_anybody_engages() -> None:
    rig = CoreRig()
    rig.run_until(_S.READY)
    rig.offsets = {JOINT: float("nan")}
    rig.run(0.05)
    assert Rule.NON_FINITE in rules_of(rig)


def test_why_nobody_can_take_control_is_told_in_words() -> None:
    rig = CoreRig()
    rig.run(0.02)
    assert "waiting_for_state" in rig.core.refusal(inputs_fresh=True) or "syncing" in (
        rig.core.refusal(inputs_fresh=True)
    )
    rig.run_until(_S.READY)
    assert rig.core.refusal(inputs_fresh=False) == "no fresh inputs"
    assert rig.core.refusal(inputs_fresh=True) == ""
    rig.cycle(estop=True)
    assert "emergency stop" in rig.core.refusal(inputs_fresh=True)


@pytest.mark.parametrize("cycles", [0, 1, 100])
def test_a_stop_that_was_there_before_survives_further_restarts(cycles: int) -> None:
    rig = CoreRig()
    rig.core.latch_estop()
    for _ in range(cycles):
        rig.cycle()
    assert rig.core.is_estopped
    rig.core.restart()
    assert rig.core.is_estopped
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED


def test_a_stop_while_the_robot_s_place_is_unknown_survives_a_restart() -> None:
    rig = CoreRig()
    rig.engage()
    rig.core.restart()
    rig.cycle(estop=True)
    rig.core.restart()
    rig.run(1.0)
    assert rig.state is _S.ESTOPPED
