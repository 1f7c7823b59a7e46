# SPDX-License-Identifier: Apache-2.0
"""The demonstration in five steps; each step adds more of the robot."""

from collections.abc import Sequence
from dataclasses import dataclass

from teleop_system.exceptions import UnknownNameError
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.session.runner import StatusCallback
from teleop_system.tools.trials.trial import Criterion, Trial, run_recorded


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One step of the demonstration.

    Attributes:
        shows: What the step shows.
        overrides: Settings of the step.
    """

    shows: str
    overrides: tuple[str, ...]


STEPS: dict[int, DemoStep] = {
    1: DemoStep(
        "the robot starts automatically: it connects, homes, tests its hands, and is ready",
        ("session.auto_engage=false", "operator.duration=4"),
    ),
    2: DemoStep(
        "both arms and the torso follow a sine: the inverse kinematics at work",
        (
            "session.modules=[arm]",
            "operator=sinusoid",
            "operator.amplitude=0.04",
            "operator.duration=10",
        ),
    ),
    3: DemoStep(
        "both arms and the torso follow a person who reaches for things",
        ("session.modules=[arm]", "operator.duration=12"),
    ),
    4: DemoStep(
        "hands and head follow as well",
        ("session.modules=[arm,hand,camera]", "operator.duration=12"),
    ),
    5: DemoStep(
        "the whole body: arms, torso, hands, head, and the base that drives as the operator steps",
        ("operator.duration=20",),
    ),
}
"""The steps by number."""


def run_step(
    number: int,
    overrides: Sequence[str] = (),
    *,
    window: bool | None = None,
    on_status: StatusCallback | None = None,
) -> tuple[Trial, list[Criterion]]:
    """Run a step of the demonstration; return the recorded trial and the verdicts.

    Raises:
        UnknownNameError: The step does not exist.
    """
    if number not in STEPS:
        raise UnknownNameError("step", str(number), map(str, STEPS))
    chosen = [*STEPS[number].overrides, *overrides]
    trial = run_recorded(chosen, window=window, on_status=on_status)
    expected = EngagementState.READY if number == 1 else EngagementState.ENGAGED
    state = trial.result.summary.state
    holds = sorted({f"{each.rule.id} {each.subject}" for each in trial.holds})
    verdicts = [
        Criterion(f"the final state is {expected.value}", state.value, state is expected),
        Criterion("no part is held", ", ".join(holds) or "no hold", not holds),
    ]
    verdicts += [
        Criterion(
            f"{entry.chain} stays within 15 mm (RMS) of the operator",
            f"{1e3 * entry.figures['position_rms']:.1f} mm",
            entry.figures["position_rms"] <= 0.015,
        )
        for entry in trial.result.outcome.tracking
        if number > 1
    ]
    return trial, verdicts
