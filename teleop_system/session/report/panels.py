# SPDX-License-Identifier: Apache-2.0
"""Panels of the report other than charts: key figures, timeline of causes, tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from teleop_system.interfaces.causes import Severity
from teleop_system.session.artefacts import Intervention
from teleop_system.session.report.charts import LEFT, RIGHT, WIDTH
from teleop_system.session.report.metrics import JointMetrics
from teleop_system.session.report.scale import Scale, round_step, tick_label
from teleop_system.timing.stage_timer import TimingSummary

ROW = 22.0
NAMES = 250.0
"""Width of the column of names in a timeline in [px]."""
MAX_ROWS = 24
SEVERITIES = {
    Severity.INFO: "info",
    Severity.LIMITED: "limited",
    Severity.HOLD: "hold",
    Severity.STOP: "stop",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One key figure.

    Attributes:
        label: Its name.
        value: The number, as text.
        unit: Its unit.
        note: A remark, such as the goal.
        good: Whether it meets its goal; None without a goal.
    """

    label: str
    value: str
    unit: str = ""
    note: str = ""
    good: bool | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A further section of the page, added by the caller.

    Attributes:
        title: Its heading.
        html: Its contents, already escaped.
    """

    title: str
    html: str


def figures(entries: Sequence[Figure]) -> str:
    """Return key figures side by side."""
    cells = []
    for entry in entries:
        mark = "" if entry.good is None else (" good" if entry.good else " bad")
        unit = f" <small>{escape(entry.unit)}</small>" if entry.unit else ""
        cells.append(
            f'<div class="figure{mark}"><span>{escape(entry.label)}</span>'
            f"<b>{escape(entry.value)}{unit}</b><em>{escape(entry.note)}</em></div>"
        )
    return f'<div class="figures">{"".join(cells)}</div>'


def timeline(interventions: Sequence[Intervention], start: float, end: float) -> str:
    """Return when each cause acted, the most severe and longest first."""
    if not interventions:
        return '<p class="quiet">Nothing held or limited the robot.</p>'
    by_key: dict[tuple[str, str], list[Intervention]] = {}
    for each in interventions:
        by_key.setdefault((each.rule.id, each.subject), []).append(each)
    ordered = sorted(
        by_key.items(),
        key=lambda item: (-max(e.severity for e in item[1]), -sum(e.ticks for e in item[1])),
    )
    shown = ordered[:MAX_ROWS]
    height = ROW * len(shown) + 34.0
    x = Scale(start, max(end, start + 1e-3), NAMES, WIDTH - RIGHT)
    parts = [_time_axis(x, height)]
    for number, ((rule, subject), events) in enumerate(shown):
        middle = 8.0 + ROW * (number + 0.5)
        parts.append(
            f'<text class="name" x="{NAMES - 10:g}" y="{middle + 4:.1f}" text-anchor="end">'
            f"<tspan>{escape(rule)}</tspan> {escape(subject)}</text>"
            f'<line class="grid" x1="{NAMES}" x2="{WIDTH - RIGHT}" y1="{middle:.1f}" '
            f'y2="{middle:.1f}"/>'
        )
        parts += [_event_bar(event, x, middle) for event in events]
    more = len(ordered) - len(shown)
    tail = f'<p class="quiet">and {more} more in events.jsonl</p>' if more else ""
    return f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img">{"".join(parts)}</svg>{tail}'


def interventions_table(interventions: Sequence[Intervention]) -> str:
    """Return how often and for how many ticks each rule acted."""
    if not interventions:
        return ""
    by_rule: dict[str, list[Intervention]] = {}
    for each in interventions:
        by_rule.setdefault(each.rule.id, []).append(each)
    rows = []
    ranked = sorted(by_rule.items(), key=lambda item: -max(e.severity for e in item[1]))
    for rule, events in ranked:
        worst = max(events, key=lambda e: (e.severity, e.ticks))
        subjects = sorted({e.subject for e in events})
        listed = ", ".join(subjects[:4]) + (f" and {len(subjects) - 4} more" * (len(subjects) > 4))
        severity = SEVERITIES[worst.severity]
        rows.append(
            f'<tr><td><i class="chip {severity}">{severity}</i></td><td><b>{escape(rule)}</b></td>'
            f"<td>{escape(worst.rule.meaning)}</td><td>{escape(listed)}</td>"
            f'<td class="n">{len(events)}</td>'
            f'<td class="n">{sum(e.ticks for e in events)}</td></tr>'
        )
    head = (
        "<tr><th>severity</th><th>rule</th><th>meaning</th><th>acted on</th>"
        "<th class=n>times</th><th class=n>ticks</th></tr>"
    )
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def joint_table(joints: Sequence[JointMetrics]) -> str:
    """Return the commanded range, speed and acceleration of each joint against its limits."""
    rows = []
    for joint in joints:
        rows.append(
            f"<tr><td>{escape(joint.name)}</td><td>{_range_bar(joint)}</td>"
            f'<td class="n">{joint.minimum:+.3f} … {joint.maximum:+.3f}</td>'
            f"<td>{_share_bar(joint.speed)}</td><td>{_share_bar(joint.acceleration)}</td>"
            f'<td class="n">{1e3 * joint.error:.2f}</td></tr>'
        )
    head = (
        "<tr><th>joint</th><th>commanded range within its limits</th><th class=n>[rad or m]</th>"
        "<th>maximum speed</th><th>maximum acceleration</th>"
        "<th class=n>error (RMS) [mrad or mm]</th></tr>"
    )
    return f'<table class="joints"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def timing_table(stages: Mapping[str, TimingSummary], period: float) -> str:
    """Return the compute time of each stage of a tick, as a share of the period."""
    rows = []
    for name, figure in stages.items():
        if not figure.count:
            continue
        bar = _share_bar(figure.p50 / period, figure.p99 / period)
        numbers = (1e6 * figure.p50, 1e6 * figure.p99, 1e6 * figure.max, figure.count)
        cells = "".join(f'<td class="n">{number:.0f}</td>' for number in numbers)
        rows.append(f"<tr><td>{escape(name)}</td><td>{bar}</td>{cells}</tr>")
    head = (
        "<tr><th>stage</th><th>share of the period: median, 99th percentile</th>"
        "<th class=n>median [µs]</th><th class=n>99th percentile [µs]</th>"
        "<th class=n>maximum [µs]</th><th class=n>ticks</th></tr>"
    )
    return f'<table class="timing"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _event_bar(event: Intervention, x: Scale, middle: float) -> str:
    first, last = x(max(event.began, x.low)), x(min(event.ended, x.high))
    value = "" if np.isnan(event.value) else f", {event.value:.4g} {event.rule.unit}"
    return (
        f'<rect class="span {SEVERITIES[event.severity]}" x="{first:.1f}" y="{middle - 6:.1f}" '
        f'width="{max(last - first, 3.0):.1f}" height="12" rx="2">'
        f"<title>{escape(event.rule.meaning)}: {event.began:.2f} to {event.ended:.2f} s"
        f"{escape(value)}, limit {event.limit:.4g}</title></rect>"
    )


def _time_axis(x: Scale, height: float) -> str:
    step = round_step((x.high - x.low) / 8)
    parts = [
        f'<line class="grid" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="4" y2="{height - 22:.1f}"/>'
        f'<text x="{x(t):.1f}" y="{height - 8:.1f}" text-anchor="middle">'
        f"{tick_label(t, step)}</text>"
        for t in x.ticks(8)
    ]
    return "".join(parts) + (f'<text class="unit" x="{LEFT}" y="{height - 8:.1f}">time [s]</text>')


def _range_bar(joint: JointMetrics) -> str:
    low, high = joint.lower, joint.upper
    if not np.isfinite([low, high]).all() or high <= low:
        low, high = joint.minimum - 0.1, joint.maximum + 0.1
    first = 100.0 * (joint.minimum - low) / (high - low)
    width = max(100.0 * (joint.maximum - joint.minimum) / (high - low), 0.8)
    return (
        f'<span class="range" title="{low:.2f} to {high:.2f}">'
        f'<i style="left:{first:.1f}%;width:{width:.1f}%"></i></span>'
    )


def _share_bar(share: float, upper: float | None = None) -> str:
    """Return a bar for a share of a limit, with a thin bar up to `upper`."""
    tail = ""
    if upper is not None:
        tail = f'<u style="width:{min(100.0 * upper, 100.0):.1f}%"></u>'
    warm = " warm" if max(share, upper or 0.0) > 1.0 + 1e-6 else ""
    return (
        f'<span class="share{warm}">{tail}<i style="width:{min(100.0 * share, 100.0):.1f}%"></i>'
        f"</span><small>{100.0 * share:.0f} %</small>"
    )
