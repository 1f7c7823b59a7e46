# SPDX-License-Identifier: Apache-2.0
"""Drive an `Engagement` into any of its states."""

from dataclasses import replace

from teleop_system.robot_side.engagement import (
    Engagement,
    EngagementConfig,
    EngagementInputs,
    EngagementState,
)

S = EngagementState
NOTHING = EngagementInputs()
CONNECTED = EngagementInputs(robot_connected=True)
MEASURED = replace(CONNECTED, state_fresh=True)
SYNCED = replace(MEASURED, synced=True)
HOME = replace(SYNCED, at_home=True)
GOOD = replace(HOME, self_test_passed=True, inputs_fresh=True)

PATHS: dict[EngagementState, tuple[EngagementInputs, ...]] = {
    S.STARTING: (NOTHING,),
    S.WAITING_FOR_STATE: (CONNECTED, CONNECTED),
    S.SYNCING: (MEASURED,) * 3,
    S.HOMING: (SYNCED,) * 4,
    S.SELF_TEST: (HOME,) * 5,
    S.READY: (GOOD,) * 6,
    S.ENGAGED: (*(GOOD,) * 5, replace(GOOD, engage_requested=True), GOOD),
    S.ERROR_RECOVERY: (*(GOOD,) * 5, replace(GOOD, fault=True), GOOD),
    S.FAILED: (*(GOOD,) * 5, replace(GOOD, fatal=True), GOOD),
    S.ESTOPPED: (*(GOOD,) * 5, replace(GOOD, estop_pressed=True), GOOD),
}
"""Updates that lead to a state; repeating the last one leaves it there."""


class Driver:
    """An `Engagement` with a clock of its own."""

    def __init__(self, config: EngagementConfig | None = None) -> None:
        self.machine = Engagement(config)
        self.now = 100.0
        self.status = self.machine.update(self.now, NOTHING)

    def feed(self, *updates: EngagementInputs, dt: float = 0.01) -> EngagementState:
        for inputs in updates:
            self.now += dt
            # An equal copy: the robot side makes a new object in every cycle.
            self.status = self.machine.update(self.now, replace(inputs))
        return self.status.state

    @classmethod
    def into(cls, state: EngagementState, config: EngagementConfig | None = None) -> "Driver":
        driver = cls(config)
        assert driver.feed(*PATHS[state]) is state
        assert driver.feed(PATHS[state][-1]) is state
        return driver
