# SPDX-License-Identifier: Apache-2.0
"""A clutch that reports over a network opens when it falls silent."""

from teleop_system.robot_side.intake import ClutchMonitor


def test_a_system_without_a_clutch_has_it_closed() -> None:
    clutch = ClutchMonitor()
    assert clutch.is_closed(0.0) and clutch.is_closed(1e6)


def test_a_clutch_that_falls_silent_opens() -> None:
    clutch = ClutchMonitor()
    clutch.receive(True, 10.0)
    assert clutch.is_closed(10.5)
    assert not clutch.is_closed(10.51)
    clutch.receive(True, 12.0)
    assert clutch.is_closed(12.1)


def test_an_open_clutch_is_open_at_once() -> None:
    clutch = ClutchMonitor()
    clutch.receive(True, 1.0)
    clutch.receive(False, 1.1)
    assert not clutch.is_closed(1.1)
