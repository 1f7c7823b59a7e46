# SPDX-License-Identifier: Apache-2.0
"""What all rules of one cycle start from: the present motion, and how it would brake."""

from teleop_system.safety.motion.motion_state import MotionState
from teleop_system.safety.motion.trajectories import Trajectories


class Step:
    """One step of motion that is being decided on.

    Args:
        trajectories: Tells how the joints brake.
        state: The present motion.
        duration: Length of the step in [s].
    """

    __slots__ = ("_braked", "_trajectories", "duration", "state")

    def __init__(self, trajectories: Trajectories, state: MotionState, duration: float) -> None:
        self.state = state
        self.duration = duration
        self._trajectories = trajectories
        self._braked: MotionState | None = None

    @property
    def braked(self) -> MotionState:
        """The motion after the step if every joint brakes; computed when first asked for."""
        if self._braked is None:
            self._braked = self._trajectories.braked(self.state, self.duration)
        return self._braked
