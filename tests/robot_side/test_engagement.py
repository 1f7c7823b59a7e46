# SPDX-License-Identifier: Apache-2.0
import itertools
import math
from dataclasses import fields, replace

import pytest

from teleop_system.exceptions import ConfigError
from teleop_system.interfaces.causes import Rule, Severity
from teleop_system.robot_side.engagement import (
    Engagement,
    EngagementConfig,
    EngagementInputs,
    EngagementState,
    MotionSource,
)
from teleop_system.robot_side.engagement_table import GUARDS, TABLE
from tests.robot_side.engagement_driver import GOOD, PATHS, SYNCED, Driver, S

EVENTS: dict[str, dict[str, bool]] = {
    "quiet": {},
    "clutch": {"clutch_closed": True},
    "engage": {"engage_requested": True},
    "disengage": {"disengage_requested": True},
    "both": {"engage_requested": True, "disengage_requested": True},
    "blind": {"inputs_fresh": False},
    "blind+engage": {"inputs_fresh": False, "engage_requested": True},
    "fault": {"fault": True},
    "fatal": {"fatal": True},
    "restart": {"restart_requested": True},
    "estop": {"estop_pressed": True},
    "reset": {"estop_reset_requested": True},
    "estop+reset": {"estop_pressed": True, "estop_reset_requested": True},
    "estop+engage": {"estop_pressed": True, "engage_requested": True},
    "reset+engage": {"estop_reset_requested": True, "engage_requested": True},
    "unlinked": {"robot_connected": False},
    "unmeasured": {"state_fresh": False},
    "unsynced": {"synced": False},
    "away": {"at_home": False},
    "untested": {"self_test_passed": False},
}
"""What each event changes in the inputs on which a state stays as it is."""

KEEPS = "="
EXPECTED: dict[str, str] = {
    # STARTING, WAITING, SYNCING, HOMING, SELF_TEST, READY, ENGAGED, RECOVERY, FAILED, ESTOPPED.
    "quiet": "= = = = = = = = = =",
    "clutch": "= = = = = = = = = =",
    "engage": "= = = = = ENGAGED = = = =",
    "disengage": "= = = = = = READY = = =",
    "both": "= = = = = = READY = = =",
    "blind": "= = = = = = = = = =",
    "blind+engage": "= = = = = = = = = =",
    "fault": 7 * "ERROR_RECOVERY " + "= = =",
    "fatal": 8 * "FAILED " + "= =",
    "restart": "= = = = = = = = STARTING =",
    "estop": 9 * "ESTOPPED " + "=",
    "reset": "= = = = = = = = = WAITING_FOR_STATE",
    "estop+reset": 9 * "ESTOPPED " + "=",
    "estop+engage": 9 * "ESTOPPED " + "=",
    "reset+engage": "= = = = = ENGAGED = = = WAITING_FOR_STATE",
    "unlinked": "= " + 6 * "ERROR_RECOVERY " + "= = =",
    "unmeasured": "= = " + 5 * "ERROR_RECOVERY " + "= = =",
    "unsynced": "= = = = = = = = = =",
    "away": "= = = = = = = = = =",
    "untested": "= = = = = = = = = =",
}
"""Where each event leads from each state, in the order of the states."""


@pytest.mark.parametrize("state", S, ids=lambda state: state.name)
@pytest.mark.parametrize("event", EVENTS)
def test_every_event_leads_where_it_should_from_every_state(
    state: EngagementState, event: str
) -> None:
    expected = EXPECTED[event].split()[list(S).index(state)]
    driver = Driver.into(state)
    reached = driver.feed(replace(PATHS[state][-1], **EVENTS[event]))
    assert reached.name == (state.name if expected == KEEPS else expected)


@pytest.mark.parametrize("state", S, ids=lambda state: state.name)
def test_progress_is_one_state_an_update_though_all_conditions_are_met(
    state: EngagementState,
) -> None:
    order = [S.STARTING, S.WAITING_FOR_STATE, S.SYNCING, S.HOMING, S.SELF_TEST, S.READY]
    follows = dict(itertools.pairwise(order))
    assert Driver.into(state).feed(GOOD) is follows.get(state, state)


