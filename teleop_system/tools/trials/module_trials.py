# SPDX-License-Identifier: Apache-2.0
"""One trial per module: it runs alone, and is judged by what its part of the robot did."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from teleop_system.exceptions import UnknownNameError
from teleop_system.session.runner import StatusCallback
from teleop_system.tools.trials.trial import Trial, Verdict, run_recorded

POSITION_GOAL = 0.015
"""RMS distance of a hand from where the operator wants it in [m]."""
ORIENTATION_GOAL = 3.0
"""The same for its orientation in [°]."""


@dataclass(frozen=True, slots=True)
class ModuleTrial:
    """How a module is tried.

    Attributes:
        module: The module.
        shows: What there is to see.
        duration: Simulated time in [s].
        overrides: Settings that it needs.
        judge: Looks at what came out.
    """

    module: str
    shows: str
    duration: float
    judge: Callable[[Trial], list[Verdict]]
    overrides: tuple[str, ...] = ()


def run_trial(
    module: str,
    overrides: Sequence[str] = (),
    *,
    window: bool | None = False,
    on_status: StatusCallback | None = None,
) -> tuple[Trial, list[Verdict]]:
    """Run the trial of a module; return what was recorded and the verdicts.

    Raises:
        UnknownNameError: There is no such module.
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
    return recorded, [*trial.judge(recorded), _unhindered(recorded)]


def _unhindered(trial: Trial) -> Verdict:
    rules = sorted({f"{each.rule.id} {each.subject}" for each in trial.holds})
    return Verdict("nothing is held on the way", ", ".join(rules) or "no hold", not rules)


def _judge_arm(trial: Trial) -> list[Verdict]:
    verdicts = []
    for entry in trial.result.outcome.tracking:
        if not entry.chain.endswith("arm"):
            continue  # The torso gives way to the hands, so its own error is no fault.
        numbers = entry.figures
        place, turn = numbers["position_rms"], float(np.degrees(numbers["orientation_rms"]))
        verdicts.append(
            Verdict(
                f"{entry.chain} stays within {1e3 * POSITION_GOAL:.0f} mm and "
                f"{ORIENTATION_GOAL:.0f}° (RMS) of the operator",
                f"{1e3 * place:.1f} mm, {turn:.2f}°",
                place <= POSITION_GOAL and turn <= ORIENTATION_GOAL,
            )
        )
    contacts = trial.result.outcome.self_contacts or []
    listed = ", ".join(f"{a} and {b}" for a, b in contacts)
    return [*verdicts, Verdict("nothing touches itself", listed or "no contact", not contacts)]


def _judge_hand(trial: Trial) -> list[Verdict]:
    verdicts = []
    for part in (name for name in trial.parts if name.endswith("_hand")):
        way = float(np.ptp(trial.commands(part), axis=0).max())
        verdicts.append(Verdict(f"{part} opens and closes", f"moved by {way:.3f}", way > 0.02))
        error = trial.error(part)
        verdicts.append(
            Verdict(f"{part} gets there", f"{1e3 * error:.1f} mrad or mm", error < 0.1)
        )
    return verdicts


def _judge_locomotion(trial: Trial) -> list[Verdict]:
    base = trial.result.outcome.base
    if base is None:
        return [Verdict("the base drives as the operator steps", "it never moved", False)]
    sideways = float(np.ptp(trial.columns["odometry"][:, 1]))
    before = trial.columns["time"] < 9.0
    rest = float(np.abs(np.nan_to_num(trial.columns["base_command"][before])).max())
    near = abs(base.driven - base.commanded) <= 0.15 * abs(base.commanded) + 0.05
    return [
        Verdict("a standing operator means zero, exactly", f"{rest:g} m/s", rest == 0.0),
        Verdict(
            "the base drives as the operator steps",
            f"{base.driven:.2f} m for {base.commanded:.2f} m",
            near and base.driven > 0.3,
        ),
        Verdict("it goes straight", f"{1e3 * sideways:.0f} mm sideways", sideways < 0.1),
    ]


def _judge_camera(trial: Trial) -> list[Verdict]:
    way = np.ptp(trial.commands("head"), axis=0)
    error = trial.error("head")
    return [
        Verdict("the head pans", f"{np.degrees(way[0]):.0f}°", bool(way[0] > 0.1)),
        Verdict("the head tilts", f"{np.degrees(way[-1]):.0f}°", bool(way[-1] > 0.05)),
        Verdict("the neck gets there", f"{np.degrees(error):.2f}° RMS", error < 0.05),
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
            "the base stands, then drives as a simulated operator steps on the spot",
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
