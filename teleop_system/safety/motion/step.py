# SPDX-License-Identifier: Apache-2.0
"""What all rules of one cycle start from: the present motion, and how it would brake."""

import functools

from teleop_system.safety.motion.limits import Array, MotionLimits
from teleop_system.safety.motion.state import MotionState


class Step:
    """One step of motion that is being decided on.

    Args:
        limits: Limits of the joints.
        state: The present motion.
        duration: Length of the step in [s].
    """

    def __init__(self, limits: MotionLimits, state: MotionState, duration: float) -> None:
        self.state = state
        self.duration = duration
        self._limits = limits

    @functools.cached_property
    def braked(self) -> MotionState:
        """The motion after the step if every joint brakes."""
        return self._limits.braked(self.state, self.duration)

    def slowed(self, wanted: MotionState, share: Array) -> MotionState:
        """Return the motion between braking (share 0) and `wanted` (share 1), shape (N,)."""
        return self._limits.blended(self.braked, wanted, share)