@pytest.mark.parametrize(
    ("state", "field", "reason"),
    [
        (S.STARTING, "starting", "did not connect"),
        (S.WAITING_FOR_STATE, "waiting_for_state", "sent no state"),
        (S.SYNCING, "syncing", "agree"),
        (S.HOMING, "homing", "home pose was not reached"),
        (S.SELF_TEST, "self_test", "self-test did not pass"),
    ],
)
def test_each_preparing_state_times_out_with_its_reason(
    state: EngagementState, field: str, reason: str
) -> None:
    driver = Driver(replace(EngagementConfig(), **{field: 3.0}))
    driver.feed(*PATHS[state])
    entered, stay = driver.status.since, PATHS[state][-1]
    assert driver.status.deadline == pytest.approx(entered + 3.0)
    driver.now = entered
    assert driver.feed(stay, dt=2.99) is state
    assert driver.feed(stay, dt=0.02) is S.ERROR_RECOVERY
    assert reason in driver.status.reason


@pytest.mark.parametrize("state", [S.READY, S.ENGAGED, S.FAILED, S.ESTOPPED])
def test_states_that_wait_for_a_person_wait_for_ever(state: EngagementState) -> None:
    driver = Driver.into(state)
    assert driver.feed(PATHS[state][-1], dt=1e6) is state
    assert driver.status.deadline == math.inf


def test_every_row_of_the_table_can_be_taken() -> None:
    taken = set()
    quick = EngagementConfig(max_retries=1, backoff=1.0)
    pulse = {name: replace(GOOD, **change) for name, change in EVENTS.items()}
    scripts: list[tuple[EngagementState, list[EngagementInputs]]] = [
        *((state, [pulse[name]]) for state in S for name in EVENTS),
        *((state, [PATHS[state][-1]] * 2) for state in S),
        (S.ENGAGED, [pulse["blind"]] * 2),
        (S.ERROR_RECOVERY, [pulse["fault"]] * 3),
        (S.ERROR_RECOVERY, [pulse["unlinked"]] * 2),
        (S.FAILED, [pulse["estop"], pulse["reset"]]),
        (S.ESTOPPED, [pulse["reset"], GOOD, GOOD, GOOD]),
    ]
    for state, updates in scripts:
        driver = Driver.into(state, quick)
        driver.feed(*updates, dt=40.0)
        for record in driver.machine.history:
            taken.add((record.source, record.target, record.reason.split(":")[0]))
    missed = {(source, row.target, row.reason) for row in TABLE for source in row.sources} - taken
    assert not missed


def test_guards_and_waits_named_by_the_table_exist_and_all_are_used() -> None:
    names = {field.name for field in fields(EngagementConfig)}
    assert {row.guard for row in TABLE} == set(GUARDS)
    assert {row.timeout for row in TABLE if row.timeout} <= names


@pytest.mark.parametrize("state", S, ids=lambda state: state.name)
def test_estop_is_latched_from_every_state_and_deaf_to_everything_but_a_reset(
    state: EngagementState,
) -> None:
    driver = Driver.into(state)
    driver.feed(replace(GOOD, estop_pressed=True))
    for name, change in EVENTS.items():
        if "reset" not in name or "estop" in name:
            driver.feed(GOOD)
            assert driver.feed(replace(GOOD, **change)) is S.ESTOPPED, name
            assert driver.status.motion is MotionSource.NONE


def test_estop_counts_though_nothing_has_changed_for_long_and_nobody_made_new_inputs() -> None:
    driver = Driver.into(S.ENGAGED)
    driver.feed(*(GOOD,) * 10)
    inputs = replace(GOOD)
    assert driver.machine.update(driver.now + 0.01, inputs).following is inputs.clutch_closed
    inputs.estop_pressed = True
    assert driver.machine.update(driver.now + 0.02, inputs).state is S.ESTOPPED


def test_estop_is_released_by_reset_and_then_a_new_engage_only() -> None:
    driver = Driver.into(S.ENGAGED)
    held = replace(GOOD, engage_requested=True)
    driver.feed(held, replace(held, estop_pressed=True), held, held)
    assert driver.feed(replace(held, estop_reset_requested=True)) is S.WAITING_FOR_STATE
    assert driver.feed(*[held] * 50) is S.READY  # A request held since before does not count.
    assert driver.feed(GOOD) is S.READY
    assert driver.feed(held) is S.ENGAGED


def test_a_reset_held_from_before_the_button_came_up_does_not_release() -> None:
    driver = Driver.into(S.ENGAGED)
    reset = replace(GOOD, estop_reset_requested=True)
    assert driver.feed(replace(reset, estop_pressed=True), *[reset] * 10) is S.ESTOPPED
    assert driver.feed(GOOD, reset) is S.WAITING_FOR_STATE


def test_reset_is_refused_while_the_button_is_down_and_says_so() -> None:
    driver = Driver.into(S.ESTOPPED)
    driver.feed(replace(GOOD, estop_pressed=True, estop_reset_requested=True))
    assert driver.status.state is S.ESTOPPED
    assert "still pressed" in driver.status.note


