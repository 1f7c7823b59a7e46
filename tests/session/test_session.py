# SPDX-License-Identifier: Apache-2.0
"""The standalone session: from power-up to an operator in control, and what can go wrong."""

import math

import numpy as np
import pytest

from teleop_system.exceptions import ConfigError, MissingSignalError
from teleop_system.interfaces import Pose6D
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robot_side.requests import RequestBox, Requests
from teleop_system.session.build import build_session
from teleop_system.session.signals import Samples
from tests.session.sessions import Rig, rigged, settings_with

_S = EngagementState
MOVING = 1e-3
"""A joint counts as moved after this rotation in [rad]."""


def states_of(rig: Rig) -> list[str]:
    return [record.target.value for record in rig.session.robot_side.engagement.history]


def moved(rig: Rig, part: str, seconds: float) -> float:
    """Return the largest change of a part's commands during some time."""
    columns = rig.session.robot_side.safety.parts[part].columns
    assert rig.session.output is not None
    before = rig.session.output.positions[columns].copy()
    largest = 0.0
    for _ in range(round(seconds * rig.session.rate)):
        rig.run(1.0 / rig.session.rate)
        largest = max(largest, float(np.abs(rig.session.output.positions[columns] - before).max()))
    return largest


def test_engaging_passes_through_every_state() -> None:
    with rigged("session.self_test=true") as rig:
        rig.run_until(_S.ENGAGED)
        assert states_of(rig) == [
            "waiting_for_state",
            "syncing",
            "homing",
            "self_test",
            "ready",
            "engaged",
        ]


def test_the_self_test_moves_the_hands() -> None:
    with rigged("session.self_test=true", "session.auto_engage=false") as rig:
        rig.run_until(_S.SELF_TEST)
        assert moved(rig, "right_hand", 0.6) > MOVING
        rig.run_until(_S.READY)


def test_homing_takes_a_robot_to_its_home_pose_within_its_limits() -> None:
    with rigged("robot.initial_pose=a_pose", "session.home_pose=ready") as rig:
        rig.run_until(_S.ENGAGED, longest=15.0)
        assert rig.now > 1.0
        assert "error_recovery" not in states_of(rig)


def test_the_session_does_not_engage_automatically_unless_configured() -> None:
    with rigged("session.auto_engage=false") as rig:
        rig.run(1.0)
        assert rig.session.status.state is _S.READY
        assert moved(rig, "right_arm", 0.5) == 0.0
        rig.session.requests.request(engage=True)
        rig.run(0.05)
        assert rig.session.status.state is _S.ENGAGED


def test_every_part_of_the_body_follows() -> None:
    with rigged() as rig:
        rig.run(9.0)
        assert rig.session.recorder is not None
        commands = rig.session.recorder.trace.column("commands")
        commands = commands[np.isfinite(commands).all(axis=1)]
        for part in rig.session.robot_side.safety.parts.values():
            assert np.ptp(commands[:, part.columns], axis=0).max() > 0.02, part.name


def test_only_the_chosen_modules_move_their_parts() -> None:
    with rigged("session.modules=[camera]") as rig:
        rig.run_until(_S.ENGAGED)
        assert moved(rig, "head", 3.0) > MOVING
        assert moved(rig, "right_arm", 2.0) == 0.0


def test_an_open_clutch_holds_the_robot_and_closing_it_causes_no_jump() -> None:
    with rigged() as rig:
        rig.run(5.0)
        rig.session.requests.request(clutch=False)
        rig.run(1.0)
        assert moved(rig, "left_arm", 1.0) == 0.0
        rig.session.requests.request(clutch=True)
        # The promise of the safety manager for the first cycle.
        assert moved(rig, "left_arm", 0.01) <= 0.002
        assert moved(rig, "left_arm", 3.0) > MOVING


def test_an_emergency_stop_latches_and_needs_reset_and_engage() -> None:
    with rigged("session.auto_engage=false") as rig:
        rig.run(0.5)
        rig.session.requests.request(engage=True)
        rig.run(5.0)
        rig.session.requests.request(estop=True)
        rig.run(0.02)
        rig.session.requests.request(estop=False)
        assert rig.session.status.state is _S.ESTOPPED
        rig.run(1.0)
        assert moved(rig, "left_arm", 0.5) == 0.0
        rig.session.requests.request(engage=True)
        assert moved(rig, "left_arm", 0.5) == 0.0
        rig.session.requests.request(reset_estop=True)
        rig.run(0.5)
        assert rig.session.status.state is _S.READY
        assert moved(rig, "left_arm", 0.5) == 0.0
        rig.session.requests.request(engage=True)
        assert moved(rig, "left_arm", 4.0) > MOVING


def test_a_lost_tracker_stops_only_its_own_limb() -> None:
    def lose_left(now: float, samples: Samples) -> Samples:
        return samples | {"left_hand": Pose6D.lost(now)} if now >= 4.0 else samples

    with rigged(disturb=lose_left) as rig:
        rig.run(4.0)
        rig.run(1.5)
        assert rig.session.status.state is _S.ENGAGED
        assert "right_arm" in rig.session.targets
        assert "left_arm" not in rig.session.targets
        assert {"lost", "stale"} & rig.rules()


