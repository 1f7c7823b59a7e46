# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np

from teleop_system.modules.camera.streaming.clock_sync import ClockSync


def test_the_offset_of_a_remote_clock_is_found_despite_uneven_delays() -> None:
    rng = np.random.default_rng(0)
    clock, offset = ClockSync(), 5_000_000_000
    for ping in range(12):
        sent = 1_000_000_000 * ping
        there, back = (int(value) for value in rng.exponential(2e6, 2) + 2e5)
        received = sent + there + offset
        answered = received + 30_000
        clock.add(sent=sent, received=received, answered=answered, now=answered - offset + back)
    assert abs(clock.offset - offset) <= clock.round_trip / 2
    assert abs(clock.to_local(offset + 77) - 77) <= clock.round_trip / 2


def test_the_fastest_ping_counts() -> None:
    clock = ClockSync()
    clock.add(sent=0, received=900, answered=900, now=1000)
    clock.add(sent=2000, received=2010, answered=2010, now=2020)
    clock.add(sent=3000, received=3000, answered=3000, now=3500)
    assert (clock.round_trip, clock.offset) == (20, 0)


def test_an_old_ping_is_forgotten_as_clocks_drift() -> None:
    clock = ClockSync()
    clock.add(sent=0, received=10, answered=10, now=20)
    late = 60_000_000_000
    clock.add(sent=late, received=late + 5100, answered=late + 5100, now=late + 200)
    assert clock.offset == 5000


def test_impossible_pings_are_ignored() -> None:
    clock = ClockSync()
    assert not clock.add(sent=10, received=0, answered=0, now=5)
    assert not clock.add(sent=0, received=10, answered=5, now=20)
    assert not clock.add(sent=0, received=0, answered=100, now=50)
    assert not clock.is_known
    assert clock.offset == 0
    assert not math.isnan(clock.round_trip)
