# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page about one run: style, plots and pictures are inside the file."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teleop_system.interfaces.causes import Severity
from teleop_system.session.artefacts import Intervention
from teleop_system.session.report.charts import (
    Band,
    Series,
    histogram,
    line_chart,
    path_chart,
)
from teleop_system.session.report.metrics import BaseMetrics, JointMetrics, TrackingMetrics
from teleop_system.session.report.panels import (
    Figure,
    Section,
    figures,
    interventions_table,
    joint_table,
    timeline,
    timing_table,
)
from teleop_system.session.report.style import STYLE
from teleop_system.session.signals import SignalPlan
from teleop_system.timing.stage_timer import TimingSummary

Array = NDArray[np.float64]

POSITION_GOAL = 0.015
"""Goal for the RMS position error of a hand in [m]."""
ORIENTATION_GOAL = np.radians(3.0)
"""Goal for the RMS orientation error of a hand in [rad]."""


@dataclass(slots=True)
class ReportData:
    """Contents of the page.

    Attributes:
        title: Robot and modules.
        subtitle: Date, duration and mode.
        duration: Session time in [s].
        speed: Session time divided by wall time.
        period: Nominal period of a tick in [s].
        columns: The trace, by column.
        parts: Slice of a joint vector by part.
        joint_names: All joints.
        tracking: Tracking errors of each chain.
        joints: Motion of each joint.
        base: Motion of the base, or None.
        states: Time spans in which the robot did not follow.
        interventions: What held or limited the robot.
        stages: Compute time of each stage of a tick.
        compute: Compute time of every tick in [s].
        jitter: Deviation of each period from nominal in [s]; empty for a run in simulated time.
        overruns: Ticks that started more than one period late.
        self_contacts: Pairs of links that touched; None if contacts were not checked.
        plan: Sources of the operator's signals.
        picture: A picture of the end, or None.
        config: The resolved configuration as text.
        environment: Machine and versions.
        sections: Further sections, placed after the key figures.
    """

    title: str
    subtitle: str
    duration: float
    speed: float
    period: float
    columns: Mapping[str, Array]
    parts: Mapping[str, slice]
    joint_names: Sequence[str]
    tracking: Sequence[TrackingMetrics] = ()
    joints: Sequence[JointMetrics] = ()
    base: BaseMetrics | None = None
    states: Sequence[Band] = ()
    interventions: Sequence[Intervention] = ()
    stages: Mapping[str, TimingSummary] = field(default_factory=dict)
    compute: Array = field(default_factory=lambda: np.empty(0))
    jitter: Array = field(default_factory=lambda: np.empty(0))
    overruns: int = 0
    self_contacts: Sequence[tuple[str, str]] | None = None
    plan: SignalPlan | None = None
    picture: Path | None = None
    config: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)
    sections: Sequence[Section] = ()


def write_report(data: ReportData, path: Path) -> Path:
    """Write the page to a file."""
    path.write_text(render_report(data), encoding="utf-8")
    return path


def render_report(data: ReportData) -> str:
    """Return the page as HTML."""
    sections = (
        _header(data),
        *(f"<section><h2>{escape(s.title)}</h2>{s.html}</section>" for s in data.sections),
        _tracking(data),
        _interventions(data),
        _joints(data),
        _base(data),
        _timing(data),
        _background(data),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(data.title)}</title><style>{STYLE}</style></head><body><main>"
        f"{''.join(sections)}</main></body></html>\n"
    )


def _header(data: ReportData) -> str:
    picture = ""
    if data.picture is not None and data.picture.is_file():
        encoded = base64.b64encode(data.picture.read_bytes()).decode("ascii")
        picture = f'<figure><img alt="the robot" src="data:image/png;base64,{encoded}"></figure>'
    return (
        f"<header><h1>{escape(data.title)}</h1><p>{escape(data.subtitle)}</p></header>"
        f"{figures(list(_key_figures(data)))}{picture}"
    )


