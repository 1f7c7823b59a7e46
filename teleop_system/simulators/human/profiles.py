# SPDX-License-Identifier: Apache-2.0
"""The courses that human movements take in time."""

import math

PEAK_SPEED = 1.875
"""Largest slope of `minimum_jerk`: a reach of 1 m in 1 s passes its middle at 1.875 m/s."""


def minimum_jerk(fraction: float) -> float:
    """Return how much of a reach is done after a fraction of its time, both from 0 to 1.

    The smoothest course from rest to rest, and the one that hands take (Flash and Hogan, 1985):
    velocity and acceleration are zero at both ends.
    """
    s = min(max(fraction, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


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
