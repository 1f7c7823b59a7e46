# SPDX-License-Identifier: Apache-2.0
"""The minimum-jerk curve: the smoothest motion from rest to rest, and a model of human hands.

See Flash and Hogan, "The coordination of arm movements" (1985).
"""

PEAK_SPEED = 1.875
"""Largest slope of `minimum_jerk`: a motion of 1 m in 1 s passes its middle at 1.875 m/s."""


def minimum_jerk(share: float) -> float:
    """Return the share of the distance, from 0 to 1, after a share of the time."""
    share = min(max(share, 0.0), 1.0)
    return share**3 * (10.0 + share * (6.0 * share - 15.0))
