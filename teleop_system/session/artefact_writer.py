# SPDX-License-Identifier: Apache-2.0
"""Evaluates a recorded run and writes its artefacts: arrays, figures and the report."""

import datetime
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Severity
from teleop_system.robot_side.engagement_table import EngagementState
from teleop_system.robots import RobotDescription
from teleop_system.session.artefacts import RunFolder
from teleop_system.session.recorder import STATES, SessionRecorder
from teleop_system.session.report import ReportData, write_report
from teleop_system.session.report.charts import Band
from teleop_system.session.report.metrics import (
    BaseMetrics,
    JointMetrics,
    TrackingMetrics,
    base_metrics,
    joint_metrics,
    tracking_metrics,
)
from teleop_system.session.report.panels import Section
from teleop_system.session.runner import SessionRunner
from teleop_system.session.session import TeleopSession
from teleop_system.settings import TeleopSettings
from teleop_system.utils.plain_values import to_yaml

Array = NDArray[np.float64]

_BANDS = {
    EngagementState.HOMING: "system",
    EngagementState.SELF_TEST: "system",
    EngagementState.ERROR_RECOVERY: "hold",
    EngagementState.FAILED: "stop",
    EngagementState.ESTOPPED: "stop",
}


@dataclass(slots=True)
class RunOutcome:
    """Results of a run.

    Attributes:
        tracking: Tracking errors of each chain.
        joints: Motion of each joint.
        base: Motion of the base, or None.
        interventions: Number of interventions by rule.
        holds: Number of interventions that held a part or stopped the robot.
        self_contacts: Pairs of links that touched; None if contacts were not checked.
        folder: The run's folder, or None if nothing was written.
        report: The report, or None.
    """

    tracking: list[TrackingMetrics] = field(default_factory=list)
    joints: list[JointMetrics] = field(default_factory=list)
    base: BaseMetrics | None = None
    interventions: dict[str, int] = field(default_factory=dict)
    holds: int = 0
    self_contacts: Sequence[tuple[str, str]] | None = None
    folder: Path | None = None
    report: Path | None = None


def evaluate_run(
    session: TeleopSession,
    robot: RobotDescription,
    self_contacts: Sequence[tuple[str, str]] | None = None,
) -> RunOutcome:
    """Return the figures of a recorded run; an empty outcome if nothing was recorded."""
    recorder = session.recorder
    if recorder is None or not len(recorder.trace):
        return RunOutcome(self_contacts=self_contacts)
    columns = recorder.trace.columns()
    outcome = RunOutcome(
        tracking=tracking_metrics(columns, recorder.chains, robot, recorder.joints),
        joints=joint_metrics(columns, robot, recorder.joints),
        base=base_metrics(columns),
        self_contacts=self_contacts,
    )
    for event in recorder.events.interventions:
        outcome.interventions[event.rule.id] = outcome.interventions.get(event.rule.id, 0) + 1
        outcome.holds += event.severity >= Severity.HOLD
    return outcome


def write_artefacts(
    folder: RunFolder,
    outcome: RunOutcome,
    session: TeleopSession,
    runner: SessionRunner,
    settings: TeleopSettings,
    *,
    picture: Path | None = None,
    sections: Sequence[Section] = (),
) -> RunOutcome:
    """Write arrays, figures and the report of a run into its folder.

    Args:
        folder: The folder; configuration, environment and events are already in it.
        outcome: The figures.
        session: The finished session.
        runner: The runner of the session.
        settings: The settings of the session.
        picture: A picture to show in the report.
        sections: Further sections of the report.
    """
    recorder = session.recorder
    outcome.folder = folder.path
    if recorder is None or not len(recorder.trace):
        return outcome
    recorder.trace.save(folder / folder.TRACE, joints=np.array(recorder.joints))
    recorder.inputs.save(folder / folder.INPUTS)
    folder.write_json(folder.TIMING, _timing(session, runner))
    folder.write_json(folder.METRICS, _metrics(outcome, runner))
    data = _report_data(folder, outcome, session, runner, settings, recorder)
    data.picture = picture
    data.sections = sections
    outcome.report = write_report(data, folder / folder.REPORT)
    return outcome


def _timing(session: TeleopSession, runner: SessionRunner) -> dict[str, Any]:
    scheduler, history = runner.scheduler, session.timer.history
    return {
        "unit": "s",
        "rate": session.rate,
        "overruns": scheduler.overruns.total,
        "skipped": scheduler.skipped,
        "loop": {name: asdict(each) for name, each in scheduler.summary().items()},
        "stages": {name: asdict(each) for name, each in history.summary().items()},
    }


def _metrics(outcome: RunOutcome, runner: SessionRunner) -> dict[str, Any]:
    summary = runner.summary
    return {
        "duration": summary.duration,
        "elapsed": summary.elapsed,
        "speed": summary.speed,
        "ticks": summary.ticks,
        "interrupted": summary.interrupted,
        "state": summary.state,
        "tracking": {entry.chain: entry.figures for entry in outcome.tracking},
        "base": outcome.base,
        "interventions": outcome.interventions,
        "holds": outcome.holds,
        "self_contacts": outcome.self_contacts,
        "joints": {joint.name: joint for joint in outcome.joints},
    }


def _report_data(
    folder: RunFolder,
    outcome: RunOutcome,
    session: TeleopSession,
    runner: SessionRunner,
    settings: TeleopSettings,
    recorder: SessionRecorder,
) -> ReportData:
    columns, summary = recorder.trace.columns(), runner.summary
    environment = json.loads((folder / folder.ENVIRONMENT).read_text(encoding="utf-8"))
    started = datetime.datetime.fromisoformat(environment["started"])
    loop = runner.scheduler.history
    deviation = loop.column(runner.scheduler.ACTUAL) - loop.column(runner.scheduler.EXPECTED)
    modules = ", ".join(schedule.module.name for schedule in session.schedules)
    return ReportData(
        title=f"{settings.robot.name}: {modules}",
        subtitle=(
            f"{started:%d %B %Y, %H:%M} · {summary.duration:.1f} s in {settings.session.mode} "
            f"at {session.rate:g} Hz"
        ),
        duration=summary.duration,
        speed=summary.speed,
        period=1.0 / session.rate,
        columns=columns,
        parts={name: part.columns for name, part in session.robot_side.safety.parts.items()},
        joint_names=recorder.joints,
        tracking=outcome.tracking,
        joints=outcome.joints,
        base=outcome.base,
        states=state_bands(columns["time"], columns["state"], columns["following"]),
        interventions=recorder.events.interventions,
        stages=session.timer.summary(),
        compute=session.timer.history.column(session.timer.TOTAL),
        jitter=np.abs(deviation) if deviation.any() else np.empty(0),
        overruns=summary.overruns,
        self_contacts=outcome.self_contacts,
        plan=session.plan,
        config=to_yaml(settings),
        environment=environment,
    )


def state_bands(time: Array, state: Array, following: Array) -> list[Band]:
    """Return the time spans in which the robot did not follow the operator."""
    if not time.size:
        return []
    numbers = np.where(following > 0.5, -1, state).astype(int)
    changes = np.flatnonzero(np.diff(numbers)) + 1
    starts = [0, *changes.tolist()]
    ends = [*changes.tolist(), len(numbers) - 1]
    bands = []
    for first, last in zip(starts, ends, strict=True):
        number = int(numbers[first])
        if number >= 0:
            found = STATES[number]
            kind = _BANDS.get(found, "idle")
            bands.append(Band(float(time[first]), float(time[last]), kind, found.value))
    return bands
