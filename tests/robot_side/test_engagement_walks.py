# SPDX-License-Identifier: Apache-2.0
"""Random walks through the engagement states, watched by an oracle that never saw the table."""

from dataclasses import fields

import numpy as np
import pytest

from teleop_system.robot_side.engagement import (
    Engagement,
    EngagementConfig,
    EngagementInputs,
    EngagementState,
    EngagementStatus,
)

S = EngagementState
CONFIG = EngagementConfig(max_retries=3, healthy_after=5.0, backoff=0.2, inputs_lost=0.5)
FLAGS = tuple(field.name for field in fields(EngagementInputs) if field.type is bool)

ALLOWED = {
    S.STARTING: {S.WAITING_FOR_STATE},
    S.WAITING_FOR_STATE: {S.SYNCING},
    S.SYNCING: {S.HOMING, S.READY},
    S.HOMING: {S.SELF_TEST},
    S.SELF_TEST: {S.READY},
    S.READY: {S.ENGAGED},
    S.ENGAGED: {S.READY},
    S.ERROR_RECOVERY: {S.STARTING, S.WAITING_FOR_STATE},
    S.FAILED: {S.STARTING},
    S.ESTOPPED: {S.WAITING_FOR_STATE},
}
"""Where each state may lead, besides recovery, failure and the emergency stop."""


class Oracle:
    """Check one walk against the promises, from what went in and came out alone."""

    def __init__(self) -> None:
        self.state = S.STARTING
        self.before = EngagementInputs()
        self.reset_seen = self.engage_seen = True
        self.recoveries = 0
        self.lost_since = 0.0

    def check(self, now: float, inputs: EngagementInputs, status: EngagementStatus) -> None:
        source, self.state = self.state, status.state
        engage = inputs.engage_requested and not self.before.engage_requested
        reset = inputs.estop_reset_requested and not self.before.estop_reset_requested
        self.before = inputs
        if inputs.inputs_fresh:
            self.lost_since = now
        if inputs.estop_pressed:
            assert status.state is S.ESTOPPED
            if source is not S.ESTOPPED:
                self.reset_seen = self.engage_seen = False
        elif source is S.ESTOPPED:
            assert (status.state is S.ESTOPPED) == (not reset)
            self.reset_seen = reset
        elif engage and self.reset_seen:
            self.engage_seen = True
        if source is not status.state:
            others = {S.ERROR_RECOVERY, S.FAILED, S.ESTOPPED}
            assert status.state in ALLOWED[source] | others
        if status.state in (S.HOMING, S.SELF_TEST, S.ENGAGED):
            assert self.reset_seen and self.engage_seen
            assert inputs.robot_connected and inputs.state_fresh
            assert not (inputs.fault or inputs.fatal)
        if status.state is S.ENGAGED:
            assert not inputs.disengage_requested
            assert now - self.lost_since <= CONFIG.inputs_lost
            if source is S.READY:
                assert engage and inputs.inputs_fresh
        self._count(source, status)

    def _count(self, source: EngagementState, status: EngagementStatus) -> None:
        if status.retries == 0:
            self.recoveries = 0
        elif status.changed and status.state is S.ERROR_RECOVERY:
            self.recoveries += 1
        assert self.recoveries == status.retries <= CONFIG.max_retries + 1
        if status.retries > CONFIG.max_retries:
            assert status.state in (S.ERROR_RECOVERY, S.FAILED, S.ESTOPPED) or source is S.ESTOPPED


def random_inputs(rng: np.random.Generator, steps: int) -> np.ndarray:
    """Return flags, shape (steps, len(FLAGS)), that mostly let the machine get somewhere."""
    odds = dict.fromkeys(FLAGS, 0.98)
    odds |= dict.fromkeys(("engage_requested", "estop_reset_requested"), 0.2)
    odds |= dict.fromkeys(("at_home", "self_test_passed", "clutch_closed"), 0.5)
    odds |= {"fault": 0.003, "fatal": 0.0005, "disengage_requested": 0.02}
    odds |= {"estop_pressed": 0.01, "restart_requested": 0.05, "inputs_fresh": 0.8}
    odds |= {"robot_connected": 0.997, "state_fresh": 0.997}
    return rng.random((steps, len(FLAGS))) < [odds[name] for name in FLAGS]


@pytest.mark.parametrize("seed", range(4))
def test_random_walks_keep_every_promise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machine, oracle = Engagement(CONFIG), Oracle()
    now, visits = 0.0, dict.fromkeys(S, 0)
    steps = rng.exponential(0.1, 25_000)
    for flags, step in zip(random_inputs(rng, len(steps)).tolist(), steps.tolist(), strict=True):
        now += step
        inputs = EngagementInputs(**dict(zip(FLAGS, flags, strict=True)))
        status = machine.update(now, inputs)
        oracle.check(now, inputs, status)
        visits[status.state] += 1
    assert min(visits.values()) > 0  # The walk proves nothing about states it never saw.
    assert visits[S.ENGAGED] > 1000


def test_the_same_updates_give_the_same_states() -> None:
    def walk() -> list[EngagementStatus]:
        machine = Engagement(CONFIG)
        flags = random_inputs(np.random.default_rng(9), 2000).tolist()
        return [
            machine.update(0.05 * k, EngagementInputs(**dict(zip(FLAGS, row, strict=True))))
            for k, row in enumerate(flags)
        ]

    assert walk() == walk()
