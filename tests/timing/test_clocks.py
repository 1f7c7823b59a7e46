# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from teleop_system.exceptions import InvalidValueError
from teleop_system.timing.clocks import PreciseClock, VirtualClock


class LateSystem:
    """A system whose clock advances with every reading, and whose sleep ends `delay` [s] late."""

    def __init__(self, delay: float) -> None:
        self.time = 100.0
        self.delay = delay
        self.spins = 0

    def now(self) -> float:
        self.time += 1e-6
        self.spins += 1
        return self.time

    def sleep(self, duration: float) -> None:
        assert duration > 0.0
        self.time += duration + self.delay

    def clock(self, max_spin: float) -> PreciseClock:
        return PreciseClock(max_spin, now=self.now, sleep=self.sleep)


def lateness(clock: PreciseClock, system: LateSystem, rounds: int) -> list[float]:
    late = []
    for _ in range(rounds):
        deadline = system.time + 0.01
        clock.sleep_until(deadline)
        late.append(system.time - deadline)
    return late


@pytest.mark.parametrize("delay", [0.0, 50e-6, 150e-6, 400e-6])
def test_wakes_within_microseconds_once_the_delay_of_sleep_is_measured(delay: float) -> None:
    system = LateSystem(delay)
    late = lateness(system.clock(0.5e-3), system, 500)
    assert (
        max(late[100:]) <= 10e-6 + 2e-6
    )  # One step of the margin, and two readings of the clock.
    assert min(late) >= 0.0


def test_spins_little_if_sleep_is_exact() -> None:
    system = LateSystem(delay=0.0)
    clock = system.clock(0.5e-3)
    lateness(clock, system, 1000)
    assert clock.margin <= 20e-6


def test_never_spins_longer_than_allowed() -> None:
    system = LateSystem(delay=5e-3)
    clock = system.clock(0.3e-3)
    lateness(clock, system, 1000)
    assert clock.margin == pytest.approx(0.3e-3)


def test_one_long_delay_hardly_moves_the_margin() -> None:
    system = LateSystem(delay=100e-6)
    clock = system.clock(0.5e-3)
    lateness(clock, system, 300)
    before = clock.margin
    system.delay = 1.0
    lateness(clock, system, 1)
    assert clock.margin - before <= 10e-6


def test_returns_at_once_when_the_deadline_has_passed() -> None:
    system = LateSystem(delay=0.0)
    system.clock(0.5e-3).sleep_until(50.0)
    assert system.time < 100.0 + 5e-6


@pytest.mark.parametrize("max_spin", [-1e-6, math.nan, math.inf])
def test_rejects_a_spin_that_is_not_a_duration(max_spin: float) -> None:
    with pytest.raises(InvalidValueError, match="max_spin"):
        PreciseClock(max_spin)


def test_virtual_time_passes_only_by_waiting_or_by_work() -> None:
    clock = VirtualClock(start=5.0)
    clock.sleep_until(7.0)
    clock.advance(0.5)
    clock.sleep_until(6.0)
    assert clock.now() == 7.5


def test_virtual_time_cannot_run_back() -> None:
    with pytest.raises(InvalidValueError, match="back"):
        VirtualClock().advance(-1.0)