def test_lost_inputs_hold_the_robot_at_once_and_disengage_later() -> None:
    def lose_all(now: float, samples: Samples) -> Samples:
        return dict.fromkeys(samples) if now >= 3.0 else samples

    with rigged("session.auto_engage=false", disturb=lose_all) as rig:
        rig.session.requests.request(engage=True)
        rig.run(0.3)
        rig.session.requests.request(engage=True)
        rig.run(3.5)
        assert moved(rig, "right_arm", 0.5) == 0.0
        rig.run(1.5)
        assert rig.session.status.state is _S.READY
        assert "inputs were lost" in rig.session.status.reason


@pytest.mark.parametrize(
    "bad",
    [
        Pose6D(np.zeros(3), np.zeros(4), 0.0),
        Pose6D(np.zeros(3), np.array([0.0, 0.0, 0.0, 3.0]), 0.0),
        Pose6D(np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0]), 0.0),
        None,
    ],
    ids=["zero quaternion", "quaternion too long", "jump", "nothing"],
)
def test_a_bad_sample_never_makes_the_robot_jump(bad: Pose6D | None) -> None:
    def spoil(now: float, samples: Samples) -> Samples:
        if not 3.0 <= now < 3.05:
            return samples
        pose = bad and Pose6D(bad.position, bad.orientation, now)
        return samples | {"right_hand": pose}

    with rigged(disturb=spoil) as rig:
        rig.run(5.0)
        assert rig.session.status.state is _S.ENGAGED
        assert rig.session.recorder is not None
        commands = rig.session.recorder.trace.column("commands")
        commands = commands[np.isfinite(commands).all(axis=1)]
        steps = np.abs(np.diff(commands, axis=0)).max(axis=0) * rig.session.rate
        assert (steps <= rig.session.robot_side.safety.parts.velocity * (1.0 + 1e-6)).all()


def test_a_stall_of_two_seconds_is_a_cause_and_a_hold() -> None:
    with rigged() as rig:
        rig.run(3.0)
        rig.now += 2.0
        assert moved(rig, "right_arm", 0.01) <= 0.002
        assert "overrun" in rig.rules()
        rig.run(1.0)
        assert rig.session.status.state is _S.ENGAGED
        assert moved(rig, "right_arm", 3.0) > MOVING


def test_a_robot_that_does_not_follow_its_commands_is_a_fault() -> None:
    with rigged() as rig:
        rig.run_until(_S.ENGAGED)
        drive = rig.session.robot_side.drive

        def measure_elsewhere() -> bool:
            drive.positions += 1.0
            return True

        drive.measure = measure_elsewhere  # type: ignore[method-assign]
        drive.measured_at = math.inf
        rig.run(1.0)
        assert rig.session.status.state is _S.ERROR_RECOVERY
        assert "from its command" in rig.session.status.reason


def test_missing_signals_are_reported_before_the_start() -> None:
    settings = settings_with("hardware.signals.left_foot=null", "hardware.signals.head=null")
    with pytest.raises(MissingSignalError, match=r"left_foot.*head") as raised:
        build_session(settings)
    assert len(raised.value.missing) == 2


def test_a_robot_without_a_driver_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"needs drivers for robot 'rby1'.*none is installed"):
        build_session(settings_with("session.mode=hardware"))


def test_a_robot_without_parts_for_the_modules_is_refused() -> None:
    settings = settings_with("robot=dg5f", "session.modules=[locomotion,camera]")
    with pytest.raises(ConfigError, match=r"could run: hand"):
        build_session(settings)


def test_modules_without_parts_on_the_robot_are_left_out() -> None:
    with rigged("robot=dg5f") as rig:
        assert [schedule.module.name for schedule in rig.session.schedules] == ["hand"]
        rig.run(6.0)
        assert rig.session.status.state is _S.ENGAGED


def test_a_request_counts_for_one_tick_and_the_clutch_keeps_its_state() -> None:
    box = RequestBox()
    box.request(engage=True, clutch=False)
    assert box.take(ready=False) == Requests(engage=True, clutch=False)
    assert box.take(ready=False) == Requests(clutch=False)


def test_an_emergency_stop_pressed_and_released_between_two_ticks_counts() -> None:
    box = RequestBox()
    box.request(estop=True)
    box.request(estop=False)
    assert box.take(ready=False).estop
    assert not box.take(ready=False).estop


def test_disengaging_ends_automatic_engagement() -> None:
    box = RequestBox(auto_engage=True)
    assert box.take(ready=True).engage
    box.request(disengage=True)
    box.take(ready=True)
    assert not box.take(ready=True).engage


def test_after_an_emergency_stop_only_a_request_engages() -> None:
    box = RequestBox(auto_engage=True)
    assert box.take(ready=True).engage
    box.request(estop=True)
    box.request(estop=False)
    assert box.take(ready=False).estop
    box.request(reset_estop=True)
    assert not box.take(ready=True).engage
    assert not box.take(ready=True).engage
    box.request(engage=True)
    assert box.take(ready=True).engage


@pytest.mark.parametrize("requests", [Requests(), Requests(engage=True, clutch=False, estop=True)])
def test_recorded_requests_can_be_read_back(requests: Requests) -> None:
    assert Requests.decode(requests.encode()) == requests
