# SPDX-License-Identifier: Apache-2.0
"""Promise: velocity, acceleration and jerk limits, with no violation whatever is commanded."""

import dataclasses

import numpy as np
import pytest

from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.robots.description import RobotDescription
from teleop_system.safety import SafetyManager
from tests.safety.fuzz import run_shard
from tests.safety.oracle import JointOracle
from tests.safety.rig import Rig, causes_of, robot_named, subjects_of


def free_robot() -> RobotDescription:
    """Return a robot whose links may touch, so that joints alone are tested."""
    return dataclasses.replace(robot_named("rby1"), collision_pairs=())


def judge(rig: Rig) -> list[object]:
    oracle = JointOracle(rig.robot, rig.names, rig.config.period, rig.config.stall_after)
    oracle.start(rig.start)
    for now, output in zip(rig.nows, rig.outputs, strict=True):
        oracle.add(now, output.positions)
    return list(oracle.violations())


@pytest.mark.parametrize("seed", range(4))
def test_fuzzed_commands_violate_nothing(seed: int) -> None:
    outcome = run_shard("rby1", seed, 4500)
    assert outcome.violations == []
    # A robot that stands still would pass as well.
    assert outcome.moved > 100.0
    assert {"non_finite", "time_order", "acceleration", "velocity"} <= set(outcome.causes)
    assert ("self_collision" in outcome.causes) == (seed % 2 == 0)


def test_fuzzed_commands_of_a_robot_with_hands_violate_nothing() -> None:
    outcome = run_shard("rby1_dg5f", 50, 2000)
    assert outcome.violations == []


def test_joints_that_swing_from_limit_to_limit_reach_their_speed_but_no_more() -> None:
    rig = Rig(free_robot())
    lower, upper = rig.manager.parts.lower, rig.manager.parts.upper
    for swing in range(4):
        rig.target = np.where(swing % 2, lower, upper) * 1.5
        rig.run(2.5)
    assert judge(rig) == []
    fastest = np.abs(np.diff(rig.positions, axis=0)).max(0) / rig.config.period
    assert fastest[rig.column("right_arm_2")] > 0.99 * rig.robot.limits("right_arm_2").velocity


def test_a_command_beyond_a_limit_ends_at_the_limit_with_its_cause() -> None:
    rig = Rig(free_robot())
    rig.aim(head_0=3.0)
    output = rig.run(3.0)
    limit = rig.robot.limits("head_0").upper
    assert output.positions[rig.column("head_0")] == pytest.approx(limit, abs=1e-6)
    (cause,) = [c for c in causes_of(output, Rule.POSITION) if c.subject == "head_0"]
    assert (cause.value, cause.limit) == (pytest.approx(3.0), pytest.approx(limit))
    assert cause.severity is Severity.LIMITED


def test_a_joint_that_approaches_its_limit_too_fast_is_slowed_with_its_cause() -> None:
    rig = Rig(free_robot())
    limit = rig.robot.limits("head_0").upper
    rig.run(1.0)
    noted = set()
    for _ in range(100):
        at = rig.outputs[-1].positions[rig.column("head_0")]
        rig.aim(head_0=min(at + 0.2, limit))
        noted |= set(subjects_of(rig.cycle(), Rule.STOPPING_SPEED))
    assert "head_0" in noted
    assert judge(rig) == []


def test_a_far_command_is_approached_at_full_speed_with_its_cause() -> None:
    rig = Rig(free_robot())
    rig.run(1.0)
    rig.aim(right_arm_2=2.8)
    noted = set()
    for _ in range(100):
        noted |= set(subjects_of(rig.cycle(), Rule.VELOCITY))
    assert noted == {"right_arm_2"}


@pytest.mark.parametrize("amplitude", [0.1, 0.5])
def test_a_motion_within_the_limits_is_followed_without_lag(amplitude: float) -> None:
    rig = Rig(free_robot())
    rig.run(1.0)
    joint, errors = rig.column("left_arm_2"), []
    for index in range(400):
        # A minimum-jerk motion forth and back, 1 s in each direction.
        share = min((index % 200) / 100.0, 2.0 - (index % 200) / 100.0)
        smooth = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        rig.aim(left_arm_2=amplitude * smooth)
        errors.append(rig.cycle().positions[joint] - amplitude * smooth)
    # At most what the motion covers in 2 cycles at its greatest speed, 1.875 amplitude / s.
    assert np.abs(errors).max() < 0.02 * 1.875 * amplitude
    # And no systematic lag: forth and back cancel.
    assert rig.outputs[-1].positions[joint] == pytest.approx(0.0, abs=1e-3)


def test_noise_on_a_resting_command_is_not_amplified() -> None:
    rig = Rig(free_robot())
    rig.run(1.0)
    random = np.random.default_rng(3)
    home = rig.target.copy()
    noise = 5e-4
    for _ in range(300):
        rig.target = home + random.normal(0.0, noise, home.size)
        rig.cycle()
    moved = rig.positions[-200:, rig.manager.parts["right_arm"].columns]
    assert moved.std(0).max() < 5.0 * noise


def test_a_robot_that_starts_outside_its_limits_comes_back_inside() -> None:
    rig = Rig(free_robot(), pose={"head_0": 1.7})
    rig.aim(head_0=1.0)
    output = rig.run(3.0)
    assert output.positions[rig.column("head_0")] == pytest.approx(1.0, abs=1e-6)
    assert judge(rig) == []


def test_the_start_is_the_measured_position_not_zero() -> None:
    rig = Rig()
    rig.engaged = set()
    for _ in range(3):
        np.testing.assert_array_equal(rig.cycle().positions, rig.start)


def test_positions_are_read_only() -> None:
    rig = Rig()
    output = rig.cycle()
    with pytest.raises(ValueError, match="read-only"):
        output.positions[0] = 1.0
    assert isinstance(rig.manager, SafetyManager)