def _key_figures(data: ReportData) -> list[Figure]:
    found = []
    for entry in data.tracking:
        goals = entry.chain != "torso"
        numbers = entry.figures
        distance, angle = numbers["position_rms"], numbers["orientation_rms"]
        good = bool(distance <= POSITION_GOAL and angle <= ORIENTATION_GOAL) if goals else None
        found.append(
            Figure(
                f"{entry.chain.replace('_', ' ')} error (RMS)",
                f"{1e3 * distance:.1f}",
                "mm",
                f"{np.degrees(angle):.2f}°" + (", goal 15 mm, 3°" if goals else ""),
                good,
            )
        )
    share = float(np.mean(data.columns["following"] > 0.5)) if data.duration else 0.0
    found.append(Figure("operator in control", f"{100 * share:.0f}", "%", "of the time"))
    holds = sum(1 for each in data.interventions if each.severity >= Severity.HOLD)
    found.append(Figure("holds", f"{holds}", "", f"of {len(data.interventions)} interventions"))
    if data.self_contacts is not None:
        count = len(data.self_contacts)
        found.append(Figure("self-collisions", f"{count}", "", "goal 0", count == 0))
    if data.base is not None:
        found.append(
            Figure(
                "base driven",
                f"{data.base.driven:.2f}",
                "m",
                f"{data.base.commanded:.2f} m commanded",
            )
        )
    total = data.stages.get("total")
    if total is not None and total.count:
        share = 100.0 * total.p99 / data.period
        found.append(
            Figure(
                "compute time of a tick",
                f"{1e3 * total.p99:.2f}",
                "ms",
                f"99th percentile, {share:.0f} % of the period",
            )
        )
    found.append(Figure("speed", f"{data.speed:.2f}", "x", "of real time"))
    return found


def _tracking(data: ReportData) -> str:
    time = data.columns["time"]
    if not data.tracking:
        return ""
    distances = [
        Series(entry.chain, time, 1e3 * entry.position, number)
        for number, entry in enumerate(data.tracking)
    ]
    angles = [
        Series(entry.chain, time, np.degrees(entry.orientation), number)
        for number, entry in enumerate(data.tracking)
    ]
    return (
        "<section><h2>Tracking error</h2><p>Distance and angle between each end effector, as "
        "measured, and its target at the same moment. Shaded: the operator was not in control."
        "</p>"
        f'<div class="card">{line_chart(distances, unit="mm", zero=True, bands=data.states)}</div>'
        f'<div class="card">{line_chart(angles, unit="°", zero=True, bands=data.states)}</div>'
        "</section>"
    )


def _interventions(data: ReportData) -> str:
    time = data.columns["time"]
    start, end = (float(time[0]), float(time[-1])) if time.size else (0.0, 1.0)
    table = interventions_table(data.interventions)
    card = f'<div class="card scroll">{table}</div>' if table else ""
    return (
        "<section><h2>What held or limited the robot</h2><p>Each bar is one intervention of a "
        "rule: <i>limited</i> changed a command to keep it within a limit, <i>hold</i> made a "
        "part keep its position, <i>stop</i> lasts until a person resets it. Point at a bar to "
        "see its value.</p>"
        f'<div class="card">{timeline(data.interventions, start, end)}</div>{card}</section>'
    )


