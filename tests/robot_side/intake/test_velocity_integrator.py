# SPDX-License-Identifier: Apache-2.0
"""Velocities become positions, which never run far ahead of the robot."""

import numpy as np

from teleop_system.robot_side.intake import VelocityIntegrator


def test_velocities_add_up_to_positions() -> None:
    integrator, position = VelocityIntegrator(), np.array([1.0])
    for tick in range(101):
        position = integrator.position(np.array([0.5]), tick * 0.01, position)
    np.testing.assert_allclose(position, [1.5])


def test_a_joint_that_is_held_back_does_not_catch_up_later() -> None:
    integrator, held = VelocityIntegrator(), np.array([1.0])
    for tick in range(500):
        position = integrator.position(np.array([0.5]), tick * 0.01, held)
    np.testing.assert_allclose(position, [1.05])


def test_a_gap_or_a_repeated_stamp_moves_nothing() -> None:
    integrator, held = VelocityIntegrator(), np.array([0.0])
    integrator.position(np.array([1.0]), 0.0, held)
    for stamp in (0.0, 5.0, 4.0):
        np.testing.assert_array_equal(integrator.position(np.array([1.0]), stamp, held), held)
