# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest

from teleop_system.robot_side.engagement import EngagementConfig
from tests.robot_side.engagement_driver import GOOD, Driver, S


def test_an_estop_does_not_wash_a_failure_away() -> None:
    driver = Driver.into(S.FAILED)
    driver.feed(replace(GOOD, estop_pressed=True), GOOD)
    assert driver.feed(replace(GOOD, estop_reset_requested=True)) is S.FAILED


def test_an_estop_does_not_wash_used_up_retries_away() -> None:
    driver = Driver.into(S.READY, EngagementConfig(max_retries=1))
    driver.feed(replace(GOOD, fault=True))
    driver.feed(replace(GOOD, fault=True), dt=1.0)
    assert (driver.status.state, driver.status.retries) == (S.ERROR_RECOVERY, 2)
    driver.feed(replace(GOOD, estop_pressed=True), GOOD)
    assert driver.feed(replace(GOOD, estop_reset_requested=True)) is S.FAILED


def test_back_off_doubles_up_to_its_limit() -> None:
    config = EngagementConfig(backoff=1.0, longest_backoff=5.0, max_retries=6)
    driver = Driver.into(S.READY, config)
    pauses = []
    driver.feed(replace(GOOD, fault=True))
    while driver.status.state is S.ERROR_RECOVERY:
        pauses.append(driver.status.deadline - driver.status.since)
        driver.feed(replace(GOOD, fault=True), dt=5.0)
    assert pauses == pytest.approx([1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.0])
    assert driver.status.state is S.FAILED


def test_recovery_does_not_end_before_the_back_off_has() -> None:
    driver = Driver.into(S.READY, EngagementConfig(backoff=1.0))
    driver.feed(replace(GOOD, fault=True))
    assert driver.feed(GOOD, dt=0.99) is S.ERROR_RECOVERY
    assert driver.feed(GOOD, dt=0.02) is S.WAITING_FOR_STATE


def test_a_fault_that_keeps_coming_back_ends_in_failure_with_its_reason() -> None:
    driver = Driver.into(S.READY, EngagementConfig(max_retries=3))
    for _ in range(20):
        driver.feed(replace(GOOD, fault=True, detail="motor 3 is hot"))
        driver.feed(*[GOOD] * 8, dt=0.9)
    assert driver.status.state is S.FAILED
    assert "motor 3 is hot" in driver.status.reason
    recoveries = [r for r in driver.machine.history if r.target is S.ERROR_RECOVERY]
    assert len(recoveries) == 4  # Three retries, and the one that was one too many.


def test_retries_are_forgotten_after_a_time_without_faults() -> None:
    driver = Driver.into(S.READY, EngagementConfig(max_retries=2, healthy_after=10.0))
    for _ in range(20):
        driver.feed(replace(GOOD, fault=True))
        driver.feed(*[GOOD] * 8, dt=0.9)
        assert driver.feed(*[GOOD] * 12, dt=1.0) is S.READY
        assert driver.status.retries == 0


def test_a_held_restart_request_restarts_once() -> None:
    driver = Driver.into(S.FAILED)
    held = replace(GOOD, restart_requested=True)
    assert driver.feed(held) is S.STARTING
    assert driver.status.retries == 0
    assert driver.feed(replace(held, fatal=True), *[held] * 10) is S.FAILED


def test_a_restart_homes_and_tests_again() -> None:
    driver = Driver.into(S.FAILED)
    driver.feed(replace(GOOD, restart_requested=True))
    visited = [driver.feed(GOOD) for _ in range(5)]
    assert visited == [S.WAITING_FOR_STATE, S.SYNCING, S.HOMING, S.SELF_TEST, S.READY]


def test_recovery_without_a_link_starts_by_connecting_again() -> None:
    driver = Driver.into(S.READY, EngagementConfig(backoff=1.0))
    unlinked = replace(GOOD, robot_connected=False)
    assert driver.feed(unlinked) is S.ERROR_RECOVERY
    assert driver.feed(unlinked, dt=1.01) is S.STARTING
    assert driver.feed(GOOD) is S.WAITING_FOR_STATE
