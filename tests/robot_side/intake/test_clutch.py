# SPDX-License-Identifier: Apache-2.0
"""A clutch that is heard over a network opens when it falls silent."""

from teleop_system.robot_side.intake import ClutchMonitor


def test_a_system_without_a_clutch_has_it_closed() -> None:
    watch = ClutchMonitor()
    assert watch.is_closed(0.0) and watch.is_closed(1e6)


def test_a_clutch_that_falls_silent_opens() -> None:
    watch = ClutchMonitor()
    watch.receive(True, 10.0)
    assert watch.is_closed(10.5)
    assert not watch.is_closed(10.51)
    watch.receive(True, 12.0)
    assert watch.is_closed(12.1)


def test_an_open_clutch_is_open_at_once() -> None:
    watch = ClutchMonitor()
    watch.receive(True, 1.0)
    watch.receive(False, 1.1)
    assert not watch.is_closed(1.1)
