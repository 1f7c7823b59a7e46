# SPDX-License-Identifier: Apache-2.0
import pytest

from teleop_system.stacks.supervisor.node_watch import (
    Action,
    NodeWatch,
    Phase,
    SupervisionPolicy,
)

POLICY = SupervisionPolicy(
    start=10.0,
    configure=20.0,
    activate=5.0,
    silence=3.0,
    backoff=1.0,
    longest_backoff=4.0,
    max_restarts=3,
    healthy_after=30.0,
)


def fresh() -> NodeWatch:
    return NodeWatch(POLICY)


def bring_up(watch: NodeWatch, now: float) -> None:
    assert watch.next_action(now) is Action.START
    watch.started(now)
    watch.state_received(now, "unconfigured")
    assert watch.next_action(now) is Action.CONFIGURE
    watch.state_received(now, "inactive")
    assert watch.next_action(now) is Action.ACTIVATE
    watch.state_received(now, "active")
    assert watch.is_up


def test_a_node_is_started_configured_and_activated_once_each() -> None:
    watch = fresh()
    assert watch.next_action(0.0) is Action.START
    assert watch.next_action(0.1) is None
    watch.started(0.1)
    assert watch.next_action(0.2) is None
    watch.state_received(0.3, "unconfigured")
    assert watch.next_action(0.3) is Action.CONFIGURE
    watch.state_received(0.4, "unconfigured")  # An answer from before the request took effect.
    assert watch.next_action(0.4) is None
    watch.state_received(0.5, "inactive")
    assert watch.next_action(0.5) is Action.ACTIVATE
    assert watch.next_action(0.6) is None
    watch.state_received(0.7, "active")
    assert watch.is_up and watch.next_action(0.8) is None and watch.restarts == 0


def test_a_node_stays_inactive_until_its_stage() -> None:
    watch = fresh()
    watch.next_action(0.0)
    watch.started(0.0)
    watch.state_received(0.0, "inactive")
    for now in (1.0, 100.0):
        assert watch.next_action(now, may_activate=False) is None
    assert watch.next_action(101.0) is Action.ACTIVATE


@pytest.mark.parametrize(
    ("states", "limit", "expected"),
    [
        ((), POLICY.start, "did not answer within 10 s"),
        (("unconfigured",), POLICY.configure, "did not configure within 20 s"),
        (("unconfigured", "inactive"), POLICY.activate, "did not activate within 5 s"),
    ],
)
def test_a_node_that_takes_too_long_is_killed_and_started_again(
    states: tuple[str, ...], limit: float, expected: str
) -> None:
    watch = fresh()
    watch.next_action(0.0)
    watch.started(0.0)
    for state in states:
        watch.state_received(0.0, state)
        watch.next_action(0.0)
    assert watch.next_action(limit) is None
    assert watch.next_action(limit + 0.1) is Action.KILL
    assert expected in watch.cause
    assert watch.next_action(limit + 9.0) is None  # The process has not ended yet.
    watch.ended(limit + 9.0, "was ended by SIGKILL")
    assert expected in watch.cause and watch.restarts == 1
    assert watch.next_action(limit + 9.1) is Action.START


def test_pauses_grow_and_restarts_are_bounded() -> None:
    watch = fresh()
    now, pauses = 0.0, []
    while watch.phase is not Phase.FAILED:
        assert watch.next_action(now) is Action.START
        watch.started(now)
        watch.ended(now, "ended with exit code 1")
        began = now
        while watch.phase is Phase.WAITING and now < began + POLICY.restart_delay(len(pauses) + 1):
            assert watch.next_action(now) is None
            now += 0.25
        pauses.append(now - began)
    assert pauses == [1.0, 2.0, 4.0, 0.0]
    assert watch.is_over and watch.next_action(1e6) is None
    assert watch.cause == "ended with exit code 1"


def test_restarts_are_forgotten_after_a_long_time_without_a_failure() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    for round_ in range(1, 10):
        now = 100.0 * round_
        watch.ended(now, "was ended by SIGKILL")
        assert watch.next_action(now + 0.9) is None
        bring_up(watch, now + 1.0)
        watch.state_received(now + 60.0, "active")
        watch.next_action(now + 60.0)
        assert watch.cause == ""
    assert watch.restarts == 9


def test_a_failed_transition_is_requested_again_of_the_same_process() -> None:
    watch = fresh()
    watch.next_action(0.0)
    watch.started(0.0)
    watch.state_received(0.0, "unconfigured")
    assert watch.next_action(0.0) is Action.CONFIGURE
    assert watch.transition_failed(1.0, "could not configure")
    assert not watch.transition_failed(1.0, "could not configure")
    assert watch.next_action(1.5) is None
    assert watch.next_action(2.0) is Action.CONFIGURE
    watch.state_received(2.1, "inactive")
    assert watch.next_action(2.2) is Action.ACTIVATE
    assert watch.transition_failed(2.3, "could not activate")
    assert watch.next_action(4.3) is None and watch.phase is Phase.INACTIVE
    assert watch.next_action(4.4) is Action.ACTIVATE


def test_an_error_in_an_active_node_brings_it_up_again() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    watch.state_received(10.0, "unconfigured")
    assert watch.error_occurred(10.0, "had an error")
    assert not watch.error_occurred(10.0, "had an error")
    assert watch.next_action(11.0) is Action.CONFIGURE


def test_a_node_that_is_finalized_by_an_error_gets_a_new_process() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    watch.state_received(10.0, "finalized")
    watch.error_occurred(10.0, "had an error")
    assert watch.next_action(11.0) is Action.KILL
    watch.ended(11.1, "was ended by SIGKILL")
    assert watch.next_action(11.2) is Action.START


@pytest.mark.parametrize("state", ["inactive", "unconfigured", "finalized"])
def test_transitions_by_a_user_are_not_reverted(state: str) -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    for second in range(100):
        watch.state_received(float(second), state)
        assert watch.next_action(float(second)) is None
    assert watch.is_up and watch.state == state


def test_a_node_that_a_user_shut_down_is_not_started_again() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    watch.state_received(1.0, "finalized")
    watch.ended(1.0, "ended with exit code 0")
    assert watch.phase is Phase.ENDED and watch.next_action(100.0) is None


def test_a_node_that_ends_unexpectedly_is_started_again_for_any_exit_code() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    watch.ended(1.0, "ended with exit code 0")
    assert watch.next_action(2.0) is Action.START


def test_a_node_that_hangs_is_killed() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    watch.state_received(10.0, "active")
    assert watch.next_action(13.0) is None
    assert watch.next_action(13.1) is Action.KILL
    assert "has not answered for 3 s" in watch.cause


def test_a_busy_node_is_given_more_time() -> None:
    watch = fresh()
    watch.next_action(0.0)
    watch.started(0.0)
    watch.extend_wait(8.0)
    assert watch.next_action(17.9) is None
    assert watch.next_action(18.1) is Action.KILL


def test_an_answer_of_an_ended_process_does_not_count() -> None:
    watch = fresh()
    bring_up(watch, 0.0)
    watch.ended(1.0, "was ended by SIGKILL")
    watch.state_received(1.1, "active")
    assert watch.phase is Phase.WAITING and watch.state == ""
