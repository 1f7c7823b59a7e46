# SPDX-License-Identifier: Apache-2.0
"""Velocities become positions, which never run far ahead of the robot."""

import numpy as np

from teleop_system.robot_side.intake import VelocityIntegrator


def test_velocities_add_up_to_positions() -> None:
    door, place = VelocityIntegrator(), np.array([1.0])
    for tick in range(101):
        place = door.position(np.array([0.5]), tick * 0.01, place)
    np.testing.assert_allclose(place, [1.5])


def test_a_joint_that_is_held_back_does_not_catch_up_later() -> None:
    door, held = VelocityIntegrator(), np.array([1.0])
    for tick in range(500):
        wish = door.position(np.array([0.5]), tick * 0.01, held)
    np.testing.assert_allclose(wish, [1.05])


def test_a_gap_or_a_repeated_stamp_moves_nothing() -> None:
    door, held = VelocityIntegrator(), np.array([0.0])
    door.position(np.array([1.0]), 0.0, held)
    for stamp in (0.0, 5.0, 4.0):
        np.testing.assert_array_equal(door.position(np.array([1.0]), stamp, held), held)
