# SPDX-License-Identifier: Apache-2.0
"""Runs every controller at its own rate within one loop."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Cause
from teleop_system.session.modules import ModuleOutput, TeleopModule
from teleop_system.session.signals import Samples
from teleop_system.timing.scheduler import RateDivider

Array = NDArray[np.float64]


class ModuleSchedule:
    """One controller, when it is due, and its last causes.

    Args:
        module: The controller.
        loop_rate: Ticks of the loop per second in [Hz]; a faster controller runs in every tick.

    Attributes:
        module: The controller.
        causes: The causes of its last update.
        updates: Number of updates so far.
    """

    def __init__(self, module: TeleopModule, loop_rate: float) -> None:
        self.module = module
        self.causes: tuple[Cause, ...] = ()
        self.updates = 0
        rate = min(module.rate, loop_rate)
        share = (Fraction(rate) / Fraction(loop_rate)).limit_denominator(1_000_000)
        self._divider = RateDivider(share, loop_rate)
        self._period = 1.0 / rate
        self._last = -math.inf
        self._runs_next_tick = False

    def run_next_tick(self) -> None:
        """Make the controller due in the next tick."""
        self._runs_next_tick = True

    def update(
        self, tick: int, samples: Samples, *, now: float, engaged: bool, commanded: Array
    ) -> ModuleOutput | None:
        """Run the controller at time `now` [s] if it is due in the tick of this number.

        Call it once per tick.
        """
        if not self._divider.is_due_at(tick) and not self._runs_next_tick:
            return None
        self._runs_next_tick = False
        dt = now - self._last if self.updates else self._period
        self._last = now
        self.updates += 1
        output = self.module.update(samples, now=now, dt=dt, engaged=engaged, commanded=commanded)
        self.causes = output.causes
        return output
