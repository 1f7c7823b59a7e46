# SPDX-License-Identifier: Apache-2.0
"""The report section of a replayed motion."""

import numpy as np
from numpy.typing import NDArray

from teleop_system.session.report.charts import Band, Series, line_chart, path_chart
from teleop_system.session.report.panels import Figure, Section, figures
from teleop_system.tools.replay.score import ReplayRun, ReplayScore

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

HAND_GOAL = 0.025
"""Goal of the RMS distance in [m] of a hand from its reachable targets."""
WALK_GOAL = 0.15
"""Largest relative deviation of the driven from the allowed path length."""


def replay_section(score: ReplayScore, run: ReplayRun) -> Section:
    """Return the section about tracking and walking.

    Args:
        score: The score.
        run: Data of the replay.
    """
    time = run.stamps
    series = [
        Series(chain, time, 1e3 * hand.errors, number)
        for number, (chain, hand) in enumerate(score.hands.items())
    ]
    html = figures(_figures(score))
    if series:
        limits = {"limit": 1e3 * HAND_GOAL, "limit_label": "goal, RMS"}
        chart = line_chart(series, unit="mm", zero=True, bands=_bands(score, time), **limits)  # type: ignore[arg-type]
        html += (
            "<p>Distance between each hand and its target, the person's hand before any limit. "
            "Shaded: out of reach, or too fast for the joints.</p>"
            f'<div class="card">{chart}</div>'
        )
    if score.walk is not None and score.walk.walked > 0.2:
        odometry, body = run.odometry, run.body
        start = odometry[0]
        chart = path_chart(
            [
                Series("person", body[:, 0] + start[0], body[:, 1] + start[1], 1, faint=True),
                Series("base", odometry[:, 0], odometry[:, 1], 0),
            ]
        )
        html += f'<div class="card half">{chart}</div>'
    return Section(f"Replay of {score.motion}", html)


def _figures(score: ReplayScore) -> list[Figure]:
    found = []
    for chain, hand in score.hands.items():
        found.append(
            Figure(
                f"{chain.replace('_', ' ')} error, reachable targets",
                f"{1e3 * hand.error:.1f}",
                "mm",
                f"goal {1e3 * HAND_GOAL:.0f} mm; delay {1e3 * hand.delay:.0f} ms",
                bool(hand.error <= HAND_GOAL),
            )
        )
        lost = 100.0 * (hand.unreachable + hand.too_fast)
        note = f"{100 * hand.unreachable:.0f} % out of reach, {100 * hand.too_fast:.0f} % too fast"
        label = f"{chain.replace('_', ' ')}, unreachable targets"
        found.append(Figure(label, f"{lost:.0f}", "%", note))
    if score.walk is not None:
        walk = score.walk
        good = abs(walk.share - 1.0) <= WALK_GOAL if walk.allowed > 0.5 else None
        note = f"{walk.allowed:.2f} m within limits; {walk.walked:.2f} m walked"
        found.append(Figure("base driven", f"{walk.driven:.2f}", "m", note, good))
    found.append(
        Figure("largest tilt", f"{np.degrees(score.tilt):.2f}", "°", "", score.tilt < 0.17)
    )
    found.append(
        Figure("joints at their speed limit", f"{100 * score.saturation:.0f}", "%", "of the time")
    )
    return found


def _bands(score: ReplayScore, time: Array) -> list[Band]:
    """Return the spans in which no hand could reach its target."""
    hands = list(score.hands.values())
    lost = ~np.logical_or.reduce([hand.counted for hand in hands])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lost, [False]]).astype(int)))
    spans = zip(edges[::2], edges[1::2], strict=True)
    last = len(time) - 1
    return [
        Band(float(time[first]), float(time[min(end, last)]), "hold", "not reachable")
        for first, end in spans
    ]