def test_after_an_estop_a_prepared_robot_gets_ready_without_moving() -> None:
    driver = Driver.into(S.ESTOPPED)
    away = replace(GOOD, at_home=False, self_test_passed=False)
    driver.feed(replace(away, estop_reset_requested=True))
    visited = [driver.feed(away) for _ in range(5)]
    assert visited == [S.SYNCING] + [S.READY] * 4


def test_after_an_estop_during_homing_nothing_moves_before_a_new_engage() -> None:
    driver = Driver.into(S.HOMING)
    driver.feed(replace(SYNCED, estop_pressed=True), SYNCED)
    driver.feed(replace(SYNCED, estop_reset_requested=True), SYNCED)
    assert driver.feed(SYNCED, dt=3600.0) is S.SYNCING
    assert "engage" in driver.status.note
    assert driver.feed(replace(SYNCED, engage_requested=True)) is S.HOMING


def test_engage_is_refused_without_fresh_inputs_and_must_be_asked_for_again() -> None:
    driver = Driver.into(S.READY)
    blind = replace(GOOD, inputs_fresh=False, engage_requested=True)
    assert driver.feed(blind) is S.READY
    assert driver.status.note == "engage refused: no fresh inputs"
    assert driver.feed(*[replace(GOOD, engage_requested=True)] * 5) is S.READY
    assert driver.feed(GOOD, replace(GOOD, engage_requested=True)) is S.ENGAGED
    assert driver.status.note == ""


def test_a_short_loss_of_inputs_keeps_control_and_a_long_one_gives_it_up() -> None:
    driver = Driver.into(S.ENGAGED, EngagementConfig(inputs_lost=2.0))
    blind = replace(GOOD, inputs_fresh=False)
    assert driver.feed(*[blind] * 19, dt=0.1) is S.ENGAGED
    assert driver.feed(GOOD, *[blind] * 19, dt=0.1) is S.ENGAGED
    assert driver.feed(blind, blind, dt=0.1) is S.READY
    assert driver.feed(GOOD) is S.READY
    assert "lost" in driver.status.reason


def test_motion_follows_the_operator_only_with_clutch_closed_and_inputs_fresh() -> None:
    driver = Driver.into(S.ENGAGED)
    seen = []
    for clutch, fresh in ((True, True), (True, False), (False, True)):
        driver.feed(replace(GOOD, clutch_closed=clutch, inputs_fresh=fresh))
        seen.append(driver.status.following)
    assert seen == [True, False, False]


@pytest.mark.parametrize("state", S, ids=lambda state: state.name)
def test_only_homing_and_self_test_move_by_themselves(state: EngagementState) -> None:
    motion = Driver.into(state).status.motion
    own = {S.HOMING: MotionSource.SYSTEM, S.SELF_TEST: MotionSource.SYSTEM}
    assert motion is {**own, S.ENGAGED: MotionSource.OPERATOR}.get(state, MotionSource.NONE)


@pytest.mark.parametrize("state", S, ids=lambda state: state.name)
def test_whoever_does_not_follow_the_operator_says_why(state: EngagementState) -> None:
    cause = Driver.into(state).status.cause
    if state is S.ENGAGED:
        assert cause is None
        return
    assert cause is not None
    stopped = (Rule.ESTOP, Severity.STOP)
    expected = stopped if state is S.ESTOPPED else (Rule.NOT_ENGAGED, Severity.HOLD)
    assert (cause.rule, cause.severity) == expected


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1e9, 0.0])
def test_time_that_runs_back_or_is_no_number_counts_as_standing_still(bad: float) -> None:
    driver = Driver.into(S.HOMING)
    before = driver.status
    status = driver.machine.update(bad, SYNCED)
    assert (status.state, status.since, status.deadline) == (
        before.state,
        before.since,
        before.deadline,
    )


def test_history_is_bounded_and_tells_what_happened() -> None:
    machine = Engagement(history=4)
    for tick in range(30):
        machine.update(float(tick), replace(GOOD, engage_requested=tick % 2 == 0))
        machine.update(tick + 0.5, replace(GOOD, disengage_requested=tick % 2 == 1))
    assert len(machine.history) == 4
    assert {(r.source, r.target) for r in machine.history} == {
        (S.READY, S.ENGAGED),
        (S.ENGAGED, S.READY),
    }


@pytest.mark.parametrize("field", [field.name for field in fields(EngagementConfig)])
@pytest.mark.parametrize("value", [0, -1, math.nan])
def test_config_rejects_waits_and_retries_that_cannot_be(field: str, value: float) -> None:
    with pytest.raises(ConfigError, match=field):
        replace(EngagementConfig(), **{field: value})
