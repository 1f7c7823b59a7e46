# SPDX-License-Identifier: Apache-2.0
"""One sender commands a part; the others are ignored and named."""

import math

import pytest

from teleop_system.exceptions import UnknownNameError
from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Rule
from teleop_system.robot_side.intake import CommandIntake
from teleop_system.safety import Part, PartCommand, SafetyConfig

NODES = {b"a": "arm_teleop_node", b"b": "rival_node", b"c": "third_node"}


def make_intake() -> CommandIntake:
    parts = {name: Part(name, (f"{name}_0",), slice(0, 1)) for name in ("right_arm", "torso")}
    return CommandIntake(parts, SafetyConfig(), lambda sender: NODES[bytes(sender)])  # type: ignore[arg-type,call-overload]


def command(stamp: float, value: float = 0.0) -> PartCommand:
    return PartCommand([value], stamp)


def test_the_first_sender_keeps_a_part_while_a_rival_sends_twice_as_often() -> None:
    intake = make_intake()
    for tick in range(400):
        now = tick * 0.005
        if tick % 2 == 0:
            assert intake.offer("right_arm", b"a", command(now, 1.0), now)
        assert not intake.offer("right_arm", b"b", command(now, -1.0), now)
        assert intake.commands["right_arm"].positions == [1.0]


def test_the_cause_of_a_rival_names_both_nodes_and_ends_with_it() -> None:
    intake = make_intake()
    intake.offer("right_arm", b"a", command(0.0), 0.0)
    intake.offer("right_arm", b"b", command(0.1), 0.1)
    (cause,) = intake.causes(0.2)
    assert cause.rule is Rule.RIVAL and cause.since == 0.1
    assert "rival_node ignored, arm_teleop_node commands" in str(cause)
    assert intake.causes(1.2) == ()


def test_another_sender_takes_over_once_the_first_is_dead() -> None:
    intake = make_intake()
    intake.offer("right_arm", b"a", command(0.0), 0.0)
    assert not intake.offer("right_arm", b"b", command(0.3), 0.3)
    assert intake.offer("right_arm", b"b", command(0.31), 0.31)
    assert intake.owner("right_arm") == "rival_node"
    assert intake.causes(0.32) == ()
    assert not intake.offer("right_arm", b"a", command(0.33), 0.33)


def test_parts_have_owners_of_their_own() -> None:
    intake = make_intake()
    assert intake.offer("right_arm", b"a", command(0.0), 0.0)
    assert intake.offer("torso", b"b", command(0.0), 0.0)
    assert intake.offer_base(b"c", VelocityCommand(0.1, 0.0, 0.0, 0.0), 0.0)
    assert intake.owner("base") == "third_node"


def test_a_part_that_was_let_go_is_free_at_once() -> None:
    intake = make_intake()
    intake.offer("torso", b"a", command(0.0), 0.0)
    intake.release("torso", b"b")
    assert not intake.offer("torso", b"b", command(0.01), 0.01)
    intake.release("torso", b"a")
    assert intake.offer("torso", b"b", command(0.02), 0.02)


def test_freshness_goes_by_the_stamps_of_commands() -> None:
    intake = make_intake()
    assert not intake.is_fresh(0.0, 0.1)
    intake.offer("torso", b"a", command(0.0), 5.0)
    assert not intake.is_fresh(5.0, 0.1)
    intake.offer("torso", b"a", command(4.95), 5.01)
    assert intake.is_fresh(5.01, 0.1)


def test_a_refusal_stays_visible_for_a_while_and_keeps_its_beginning() -> None:
    intake = make_intake()
    intake.refuse(Rule.WRONG_SHAPE, "joint_positions", 3.0, 24.0, 1.0)
    intake.refuse(Rule.WRONG_SHAPE, "joint_positions", 4.0, 24.0, 1.5)
    (cause,) = intake.causes(2.4)
    assert (cause.value, cause.since) == (4.0, 1.0)
    assert intake.causes(2.6) == ()
    intake.refuse(Rule.WRONG_SHAPE, "joint_positions", 3.0, 24.0, 9.0)
    assert intake.causes(9.0)[0].since == 9.0


def test_an_unknown_part_is_told_with_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match="right_arm"):
        make_intake().offer("tail", b"a", command(0.0), 0.0)


def test_a_cleared_intake_knows_nobody() -> None:
    intake = make_intake()
    intake.offer("torso", b"a", command(0.0), 0.0)
    intake.clear()
    assert not intake.commands
    assert intake.offer("torso", b"b", command(0.0), 0.0)


GARBAGE = (
    (PartCommand([math.nan], 5.0), "non_finite: right_arm_0"),
    (PartCommand([], 5.0), "wrong_shape: right_arm"),
    (PartCommand([0.0], 5.0, ("elbow",)), "wrong_shape: right_arm names"),
    (PartCommand([0.0], math.nan), "non_finite: right_arm time stamp"),
    (PartCommand([0.0], 1e6), "time_order: right_arm"),
    (PartCommand([0.0], 0.0), "stale: right_arm"),
)


@pytest.mark.parametrize(("bad", "cause"), GARBAGE)
def test_what_cannot_be_followed_is_a_cause_and_no_sign_of_life(
    bad: PartCommand, cause: str
) -> None:
    intake = make_intake()
    assert not intake.offer("right_arm", b"a", bad, 5.0)
    assert str(intake.causes(5.0)[0]).startswith(cause)
    assert intake.age(5.0) == math.inf
    assert "right_arm" not in intake.commands
    assert intake.offer("right_arm", b"b", command(5.0), 5.0), "the part is still free"


@pytest.mark.parametrize("bad", [bad for bad, _ in GARBAGE])
def test_an_owner_who_sends_only_garbage_is_dead(bad: PartCommand) -> None:
    intake = make_intake()
    assert intake.offer("right_arm", b"a", command(4.7, 1.0), 4.7)
    assert not intake.offer("right_arm", b"a", bad, 5.0)
    assert intake.commands["right_arm"].positions == [1.0]
    assert intake.age(5.0) == pytest.approx(0.3)
    assert intake.offer("right_arm", b"b", command(5.01), 5.01)


def test_a_stamp_that_runs_backwards_is_refused_until_it_has_caught_up() -> None:
    intake = make_intake()
    assert intake.offer("torso", b"a", command(5.0), 5.0)
    assert not intake.offer("torso", b"a", command(4.99), 5.01)
    assert intake.age(5.01) == pytest.approx(0.01)
    assert intake.offer("torso", b"a", command(5.0), 5.01), "it may be refined"
    assert intake.offer("torso", b"a", command(5.01), 5.02)


@pytest.mark.parametrize(("stamp", "rule"), [(1e6, Rule.TIME_ORDER), (0.0, Rule.STALE)])
def test_a_velocity_of_another_time_is_no_sign_of_life_either(stamp: float, rule: Rule) -> None:
    intake = make_intake()
    assert not intake.offer_base(b"a", VelocityCommand(0.1, 0.0, 0.0, stamp), 5.0)
    assert intake.causes(5.0)[0].rule is rule
    assert intake.base is None and intake.age(5.0) == math.inf
    assert intake.offer_base(b"b", VelocityCommand(0.1, 0.0, 0.0, 5.0), 5.0)
