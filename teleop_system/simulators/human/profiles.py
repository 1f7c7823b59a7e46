# SPDX-License-Identifier: Apache-2.0
"""Time profiles of human movements."""

import math

from teleop_system.utils.minimum_jerk import minimum_jerk


def lift(fraction: float) -> float:
    """Return the height of a foot in one step, from 0 to 1 and back to 0.

    Velocity and acceleration are zero at both ends.
    """
    s = min(max(fraction, 0.0), 1.0)
    return 64.0 * (s * (1.0 - s)) ** 3


def sway(time: float, frequency: float) -> float:
    """Return a sine whose amplitude grows from 0 to 1 within the first period."""
    swell = minimum_jerk(time * frequency)
    return swell * math.sin(2.0 * math.pi * frequency * time)
