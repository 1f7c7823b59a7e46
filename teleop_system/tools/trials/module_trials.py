# SPDX-License-Identifier: Apache-2.0
"""One trial per module: it runs alone, and its part of the robot is judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from teleop_system.exceptions import UnknownNameError
from teleop_system.session.runner import StatusCallback
from teleop_system.tools.trials.trial import Criterion, Trial, run_recorded

POSITION_GOAL = 0.015
"""Largest RMS distance of a hand from its target in [m]."""
ORIENTATION_GOAL = 3.0
"""Largest RMS orientation error of a hand in [°]."""


@dataclass(frozen=True, slots=True)
class ModuleTrial:
    """The trial of a module.

    Attributes:
        module: The module.
        shows: What the trial shows.
        duration: Simulated time in [s].
        overrides: Settings of the trial.
        judge: Judges the recorded trial.
    """

    module: str
    shows: str
    duration: float
    judge: Callable[[Trial], list[Criterion]]
    overrides: tuple[str, ...] = ()


def run_trial(
    module: str,
    overrides: Sequence[str] = (),
    *,
    window: bool | None = False,
    on_status: StatusCallback | None = None,
) -> tuple[Trial, list[Criterion]]:
    """Run the trial of a module; return the recorded trial and the verdicts.

    Raises:
        UnknownNameError: The module does not exist.
    """
    if module not in TRIALS:
        raise UnknownNameError("module", module, TRIALS)
    trial = TRIALS[module]
    chosen = [
        f"session.modules=[{module}]",
        f"operator.duration={trial.duration}",
        *trial.overrides,
        *overrides,
    ]
    recorded = run_recorded(chosen, window=window, on_status=on_status)
    return recorded, [*trial.judge(recorded), _judge_holds(recorded)]


def _judge_holds(trial: Trial) -> Criterion:
    rules = sorted({f"{each.rule.id} {each.subject}" for each in trial.holds})
    return Criterion("no part is held", ", ".join(rules) or "no hold", not rules)


def _judge_arm(trial: Trial) -> list[Criterion]:
    verdicts = []
    for entry in trial.result.outcome.tracking:
        if not entry.chain.endswith("arm"):
            continue  # Hands have priority over the torso, so its error does not count.
        numbers = entry.figures
        distance, angle = numbers["position_rms"], float(np.degrees(numbers["orientation_rms"]))
        verdicts.append(
            Criterion(
                f"{entry.chain} stays within {1e3 * POSITION_GOAL:.0f} mm and "
                f"{ORIENTATION_GOAL:.0f}° (RMS) of the operator",
                f"{1e3 * distance:.1f} mm, {angle:.2f}°",
                distance <= POSITION_GOAL and angle <= ORIENTATION_GOAL,
            )
        )
    contacts = trial.result.outcome.self_contacts or []
    listed = ", ".join(f"{a} and {b}" for a, b in contacts)
    return [
        *verdicts,
        Criterion("no links touch each other", listed or "no contact", not contacts),
    ]


def _judge_hand(trial: Trial) -> list[Criterion]:
    verdicts = []
    for part in (name for name in trial.parts if name.endswith("_hand")):
        travel = float(np.ptp(trial.commands(part), axis=0).max())
        verdicts.append(
            Criterion(f"{part} opens and closes", f"moved by {travel:.3f}", travel > 0.02)
        )
        error = trial.error(part)
        verdicts.append(
            Criterion(f"{part} reaches its commands", f"{1e3 * error:.1f} mrad or mm", error < 0.1)
        )
    return verdicts


def _judge_locomotion(trial: Trial) -> list[Criterion]:
    base = trial.result.outcome.base
    if base is None:
        return [Criterion("the base drives as the operator steps", "it never moved", False)]
    sideways = float(np.ptp(trial.columns["odometry"][:, 1]))
    before = trial.columns["time"] < 9.0
    rest = float(np.abs(np.nan_to_num(trial.columns["base_command"][before])).max())
    near = abs(base.driven - base.commanded) <= 0.15 * abs(base.commanded) + 0.05
    return [
        Criterion(
            "the base command is exactly zero while the operator stands still",
            f"{rest:g} m/s",
            rest == 0.0,
        ),
        Criterion(
            "the base drives as the operator steps",
            f"{base.driven:.2f} m for {base.commanded:.2f} m",
            near and base.driven > 0.3,
        ),
        Criterion("the base drives straight", f"{1e3 * sideways:.0f} mm sideways", sideways < 0.1),
    ]


def _judge_camera(trial: Trial) -> list[Criterion]:
    travel = np.ptp(trial.commands("head"), axis=0)
    error = trial.error("head")
    return [
        Criterion("the head pans", f"{np.degrees(travel[0]):.0f}°", bool(travel[0] > 0.1)),
        Criterion("the head tilts", f"{np.degrees(travel[-1]):.0f}°", bool(travel[-1] > 0.05)),
        Criterion("the head reaches its commands", f"{np.degrees(error):.2f}° RMS", error < 0.05),
    ]


TRIALS: Mapping[str, ModuleTrial] = {
    trial.module: trial
    for trial in (
        ModuleTrial(
            "arm",
            "both arms and the torso follow the hands and the waist of a simulated operator",
            15.0,
            _judge_arm,
        ),
        ModuleTrial(
            "hand",
            "both hands follow the fingers of a simulated operator",
            12.0,
            _judge_hand,
        ),
        ModuleTrial(
            "locomotion",
            "the base stands still, then drives as a simulated operator steps in place",
            18.0,
            _judge_locomotion,
        ),
        ModuleTrial(
            "camera",
            "the head looks where a simulated operator looks",
            12.0,
            _judge_camera,
        ),
    )
}
"""The trial of every module."""
