# SPDX-License-Identifier: Apache-2.0
"""A command is checked once, and ordered as its part is."""

import numpy as np

from teleop_system.safety import Part, PartCommand
from teleop_system.safety.command_check import CheckedCommand, CommandCheck

PART = Part("arm", ("a", "b", "c"), slice(0, 3))


def test_positions_come_in_the_order_of_the_part() -> None:
    checked = CommandCheck(PART).read(PartCommand([3.0, 1.0, 2.0], 5.0, ("c", "a", "b")))
    assert isinstance(checked, CheckedCommand)
    np.testing.assert_array_equal(checked.positions, [1.0, 2.0, 3.0])
    assert checked.timestamp == 5.0


def test_a_checked_command_passes_as_it_is() -> None:
    check = CommandCheck(PART)
    checked = check.read(PartCommand([1.0, 2.0, 3.0], 5.0))
    assert isinstance(checked, CheckedCommand)
    assert check.read(checked) is checked


def test_a_sender_cannot_change_a_checked_command() -> None:
    positions = np.zeros(3)
    checked = CommandCheck(PART).read(PartCommand(positions, 5.0))
    assert isinstance(checked, CheckedCommand)
    positions[:] = np.nan
    assert not checked.positions.any()
