# SPDX-License-Identifier: Apache-2.0
"""One page of HTML about one run, with everything inside: it opens anywhere, years later too."""

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
"""RMS distance of a hand from where the operator wants it that is good in [m]."""
ORIENTATION_GOAL = np.radians(3.0)
"""The same for its orientation in [rad]."""


@dataclass(slots=True)
class ReportData:
    """All that the page tells.

    Attributes:
        title: What ran.
        subtitle: When, where, for how long.
        duration: Time of the session in [s].
        speed: Time of the session per time of the wall.
        period: Nominal time of a tick in [s].
        columns: The trace, by column.
        parts: Columns of joint vectors by part.
        joint_names: All joints.
        tracking: How well end effectors followed.
        joints: How joints moved.
        base: How the base moved, or None.
        states: Spans of time in which nobody followed.
        interventions: What held or limited the robot.
        stages: What each stage of a tick took.
        compute: Compute time of every tick in [s].
        jitter: How far each period was from nominal in [s]; empty where nobody waited.
        overruns: Ticks that came more than a period late.
        self_contacts: Pairs of links that touched; None where nobody looked.
        plan: Where the operator's signals came from.
        picture: A picture of the end, or None.
        config: The resolved configuration as text.
        environment: Where it ran.
        sections: What else there is to tell, right after the key figures.
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
        place, turn = numbers["position_rms"], numbers["orientation_rms"]
        good = bool(place <= POSITION_GOAL and turn <= ORIENTATION_GOAL) if goals else None
        found.append(
            Figure(
                f"{entry.chain.replace('_', ' ')} error, RMS",
                f"{1e3 * place:.1f}",
                "mm",
                f"{np.degrees(turn):.2f}°" + (", goal 15 mm, 3°" if goals else ""),
                good,
            )
        )
    follows = float(np.mean(data.columns["following"] > 0.5)) if data.duration else 0.0
    found.append(Figure("operator in control", f"{100 * follows:.0f}", "%", "of the time"))
    holds = sum(1 for each in data.interventions if each.severity >= Severity.HOLD)
    found.append(Figure("holds", f"{holds}", "", f"of {len(data.interventions)} interventions"))
    if data.self_contacts is not None:
        count = len(data.self_contacts)
        found.append(Figure("self-collisions", f"{count}", "", "goal 0", count == 0))
    if data.base is not None:
        found.append(
            Figure("driven", f"{data.base.driven:.2f}", "m", f"{data.base.wished:.2f} m wished")
        )
    total = data.stages.get("total")
    if total is not None and total.count:
        share = 100.0 * total.p99 / data.period
        found.append(
            Figure("tick, 99 %", f"{1e3 * total.p99:.2f}", "ms", f"{share:.0f} % of the period")
        )
    found.append(Figure("speed", f"{data.speed:.2f}", "x", "of real time"))
    return found


def _tracking(data: ReportData) -> str:
    time = data.columns["time"]
    if not data.tracking:
        return ""
    places = [
        Series(entry.chain, time, 1e3 * entry.position, number)
        for number, entry in enumerate(data.tracking)
    ]
    turns = [
        Series(entry.chain, time, np.degrees(entry.orientation), number)
        for number, entry in enumerate(data.tracking)
    ]
    return (
        "<section><h2>How well it followed</h2><p>Distance and angle between each end effector of "
        "the robot, as measured, and where the operator wanted it at that moment. Shaded: nobody "
        "was in control.</p>"
        f'<div class="card">{line_chart(places, unit="mm", zero=True, bands=data.states)}</div>'
        f'<div class="card">{line_chart(turns, unit="°", zero=True, bands=data.states)}</div>'
        "</section>"
    )


def _interventions(data: ReportData) -> str:
    time = data.columns["time"]
    start, end = (float(time[0]), float(time[-1])) if time.size else (0.0, 1.0)
    table = interventions_table(data.interventions)
    card = f'<div class="card scroll">{table}</div>' if table else ""
    return (
        "<section><h2>What held or limited the robot</h2><p>Every intervention has a rule. "
        "<i>limited</i> changed a command to keep it within a limit, <i>hold</i> kept a part from "
        "following, <i>stop</i> waits for a person. Point at a bar for its numbers.</p>"
        f'<div class="card">{timeline(data.interventions, start, end)}</div>{card}</section>'
    )


def _joints(data: ReportData) -> str:
    time, commands = data.columns["time"], data.columns["commands"]
    measured = data.columns["measured"]
    charts = []
    for part, columns in data.parts.items():
        places = range(columns.start, columns.stop)
        moved = [place for place in places if _span(measured[:, place]) > 1e-3]
        if not moved:
            continue
        widest = sorted(moved, key=lambda place: -_span(measured[:, place]))[:6]
        drawn = list(enumerate(sorted(widest)))
        start = measured[np.isfinite(measured).all(axis=1)][0]
        series = [
            Series(data.joint_names[place], time, measured[:, place] - start[place], number)
            for number, place in drawn
        ]
        series += [
            Series("", time, commands[:, place] - start[place], number, faint=True)
            for number, place in drawn
        ]
        shown = line_chart(series, unit="rad or m", height=190.0, bands=data.states)
        hidden = f" (the {len(widest)} that moved most)" if len(moved) > len(widest) else ""
        charts.append(f'<div class="card"><h3>{escape(part)}{hidden}</h3>{shown}</div>')
    table = joint_table(data.joints)
    return (
        "<section><h2>How the joints moved</h2><p>Change since the start; solid as measured, "
        f"dashed as commanded.</p>{''.join(charts)}"
        "<details><summary>All joints, against their limits</summary>"
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
    wish, command = data.columns["base_wish"], data.columns["base_command"]
    speeds = line_chart(
        [
            Series("wished", time, wish[:, 0], 1, faint=True),
            Series("commanded", time, command[:, 0], 0),
            Series("turning, wished [rad/s]", time, wish[:, 2], 3, faint=True),
            Series("turning, commanded [rad/s]", time, command[:, 2], 2),
        ],
        unit="m/s",
        bands=data.states,
    )
    base = data.base
    return (
        "<section><h2>Where the base went</h2>"
        f"<p>{base.driven:.2f} m driven for {base.wished:.2f} m wished, "
        f"{np.degrees(base.turned):.0f}° turned; it followed the wish by {base.lag:.2f} s.</p>"
        f'<div class="card">{speeds}</div><div class="card half">{path}</div></section>'
    )


def _timing(data: ReportData) -> str:
    compute = histogram(1e3 * data.compute, unit="compute time of a tick [ms]")
    jitter = (
        histogram(1e3 * data.jitter, unit="period off nominal [ms]")
        if data.jitter.size
        else '<p class="quiet">The run did not wait for the clock, so there is no jitter.</p>'
    )
    return (
        "<section><h2>How it kept time</h2>"
        f"<p>A tick has {1e3 * data.period:g} ms. {data.overruns} of {len(data.compute)} came "
        "more than a period late.</p>"
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
        f"<section><h2>What it was run with</h2>{_signals(data.plan)}"
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
        "<tr><th>controller</th><th>signal</th><th>for</th><th>required</th><th>source</th>"
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
