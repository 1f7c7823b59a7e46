# SPDX-License-Identifier: Apache-2.0
"""Turns what a run left in memory into files: arrays, figures and the report."""

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
    judge_base,
    judge_joints,
    track,
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
    """What came out of a run.

    Attributes:
        tracking: How well end effectors followed, by chain.
        joints: How the joints moved.
        base: How the base moved, or None.
        interventions: How often each rule acted.
        holds: How many interventions held a part or stopped the robot.
        self_contacts: Pairs of links that touched; None where nobody looked.
        folder: The run's folder, or None where nothing was written.
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


def judge_run(
    session: TeleopSession,
    robot: RobotDescription,
    self_contacts: Sequence[tuple[str, str]] | None = None,
) -> RunOutcome:
    """Return the figures of a recorded run; an empty outcome where nothing was recorded."""
    recorder = session.recorder
    if recorder is None or not len(recorder.trace):
        return RunOutcome(self_contacts=self_contacts)
    columns = recorder.trace.columns()
    outcome = RunOutcome(
        tracking=track(columns, recorder.chains, robot, recorder.joints),
        joints=judge_joints(columns, robot, recorder.joints),
        base=judge_base(columns),
        self_contacts=self_contacts,
    )
    for event in recorder.events.interventions:
        outcome.interventions[event.rule.id] = outcome.interventions.get(event.rule.id, 0) + 1
        outcome.holds += event.severity >= Severity.HOLD
    return outcome


def write_run(
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
        folder: The folder; configuration, environment and events are there already.
        outcome: The figures.
        session: The session that is over.
        runner: Who ran it.
        settings: What it was run with.
        picture: A picture to show in the report.
        sections: What else the report should tell.
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
    waited = loop.column(runner.scheduler.ACTUAL) - loop.column(runner.scheduler.EXPECTED)
    modules = ", ".join(turn.module.name for turn in session.turns)
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
        parts={name: part.columns for name, part in session.safety.parts.items()},
        joint_names=recorder.joints,
        tracking=outcome.tracking,
        joints=outcome.joints,
        base=outcome.base,
        states=state_bands(columns["time"], columns["state"], columns["following"]),
        interventions=recorder.events.interventions,
        stages=session.timer.summary(),
        compute=session.timer.history.column(session.timer.TOTAL),
        jitter=np.abs(waited) if waited.any() else np.empty(0),
        overruns=summary.overruns,
        self_contacts=outcome.self_contacts,
        plan=session.plan,
        config=to_yaml(settings),
        environment=environment,
    )


def state_bands(time: Array, state: Array, following: Array) -> list[Band]:
    """Return the spans of time in which the operator did not move the robot."""
    if not time.size:
        return []
    kinds = np.where(following > 0.5, -1, state).astype(int)
    changes = np.flatnonzero(np.diff(kinds)) + 1
    starts = [0, *changes.tolist()]
    ends = [*changes.tolist(), len(kinds) - 1]
    bands = []
    for first, last in zip(starts, ends, strict=True):
        number = int(kinds[first])
        if number >= 0:
            which = STATES[number]
            name = _BANDS.get(which, "idle")
            bands.append(Band(float(time[first]), float(time[last]), name, which.value))
    return bands
