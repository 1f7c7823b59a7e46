# SPDX-License-Identifier: Apache-2.0
"""What keeps a limb from following, and how it follows again."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from teleop_system.interfaces import Pose6D, TrackerRole
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.modules.arm_teleop import ArmTeleopConfig, LimbState
from tests.modules.arm_teleop.rig import (
    ALL,
    DT,
    LEFT,
    POSITIONS,
    RIGHT,
    UNIT,
    WAIST,
    Rig,
    fresh_solver,
    pose,
    rules,
    step_between,
)

SETTLE = 150

Trackers = dict[TrackerRole, Pose6D | None]


def following(**offsets: object) -> Rig:
    """Return a rig whose limbs all follow, past their ramps."""
    rig = Rig()
    rig.rest()
    rig.rest(SETTLE, **offsets)
    return rig


BAD: dict[str, Callable[[float], Pose6D | None]] = {
    "no pose": lambda now: None,
    "a lost body": lambda now: Pose6D.lost(now),
    "a quaternion of no length": lambda now: Pose6D(np.zeros(3), np.zeros(4), now),
    "a quaternion too long": lambda now: Pose6D(np.zeros(3), np.array([0, 0, 0, 1.1]), now),
    "a stamp that stands still": lambda now: pose(LEFT, 1.0),
    "a stamp that runs backwards": lambda now: pose(LEFT, 3.0 - now, (0.0, 0.01 * now, 0.0)),
    "a stamp in the future": lambda now: pose(LEFT, now + 1.0),
    "a number beyond all bounds": lambda now: Pose6D(
        np.full(3, 1e300), np.array([0, 0, 0, 1]), now
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_one_limb_holds_and_the_others_continue(kind: str) -> None:
    rig = following()
    held = rig.rest().targets["left_arm"].position
    for k in range(1, 100):
        moved = rig.poses(right=(0.001 * k, 0.0, 0.0), waist=(0.0, 0.0, -0.0002 * k))
        poses: Trackers = dict(moved)
        poses[LEFT] = BAD[kind](rig.now)
        output = rig.tick(poses)
    assert output.states["left_arm"] is LimbState.HOLDING
    assert set(output.following) == {"right_arm", "torso"}
    np.testing.assert_allclose(output.targets["left_arm"].position, held, atol=1e-6)
    assert output.targets["right_arm"].position[0] == pytest.approx(0.3648 + 0.099, abs=0.003)
    about = {cause.subject for cause in output.causes if cause.severity >= Severity.HOLD}
    assert about == {"left_hand"}


def test_a_silent_tracker_is_held_within_the_promised_time() -> None:
    rig = Rig(real=True)
    rig.rest()
    rig.glide(100, right=(0.2, 0.0, 0.0))
    silent = pose(RIGHT, rig.now - DT, (0.2, 0.0, 0.0))
    steps, output = [], rig.tick(rig.poses() | {RIGHT: silent})
    for _ in range(60):
        last, output = output, rig.tick(rig.poses() | {RIGHT: silent})
        steps.append(step_between(last, output, "right_arm"))
        if rig.now - DT > silent.timestamp + 0.1:
            assert output.states["right_arm"] is LimbState.HOLDING
            assert Rule.STALE in rules(output, "right_hand")
    # It slows down from the first tick on; in the end the target is set to the pose of the tool.
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(steps[:10]))
    assert sum(steps[10:]) < 0.01
    assert steps[-1] == 0.0


def test_a_limb_far_behind_its_target_does_not_continue_to_it_once_lost() -> None:
    rig = Rig()  # Its solver moves nothing, so every limb lags behind.
    rig.rest()
    rig.glide(100, right=(0.2, 0.0, 0.0))
    output = rig.rest(engaged=("left_arm",), right=(0.2, 0.0, 0.0))
    tool = rig.controller.tool_poses(rig.joints)["right_arm"].position
    np.testing.assert_allclose(output.targets["right_arm"].position, tool, atol=1e-12)


def test_a_few_lost_samples_do_not_open_the_clutch() -> None:
    rig = following()
    for _ in range(5):
        output = rig.tick(rig.poses() | {LEFT: Pose6D.lost(rig.now)})
        assert Rule.LOST in rules(output, "left_hand")
    assert output.states["left_arm"] is LimbState.FOLLOWING


def test_a_tracker_found_where_it_was_lost_resumes_the_same_mapping() -> None:
    rig = following()
    held = rig.rest().targets["right_arm"].position
    for _ in range(50):
        rig.tick(rig.poses() | {RIGHT: Pose6D.lost(rig.now)})
    first = rig.rest(right=(0.1, 0.05, 0.0))
    assert first.states["right_arm"] is LimbState.RAMPING
    last, start = first, rig.now
    while last.states["right_arm"] is LimbState.RAMPING:
        assert Rule.ENGAGE_JUMP in rules(last, "right_arm") or last is first
        output = rig.rest(right=(0.1, 0.05, 0.0))
        assert step_between(last, output, "right_arm") < 0.4 * DT * 1.05
        last = output
    assert rig.now - start >= 0.8 - 1e-9
    moved = last.targets["right_arm"].position - held
    np.testing.assert_allclose(moved, [0.1, 0.05, 0.0], atol=1e-4)


def test_a_jump_of_a_metre_does_not_move_the_tool() -> None:
    rig = following()
    before = rig.rest().targets["right_arm"].position
    output = rig.rest(right=(0.0, 0.0, 1.0))
    assert output.states["right_arm"] is LimbState.HOLDING
    assert Rule.INPUT_JUMP in rules(output, "right_hand")
    output = rig.rest(SETTLE, right=(0.0, 0.0, 1.0))
    assert output.states["right_arm"] is LimbState.FOLLOWING
    np.testing.assert_allclose(output.targets["right_arm"].position, before, atol=1e-9)


def test_a_repeated_jump_is_not_followed() -> None:
    rig = following()
    there = pose(RIGHT, rig.now, (0.0, 0.0, 1.0))
    for _ in range(5):
        output = rig.tick(rig.poses() | {RIGHT: there})
        assert output.states["right_arm"] is LimbState.HOLDING


@pytest.mark.parametrize("together", [True, False])
def test_swapped_hands_hold_until_they_are_worn_properly_again(together: bool) -> None:
    rig = following()
    before = {n: rig.rest().targets[n].position for n in ("right_arm", "left_arm")}

    for k in range(100):
        poses = rig.poses()
        right, left = poses[RIGHT], poses[LEFT]
        poses[RIGHT] = left
        if together or k > 0:
            poses[LEFT] = right
        output = rig.tick(poses)
        assert Rule.SWAPPED in rules(output, "hands")
        assert set(output.following) == {"torso"}
    output = rig.rest(SETTLE)
    assert set(output.following) == set(ALL)
    for name, position in before.items():
        np.testing.assert_allclose(output.targets[name].position, position, atol=1e-4)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_hand_is_swapped_for_another_where_that_is_now_and_not_where_it_was(
    is_there: bool,
) -> None:
    rig = following()
    rig.glide(60, left=(0.0, 0.0, 0.4))
    rig.rest(10, left=(0.0, 0.0, 0.4))
    poses = rig.poses(left=(0.0, 0.0, 0.4))
    other = poses.pop(LEFT).position if is_there else np.array(POSITIONS[LEFT])
    poses[RIGHT] = Pose6D(other, np.array(UNIT), rig.now)
    output = rig.tick(poses, ("right_arm", "torso"))
    assert (Rule.SWAPPED in rules(output)) is is_there


def test_swapped_hands_can_be_engaged_again() -> None:
    rig = following()
    swap = {RIGHT: (0.0, 0.6, 0.0), LEFT: (0.0, -0.6, 0.0)}
    rig.rest(3, right=swap[RIGHT], left=swap[LEFT])
    rig.rest(50, engaged=(), right=swap[RIGHT], left=swap[LEFT])
    output = rig.rest(SETTLE, right=swap[RIGHT], left=swap[LEFT])
    assert set(output.following) == set(ALL)


def test_quick_hands_are_not_swapped_hands() -> None:
    rig = following()
    for k in range(1, 30):  # At 1.5 m/s towards and past each other.
        output = rig.rest(right=(0.0, 0.015 * k, 0.05), left=(0.0, -0.015 * k, -0.05))
        assert rules(output) == set()


@pytest.mark.parametrize(
    ("now", "dt", "rule"),
    [
        (math.nan, DT, Rule.NON_FINITE),
        (math.inf, DT, Rule.NON_FINITE),
        (4.0, math.nan, Rule.NON_FINITE),
        (-5.0, DT, Rule.TIME_ORDER),
        (4.0, 0.0, Rule.TIME_ORDER),
        (4.0, -DT, Rule.TIME_ORDER),
        (6.0, 2.0, Rule.OVERRUN),
    ],
)
def test_a_broken_clock_holds_everything_with_its_cause(now: float, dt: float, rule: Rule) -> None:
    rig = following()
    poses = rig.poses()
    output = rig.controller.update(poses, rig.joints, now=now, dt=dt, engaged=ALL)
    assert rule in rules(output)
    assert set(output.states.values()) == {LimbState.HOLDING}
    assert np.isfinite(output.positions).all()


def test_after_a_stall_the_limbs_follow_again_with_a_ramp() -> None:
    rig = following()
    rig.now += 2.0
    stalled = rig.tick(rig.poses(right=(0.1, 0.0, 0.0)), dt=2.0)
    assert Rule.OVERRUN in rules(stalled)
    output = rig.rest(right=(0.1, 0.0, 0.0))
    assert output.states["right_arm"] is LimbState.RAMPING
    tool = rig.controller.tool_poses(rig.joints)["right_arm"].position
    np.testing.assert_allclose(output.targets["right_arm"].position, tool, atol=1e-3)


@pytest.mark.parametrize(
    ("joints", "rule"),
    [
        (np.zeros(19), Rule.WRONG_SHAPE),
        ("nonsense", Rule.WRONG_SHAPE),
        (np.full(20, np.nan), Rule.NON_FINITE),
    ],
)
def test_invalid_joints_hold_everything(joints: object, rule: Rule) -> None:
    rig = following()
    last = rig.joints
    output = rig.controller.update(
        rig.poses(),
        joints,  # type: ignore[arg-type]
        now=rig.now,
        dt=DT,
        engaged=ALL,
    )
    assert rule in rules(output)
    assert not output.following
    np.testing.assert_array_equal(output.positions, last)


@pytest.mark.parametrize("value", [1e3, -1e100, 1e200, 12.0])
def test_one_tick_of_invalid_joints_has_no_lasting_effect(value: float) -> None:
    rig = Rig(real=fresh_solver())
    rig.rest(120)
    before = rig.joints
    rig.joints = before.copy()
    rig.joints[3] = value
    output = rig.rest()
    assert (Rule.POSITION, Severity.HOLD) in {(c.rule, c.severity) for c in output.causes}
    assert set(output.states.values()) == {LimbState.HOLDING}
    output = rig.rest(200)
    assert set(output.states.values()) == {LimbState.FOLLOWING}
    for chain, tool in rig.controller.tool_poses(output.positions).items():
        start = rig.controller.tool_poses(before)[chain]
        np.testing.assert_allclose(tool.position, start.position, atol=2e-3)


def test_invalid_joints_at_the_start_still_give_a_command() -> None:
    rig = Rig()
    output = rig.controller.update(rig.poses(), np.full(20, np.nan), now=0.0, dt=DT, engaged=ALL)
    assert np.isfinite(output.positions).all()
    assert not output.active


def test_a_limb_engaged_starts_from_where_something_else_moved_it() -> None:
    rig = Rig(real=True)
    rig.rest(30)
    rig.rest(200, engaged=("right_arm", "torso"))
    elsewhere = rig.joints.copy()
    columns = rig.controller.update(
        rig.poses(), rig.joints, now=rig.now, dt=DT, engaged=("right_arm", "torso")
    ).columns["left_arm"]
    rig.now += DT
    elsewhere[columns] += 0.3
    output = rig.controller.update(rig.poses(), elsewhere, now=rig.now, dt=DT, engaged=ALL)
    np.testing.assert_allclose(output.of("left_arm"), elsewhere[columns], atol=2e-3)
    tools = rig.controller.tool_poses(elsewhere)
    np.testing.assert_allclose(
        output.targets["left_arm"].position, tools["left_arm"].position, atol=1e-9
    )


def test_a_moving_limb_is_not_engaged_before_it_rests() -> None:
    rig = Rig(real=True)
    rig.rest()
    rig.glide(100, right=(0.2, 0.0, 0.0))
    output = rig.rest(engaged=("left_arm",), right=(0.202, 0.0, 0.0))
    waited = 0
    while output.states["right_arm"] is not LimbState.RAMPING:
        output = rig.rest(right=(0.204, 0.0, 0.0))
        if output.states["right_arm"] is LimbState.HOLDING:
            waited += 1
            assert Rule.ENGAGE_JUMP in rules(output, "right_arm")
    assert 5 <= waited <= 30


def test_the_command_rests_after_everything_is_disengaged() -> None:
    rig = Rig(real=True)
    rig.rest()
    rig.glide(60, right=(0.2, 0.0, 0.0))
    output = rig.rest(200, engaged=(), right=(0.2, 0.0, 0.0))
    assert not output.targets
    np.testing.assert_array_equal(rig.rest(engaged=()).positions, output.positions)


def test_the_waist_alone_can_be_lost() -> None:
    rig = following()
    for _ in range(20):
        output = rig.tick(rig.poses() | {WAIST: None})
    assert set(output.following) == {"right_arm", "left_arm"}
    assert output.states["torso"] is LimbState.HOLDING


def test_an_explicit_ramp_is_respected() -> None:
    rig = Rig(ArmTeleopConfig(ramp_time=2.0))
    rig.rest()
    output = rig.rest(195)
    assert output.states["right_arm"] is LimbState.RAMPING
    assert rig.rest(6).states["right_arm"] is LimbState.FOLLOWING
