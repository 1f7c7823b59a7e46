# SPDX-License-Identifier: Apache-2.0
"""Promise: a hold begins <= 100 ms after the last fresh sample.

The base ramps down <= 100 ms and stands <= 500 ms after it, and never rolls for more than 0.3 s
on an old command.
"""

import itertools

import numpy as np
import pytest

from teleop_system.interfaces import VelocityCommand
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.safety import PartCommand, SafetyConfig
from tests.safety.rig import Rig, causes_of, subjects_of

REACTION = 0.1
STANDSTILL = 0.5
BLIND = 0.3


def moving_rig(rate: float = 100.0) -> Rig:
    """Return a rig with moving arms and head, and the base at full speed."""
    rig = Rig(config=SafetyConfig(rate=rate, stale_after=min(0.08, 0.1 - 1.0 / rate)))
    rig.velocity = (0.5, 0.0)
    rig.run(3.0)
    for _ in range(round(0.3 * rate)):
        step = 1.0 / rate
        rig.target[rig.column("right_arm_2")] -= 1.0 * step
        rig.target[rig.column("left_arm_2")] += 1.0 * step
        rig.target[rig.column("head_0")] += 1.0 * step
        rig.cycle()
    return rig


@pytest.mark.parametrize("rate", [50.0, 100.0, 200.0])
def test_a_silent_part_begins_to_brake_within_the_promised_time(rate: float) -> None:
    rig = moving_rig(rate)
    joints = [rig.column(name) for name in ("right_arm_2", "left_arm_2", "head_0")]
    rig.silent = set(rig.parts)
    last_fresh = rig.now
    while rig.now < last_fresh + 1.0:
        rig.target[joints] = np.nan  # It must not be read.
        rig.cycle()
    began = next(
        now
        for now, output in zip(rig.nows, rig.outputs, strict=True)
        if now > last_fresh and {"right_arm", "left_arm", "head"} <= output.holding
    )
    assert began - last_fresh <= REACTION + 1e-9
    speeds = np.abs(np.diff(rig.positions[:, joints], axis=0)) * rate
    after = [speed for now, speed in zip(rig.nows, speeds, strict=True) if now >= began]
    assert after[0].max() > 0.1  # It was moving,
    assert (np.diff(after, axis=0) <= 1e-9).all()  # slows down from then on
    assert after[-1].max() == 0.0  # and stands.


def test_one_silent_part_does_not_stop_the_others() -> None:
    rig = moving_rig()
    rig.silent = {"left_arm"}
    rig.aim(right_arm_2=-0.5)
    output = rig.run(1.0)
    assert "left_arm" in output.holding
    assert output.positions[rig.column("right_arm_2")] == pytest.approx(-0.5, abs=1e-3)


def test_the_cause_gives_the_age_and_its_start() -> None:
    rig = moving_rig()
    rig.silent = {"head"}
    last_fresh = rig.now
    rig.run(0.15)
    (cause,) = causes_of(rig.outputs[-1], Rule.STALE)
    assert cause.subject == "head"
    assert cause.severity is Severity.HOLD
    assert cause.value == pytest.approx(0.15)
    assert 0.08 <= cause.since - last_fresh + 1e-9 <= REACTION


def test_a_long_silence_is_a_dead_client() -> None:
    rig = moving_rig()
    rig.silent = {"head", "base"}
    output = rig.run(0.4)
    assert subjects_of(output, Rule.DEAD_CLIENT) == {"head", "base"}


def test_a_command_that_is_sent_again_stays_old() -> None:
    rig = moving_rig()
    old = PartCommand(rig.target[rig.parts["head"].columns].copy(), rig.now)
    for _ in range(20):
        rig.cycle(replace={"head": PartCommand(old.positions, old.timestamp)})
    assert "head" in rig.outputs[-1].holding


def test_a_repeated_stamp_becomes_stale_although_positions_change() -> None:
    rig = moving_rig()
    stamp, head = rig.now, rig.parts["head"].columns
    noted: list[Severity] = []
    for index in range(20):
        command = PartCommand(rig.target[head] + 0.001 * index, stamp)
        output = rig.cycle(replace={"head": command})
        noted += [cause.severity for cause in causes_of(output, Rule.TIME_ORDER)]
    assert Severity.INFO in noted
    assert "head" in output.holding


