# SPDX-License-Identifier: Apache-2.0
"""Detects stepping in place: alternating feet are lifted and put down in the same spot."""

from teleop_system.modules.locomotion.config import GaitConfig
from teleop_system.modules.locomotion.foot_motion import FootMotion

CADENCE_SHARE = 0.5
"""Weight of the newest step in the cadence; one half follows a change within two steps."""
CADENCE_SLACK = 1.3
"""Ratio of step durations above which the cadence is lowered before the next step."""


class StepCounter:
    """Counts alternating lifts and estimates their cadence."""

    def __init__(self, config: GaitConfig) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Forget every step."""
        self._count = 0
        self._last_side = ""
        self._last_lift = 0.0
        self._cadence = 0.0

    @property
    def is_stepping(self) -> bool:
        """Whether enough alternating steps were made."""
        return self._count >= self._config.steps_to_start

    def update(self, feet: dict[str, FootMotion], lifted: list[str], now: float) -> None:
        """Count the feet in `lifted`; discard steps that ended elsewhere."""
        if now - self._last_lift > self._config.longest_step:
            self._count = 0
        for side in lifted:
            self._count_lift(side, now)
        # A step with displacement or rotation is walking or turning, which `BodyMotion` measures.
        if not all(foot.landed_in_place for foot in feet.values()):
            self._count = min(self._count, len(lifted))

    def cadence(self, now: float) -> float:
        """Return the cadence in [Hz], lowered while the next step is overdue."""
        if not self.is_stepping:
            return 0.0
        overdue = (now - self._last_lift) * self._cadence / CADENCE_SLACK
        return self._cadence / max(1.0, overdue)

    def _count_lift(self, side: str, now: float) -> None:
        interval = now - self._last_lift
        config = self._config
        alternates = side != self._last_side and self._count > 0
        if alternates and interval < config.shortest_step:
            self._count = 0
        elif alternates and interval <= config.longest_step:
            frequency = 1.0 / interval
            share = CADENCE_SHARE if self._count > 1 else 1.0
            self._cadence += share * (frequency - self._cadence)
            self._count += 1
        else:
            self._count = 1
        self._last_side, self._last_lift = side, now