def _joints(data: ReportData) -> str:
    time, commands = data.columns["time"], data.columns["commands"]
    measured = data.columns["measured"]
    charts = []
    for part, columns in data.parts.items():
        indices = range(columns.start, columns.stop)
        moved = [index for index in indices if _span(measured[:, index]) > 1e-3]
        if not moved:
            continue
        widest = sorted(moved, key=lambda index: -_span(measured[:, index]))[:6]
        drawn = list(enumerate(sorted(widest)))
        start = measured[np.isfinite(measured).all(axis=1)][0]
        series = [
            Series(data.joint_names[index], time, measured[:, index] - start[index], number)
            for number, index in drawn
        ]
        series += [
            Series("", time, commands[:, index] - start[index], number, faint=True)
            for number, index in drawn
        ]
        shown = line_chart(series, unit="rad or m", height=190.0, bands=data.states)
        hidden = f" (the {len(widest)} that moved most)" if len(moved) > len(widest) else ""
        charts.append(f'<div class="card"><h3>{escape(part)}{hidden}</h3>{shown}</div>')
    table = joint_table(data.joints)
    return (
        "<section><h2>Joint motion</h2><p>Change of position since the start. Solid: measured. "
        f"Dashed: commanded.</p>{''.join(charts)}"
        "<details><summary>All joints and their limits</summary>"
        f'<div class="card scroll">{table}</div></details></section>'
    )


def _span(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if known.size else 0.0


def _base(data: ReportData) -> str:
    if data.base is None:
        return ""
    time, odometry = data.columns["time"], data.columns["odometry"]
    path = path_chart([Series("base", odometry[:, 0], odometry[:, 1])])
    requested, command = data.columns["base_requested"], data.columns["base_command"]
    speeds = line_chart(
        [
            Series("forward, operator [m/s]", time, requested[:, 0], 1, faint=True),
            Series("forward, after limits [m/s]", time, command[:, 0], 0),
            Series("yaw, operator [rad/s]", time, requested[:, 2], 3, faint=True),
            Series("yaw, after limits [rad/s]", time, command[:, 2], 2),
        ],
        unit="m/s or rad/s",
        bands=data.states,
    )
    base = data.base
    return (
        "<section><h2>Base motion</h2>"
        f"<p>{base.driven:.2f} m driven, {base.commanded:.2f} m commanded; "
        f"{np.degrees(base.rotated):.0f}° rotated in total; delay {base.lag:.2f} s.</p>"
        f'<div class="card">{speeds}</div><div class="card half">{path}</div></section>'
    )


def _timing(data: ReportData) -> str:
    compute = histogram(1e3 * data.compute, unit="compute time of a tick [ms]")
    jitter = (
        histogram(1e3 * data.jitter, unit="deviation from the period [ms]")
        if data.jitter.size
        else '<p class="quiet">No jitter: the run did not wait for the wall clock.</p>'
    )
    return (
        "<section><h2>Timing</h2>"
        f"<p>The period is {1e3 * data.period:g} ms. {data.overruns} of {len(data.compute)} ticks "
        "started more than one period late.</p>"
        f'<div class="card scroll">{timing_table(data.stages, data.period)}</div>'
        f'<div class="pair"><div class="card">{compute}</div>'
        f'<div class="card">{jitter}</div></div></section>'
    )


def _background(data: ReportData) -> str:
    facts = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{escape(_text(value))}</td></tr>"
        for name, value in data.environment.items()
    )
    return (
        f"<section><h2>Inputs and configuration</h2>{_signals(data.plan)}"
        f"<details><summary>Configuration</summary><pre>{escape(data.config)}</pre></details>"
        f'<details><summary>Environment</summary><div class="card scroll"><table><tbody>{facts}'
        "</tbody></table></div></details></section>"
    )


def _signals(plan: SignalPlan | None) -> str:
    if plan is None:
        return ""
    rows = "".join(
        f"<tr><td>{escape(row.need.controller)}</td><td><b>{escape(row.need.signal)}</b></td>"
        f"<td>{escape(row.need.purpose)}</td><td>{'yes' if row.need.required else 'no'}</td>"
        f"<td>{escape(row.source)}</td><td>{escape(row.provider)}</td></tr>"
        for row in plan.rows
    )
    head = (
        "<tr><th>controller</th><th>signal</th><th>purpose</th><th>required</th><th>source</th>"
        "<th>provided by</th></tr>"
    )
    return (
        f'<div class="card scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {item}" for name, item in value.items() if item is not None)
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)
