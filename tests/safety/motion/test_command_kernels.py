# SPDX-License-Identifier: Apache-2.0
"""The motion of a command is estimated as documented."""

import numpy as np

from teleop_system.safety.motion.command_kernels import CommandMotion, estimate_command


def estimated(requested: float) -> CommandMotion:
    """Return the estimate from rest at 0 within 1 rad, 2 rad/s and 10 rad/s²."""
    return estimate_command(requested, 0.01, 0.5, -1.0, 1.0, 2.0, 10.0, 0.0, 0.0, 0.0)


def test_the_estimated_motion_of_a_command_is_that_of_a_low_pass() -> None:
    # Half of 1 rad/s; the change of velocity within a period is clipped to 10 rad/s², and halved.
    np.testing.assert_allclose(estimated(0.01), [0.01, 0.5, 5.0, 0.0])


def test_a_command_outside_its_range_is_clipped_and_its_speed_too() -> None:
    np.testing.assert_allclose(estimated(5.0), [1.0, 1.0, 5.0, 4.0])
