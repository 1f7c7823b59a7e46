# SPDX-License-Identifier: Apache-2.0
"""A recorded trial run and its verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Severity
from teleop_system.session.artefacts import Intervention
from teleop_system.session.runner import StatusCallback
from teleop_system.session.session import TeleopSession
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.tools.teleop_run import TeleopResult, run_teleop

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One judged criterion.

    Attributes:
        what: The criterion.
        found: The measured value.
        passed: Whether the criterion holds.
    """

    what: str
    found: str
    passed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A run and its recorded data.

    Attributes:
        result: Result of the run.
        columns: The trace, by column.
        parts: Columns of joint vectors by part.
        interventions: Holds and limits of the robot.
    """

    result: TeleopResult
    columns: dict[str, Array]
    parts: dict[str, slice]
    interventions: Sequence[Intervention]

    def commands(self, part: str) -> Array:
        """Return the commands of a part in [rad] or [m], shape (T, N)."""
        values = self.columns["commands"][:, self.parts[part]]
        return values[np.isfinite(values).all(axis=1)]

    def error(self, part: str) -> float:
        """Return the RMS difference between commanded and measured positions in [rad] or [m]."""
        difference = (self.columns["commands"] - self.columns["measured"])[:, self.parts[part]]
        return float(np.sqrt(np.nanmean(difference**2)))

    @property
    def holds(self) -> list[Intervention]:
        """The interventions that held a part or stopped the robot."""
        return [each for each in self.interventions if each.severity >= Severity.HOLD]


def run_recorded(
    overrides: Sequence[str],
    *,
    window: bool | None = False,
    on_status: StatusCallback | None = None,
) -> Trial:
    """Run a session with overrides and return its recorded data.

    Args:
        overrides: Changes to the configuration.
        window: Whether to open a window; None for one if there is a display.
        on_status: Called several times per second with the status.
    """
    settings: TeleopSettings = load_settings(list(overrides))
    built: list[TeleopSession] = []
    result = run_teleop(
        settings, window=window, film=False, on_built=built.append, on_status=on_status
    )
    session = built[0]
    recorder = session.recorder
    assert recorder is not None
    return Trial(
        result,
        recorder.trace.columns(),
        {name: part.columns for name, part in session.robot_side.safety.parts.items()},
        recorder.events.interventions,
    )
