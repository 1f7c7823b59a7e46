# SPDX-License-Identifier: Apache-2.0
"""Limits that a sample has to meet; the same for every source unless a config file differs."""

from dataclasses import dataclass

from teleop_system.safety.staleness import FUTURE_TOLERANCE, HEAD_SAMPLE, SAMPLE
from teleop_system.utils.validators import require_non_negative, require_positive


@dataclass(frozen=True, slots=True)
class GateConfig:
    """What a sample has to meet before a controller may use it."""

    stale_after: float = SAMPLE.timeout
    """Greatest age of a usable sample in [s]."""
    ahead: float = FUTURE_TOLERANCE
    """How far in [s] a stamp may lie in the future; drivers predict by about a frame."""
    speed: float = 10.0
    """Speed in [m/s] above which a body has jumped; a runner's foot stays below."""
    distance: float = 0.1
    """Distance in [m] that never counts as a jump, however short the time."""
    turn_speed: float = 40.0
    """Angular speed in [rad/s] above which a body has jumped; a runner's foot reaches 30."""
    turn: float = 0.5
    """Angle in [rad] that never counts as a jump, however short the time."""

    def __post_init__(self) -> None:
        require_positive(self, "stale_after", "speed", "turn_speed")
        require_non_negative(self, "ahead", "distance", "turn")


# A tick of 30 Hz has to fit between the time-out and the promised reaction, and a head turns
# more slowly than a hand.
HEAD_GATE = GateConfig(stale_after=HEAD_SAMPLE.timeout, turn=0.3, turn_speed=20.0)
"""The limits for a head."""