@pytest.mark.parametrize(("linear", "angular"), [(0.5, 0.0), (0.0, 1.0), (-0.5, 1.0)])
def test_a_silent_base_stands_within_the_promised_time(linear: float, angular: float) -> None:
    rig = Rig()
    rig.velocity = (linear, angular)
    rig.run(5.0)
    full = rig.outputs[-1].base
    assert (full.linear_x, full.angular_z) == pytest.approx((linear, angular), abs=1e-6)
    rig.silent = {"base"}
    last_fresh = rig.now
    rig.run(0.6)
    speeds = {
        now - last_fresh: max(abs(output.base.linear_x), abs(output.base.angular_z))
        for now, output in zip(rig.nows, rig.outputs, strict=True)
        if now > last_fresh
    }
    largest = max(abs(linear), abs(angular))
    began = min(time for time, speed in speeds.items() if speed < largest - 1e-6)
    stood = min(time for time, speed in speeds.items() if speed == 0.0)
    assert began <= REACTION + 1e-9
    assert began <= BLIND
    assert stood <= STANDSTILL + 1e-9
    assert all(speed == 0.0 for time, speed in speeds.items() if time >= stood)


def test_a_base_without_commands_brakes_although_other_parts_have_commands() -> None:
    rig = Rig()
    rig.velocity = (0.5, 0.0)
    rig.run(3.0)
    rig.velocity = None
    rig.run(0.3)
    speeds = [output.base.linear_x for output in rig.outputs[-21:]]
    assert all(later < earlier for earlier, later in itertools.pairwise(speeds))


@pytest.mark.parametrize("gap", [0.51, 10.0])
def test_a_base_does_not_resume_an_old_speed_after_a_pause(gap: float) -> None:
    rig = moving_rig()
    assert rig.outputs[-1].base.linear_x > 0.4
    rig.now += gap
    rig.engaged = set()
    rig.silent = {*rig.parts, "base"}
    for _ in range(50):
        assert rig.cycle().base.linear_x == 0.0


def test_a_base_whose_commands_were_taken_away_starts_from_rest() -> None:
    rig = moving_rig()
    rig.manager.come_to_rest()
    rig.engaged = set()
    rig.silent = {*rig.parts, "base"}
    assert rig.cycle().base.linear_x == 0.0


@pytest.mark.parametrize("clock", [float("nan"), float("inf"), -float("inf")])
def test_a_client_that_dies_while_the_clock_is_broken_is_noticed(
    clock: float,
) -> None:
    rig = moving_rig()
    start, stamp = rig.outputs[-1].positions, rig.now + 0.01
    commands = {
        name: PartCommand(rig.target[part.columns].copy(), stamp)
        for name, part in rig.parts.items()
    }
    base = VelocityCommand(0.5, 0.0, 0.0, stamp)
    rig.manager.update(commands, base, now=clock, engaged=frozenset(rig.engaged))
    rig.silent = {*rig.parts, "base"}
    for _ in range(300):
        output = rig.cycle()
    assert subjects_of(output, Rule.DEAD_CLIENT) >= {"head", "base", "right_arm"}
    assert output.holding >= {*rig.parts, "base"}
    assert (output.base.linear_x, output.base.angular_z) == (0.0, 0.0)
    assert np.abs(output.positions - start).max() < 0.5
    np.testing.assert_array_equal(rig.positions[-1], rig.positions[-200])


def test_a_command_that_is_changed_after_it_was_handed_over_is_read_once() -> None:
    rig = moving_rig()
    rig.silent = {"head"}
    command = PartCommand(rig.target[rig.parts["head"].columns].copy(), rig.now)
    for _ in range(20):
        command.timestamp = rig.now + 0.01
        output = rig.cycle(replace={"head": command})
    assert subjects_of(output, Rule.STALE) == {"head"}
