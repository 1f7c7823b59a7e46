# SPDX-License-Identifier: Apache-2.0
"""Promise: bad input is rejected with its cause, and the last safe command is held."""

from collections.abc import Callable

import numpy as np
import pytest

from teleop_system.exceptions import InvalidJointStateError
from teleop_system.interfaces import JointState, VelocityCommand
from teleop_system.interfaces.causes import Rule
from teleop_system.safety import PartCommand, SafetyManager
from tests.safety.rig import Rig, causes_of, robot_named, subjects_of

HEAD = ("head_0", "head_1")

BAD: dict[str, tuple[Callable[[float], PartCommand], Rule]] = {
    "a NaN": (lambda now: PartCommand([0.1, float("nan")], now), Rule.NON_FINITE),
    "an infinity": (lambda now: PartCommand([float("inf"), 0.1], now), Rule.NON_FINITE),
    "a stamp that is NaN": (lambda now: PartCommand([0.1, 0.1], float("nan")), Rule.NON_FINITE),
    "an integer beyond all numbers": (
        lambda now: PartCommand([10**400, 0], now),
        Rule.NON_FINITE,
    ),
    "a stamp beyond all numbers": (
        lambda now: PartCommand([0.1, 0.1], 10**400),
        Rule.NON_FINITE,
    ),
    "names that are no strings": (
        lambda now: PartCommand([0.1, 0.1], now, 5),  # type: ignore[arg-type]
        Rule.WRONG_SHAPE,
    ),
    "not numeric": (lambda now: PartCommand(["a", "b"], now), Rule.WRONG_SHAPE),
    "nothing": (lambda now: PartCommand([], now), Rule.WRONG_SHAPE),
    "one position too few": (lambda now: PartCommand([0.1], now), Rule.WRONG_SHAPE),
    "one position too many": (lambda now: PartCommand([0.1] * 3, now), Rule.WRONG_SHAPE),
    "a matrix": (lambda now: PartCommand([[0.1], [0.1]], now), Rule.WRONG_SHAPE),
    "an unknown name": (
        lambda now: PartCommand([0.1, 0.1], now, ("head_0", "head_2")),
        Rule.WRONG_SHAPE,
    ),
    "a name twice": (
        lambda now: PartCommand([0.1, 0.1], now, ("head_0", "head_0")),
        Rule.WRONG_SHAPE,
    ),
    "a name missing": (lambda now: PartCommand([0.1, 0.1], now, ("head_0",)), Rule.WRONG_SHAPE),
    "time backwards": (lambda now: PartCommand([0.1, 0.1], now - 5.0), Rule.TIME_ORDER),
    "the future": (lambda now: PartCommand([0.1, 0.1], now + 5.0), Rule.TIME_ORDER),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_command_is_rejected_with_its_cause_and_the_last_one_held(kind: str) -> None:
    make, rule = BAD[kind]
    rig = Rig()
    rig.run(1.5)
    for _ in range(20):
        output = rig.cycle(replace={"head": make(rig.now + rig.config.period)})
        causes = causes_of(output, rule)
        assert any(cause.subject.startswith("head") for cause in causes)
        # Targets keep 1e-7 rad from position limits, where the grippers stand.
        np.testing.assert_allclose(output.positions, rig.start, atol=2e-7)
    assert "head" in output.holding
    assert "right_arm" not in output.holding


@pytest.mark.parametrize("kind", BAD)
def test_good_commands_are_followed_again_after_bad_ones(kind: str) -> None:
    rig = Rig()
    rig.run(1.0)
    for _ in range(20):
        rig.cycle(replace={"head": BAD[kind][0](rig.now + rig.config.period)})
    rig.aim(head_0=0.2)
    output = rig.run(2.0)
    assert output.positions[rig.column("head_0")] == pytest.approx(0.2, abs=1e-4)


def test_a_single_bad_command_does_not_interrupt_a_motion() -> None:
    rig = Rig()
    rig.run(1.0)
    for index in range(60):
        rig.target[rig.column("head_0")] += 0.005
        bad = {"head": PartCommand([np.nan, np.nan], rig.now)} if index == 30 else None
        assert "head" not in rig.cycle(replace=bad).holding
    steps = np.diff(rig.positions[-25:, rig.column("head_0")])
    assert (steps > 0.003).all()


def test_names_decide_which_joint_a_position_is_for() -> None:
    rig = Rig()
    rig.run(1.0)
    for _ in range(200):
        command = PartCommand([0.3, -0.2], rig.now + rig.config.period, ("head_1", "head_0"))
        output = rig.cycle(replace={"head": command})
    assert output.of("head") == pytest.approx([-0.2, 0.3], abs=1e-4)


def test_a_joint_state_can_be_a_command() -> None:
    state = JointState(np.array([0.1, 0.2]), names=list(HEAD), timestamp=3.0)
    command = PartCommand.of(state)
    assert (command.timestamp, command.names) == (3.0, list(HEAD))
    assert PartCommand.of(JointState(np.zeros(2))).names is None


def test_a_part_that_the_robot_lacks_is_rejected_by_name() -> None:
    rig = Rig()
    output = rig.cycle(replace={"tail": PartCommand([0.0], rig.now)})
    assert "tail" in subjects_of(output, Rule.WRONG_SHAPE)


def test_an_absurdly_large_position_is_a_position_limit() -> None:
    rig = Rig()
    rig.run(1.0)
    output = rig.cycle(replace={"head": PartCommand([1e300, -1e300], rig.now + 0.01)})
    assert set(HEAD) <= set(subjects_of(output, Rule.POSITION))


def test_a_sideways_command_is_reported_and_not_followed() -> None:
    rig = Rig()
    for _ in range(10):
        rig.now += 0.01
        output = rig.manager.update(
            {}, VelocityCommand(0.0, 0.4, 0.0, rig.now), now=rig.now, engaged={"base"}
        )
    (cause,) = causes_of(output, Rule.UNSUPPORTED)
    assert (cause.value, output.base.linear_y) == (0.4, 0.0)


def test_an_unknown_start_is_an_error_of_the_caller() -> None:
    manager = SafetyManager(robot_named("rby1"))
    with pytest.raises(InvalidJointStateError, match="reset"):
        manager.update({}, now=0.0, engaged=())
    with pytest.raises(InvalidJointStateError, match="torso_0"):
        manager.reset({})
    pose = dict(robot_named("rby1").pose("ready")) | {"torso_0": float("nan")}
    with pytest.raises(InvalidJointStateError, match="finite"):
        manager.reset(pose)
