# SPDX-License-Identifier: Apache-2.0
"""The courses that human movements take in time."""

import math

from teleop_system.utils.minimum_jerk import minimum_jerk


def lift(fraction: float) -> float:
    """Return the height, from 0 to 1 and back, of a foot that is lifted and put down again.

    Velocity and acceleration are zero at both ends.
    """
    s = min(max(fraction, 0.0), 1.0)
    return 64.0 * (s * (1.0 - s)) ** 3


def sway(time: float, frequency: float) -> float:
    """Return a sine between -1 and 1 that swells up within one period after time 0."""
    swell = minimum_jerk(time * frequency)
    return swell * math.sin(2.0 * math.pi * frequency * time)
