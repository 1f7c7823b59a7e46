# SPDX-License-Identifier: Apache-2.0
"""The ramp that follows engaging: how much of full speed, or of the target, counts."""

from teleop_system.safety.config import RAMP_TIME
from teleop_system.utils.minimum_jerk import minimum_jerk

LEAST_SPEED = 0.01
"""Share of the largest speed with which a ramp begins."""


class EngageRamp:
    """Progress from 0 at engaging to 1 after a fixed time.

    The safety manager scales speed limits with what `advance` returns; a controller that has to
    catch up with the operator blends its target in with `blend`.

    Args:
        duration: Time to full size in [s].
    """

    def __init__(self, duration: float = RAMP_TIME) -> None:
        self._duration = duration
        self.restart()

    def restart(self) -> None:
        """Begin again."""
        self.progress = 0.0
        """Share of the ramp's time that has passed, from 0 to 1."""

    def advance(self, step: float) -> float:
        """Let `step` [s] pass; return the share of the largest speeds that is now allowed."""
        self.progress = min(1.0, self.progress + step / self._duration)
        # Below a straight line throughout, and gentle at the start, where it matters most.
        return max(LEAST_SPEED, self.progress * self.progress)

    @property
    def is_complete(self) -> bool:
        """Whether the ramp has ended."""
        return self.progress >= 1.0

    @property
    def blend(self) -> float:
        """Share of the target that counts, with zero velocity and acceleration at both ends."""
        return minimum_jerk(self.progress)
