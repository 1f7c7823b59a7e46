# SPDX-License-Identifier: Apache-2.0
"""Replays a motion over a grid of settings, in parallel, and ranks the results."""

import itertools
import math
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from teleop_system.exceptions import ConfigError, TeleopError
from teleop_system.session.report.charts import Series, line_chart
from teleop_system.session.report.style import STYLE
from teleop_system.tools.replay.replay import replay_settings, run_replay
from teleop_system.utils.plain_values import plain

MAX_POINTS = 1000


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One combination of values, and its result.

    Attributes:
        overrides: The settings as typed.
        error: RMS error of the worse hand over reachable targets in [m]; NaN if the replay
            failed or no target is reachable.
        document: The score as plain values; None if the replay failed.
        failure: Why the replay failed; empty if it did not.
    """

    overrides: tuple[str, ...]
    error: float = math.nan
    document: dict[str, Any] | None = None
    failure: str = ""

    @property
    def is_safe(self) -> bool:
        """Whether the replay finished and was safe."""
        return self.document is not None and bool(self.document["safe"])


def parse_grid(axes: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each key from texts such as "arm.reach=0.9,0.95".

    Raises:
        ConfigError: An axis has no values, a key appears twice, or the grid is too large.
    """
    grid: dict[str, list[str]] = {}
    for axis in axes:
        key, _, values = axis.partition("=")
        found = [value for value in values.split(",") if value]
        if not key or not found:
            raise ConfigError(f"an axis must be key=value,value,…, got {axis!r}")
        if key in grid:
            raise ConfigError(f"{key} appears twice in the grid")
        grid[key] = found
    points = math.prod(len(values) for values in grid.values())
    if points > MAX_POINTS:
        raise ConfigError(f"the grid has {points} points, more than {MAX_POINTS}")
    return grid


def combinations(grid: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the overrides of every point of a grid."""
    for values in itertools.product(*grid.values()):
        yield tuple(f"{key}={value}" for key, value in zip(grid, values, strict=True))


def run_sweep(
    file: Path,
    grid: dict[str, list[str]],
    overrides: Sequence[str] = (),
    *,
    workers: int | None = None,
    on_point: Callable[[SweepPoint], None] | None = None,
) -> list[SweepPoint]:
    """Replay a motion with every combination; return the results, best first.

    Args:
        file: The motion.
        grid: Values by key.
        overrides: Settings of all combinations.
        workers: Number of processes; None for one per core.
        on_point: Called with each result.
    """
    common = [*overrides, "simulation.render=false"]
    count = workers or os.cpu_count() or 1
    found = []
    # Not forked: threads of this process would not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        jobs = [pool.submit(_run, file, point, common) for point in combinations(grid)]
        for job in as_completed(jobs):
            found.append(job.result())
            if on_point is not None:
                on_point(found[-1])
    return sorted(found, key=_rank)


def _rank(point: SweepPoint) -> tuple[bool, float, tuple[str, ...]]:
    error = point.error if math.isfinite(point.error) else math.inf
    return not point.is_safe, error, point.overrides


def _run(file: Path, point: tuple[str, ...], common: list[str]) -> SweepPoint:
    try:
        settings = replay_settings(file, [*common, *point])
        score = run_replay(settings, artefacts=False, film=False).score
    except TeleopError as error:
        return SweepPoint(point, failure=str(error))
    worst = max((hand.error for hand in score.hands.values()), default=math.nan)
    return SweepPoint(point, worst, plain(score.document()))


def sweep_page(file: Path, grid: dict[str, list[str]], points: Sequence[SweepPoint]) -> str:
    """Return a page with the ranked table, and a plot for every numeric axis."""
    head = "".join(f"<th>{escape(key)}</th>" for key in grid)
    rows = []
    for rank, point in enumerate(points, 1):
        cells = "".join(f"<td>{escape(text.partition('=')[2])}</td>" for text in point.overrides)
        reached = math.isfinite(point.error)
        figure = f"{1e3 * point.error:.1f} mm" if reached else "no reachable target"
        result = point.failure or figure
        safe = "yes" if point.is_safe else "no"
        rows.append(f"<tr><td>{rank}</td>{cells}<td>{escape(result)}</td><td>{safe}</td></tr>")
    table = (
        f"<table><tr><th>rank</th>{head}<th>error</th><th>safe</th></tr>{''.join(rows)}</table>"
    )
    plots = "".join(_plot(key, grid, points) for key in grid)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(file.stem)}: sweep</title><style>{STYLE}</style></head><body><main>"
        f"<header><h1>{escape(file.stem)} over {len(points)} settings</h1></header>"
        f'<section><div class="card scroll">{table}</div></section>{plots}</main></body></html>\n'
    )


def _plot(key: str, grid: dict[str, list[str]], points: Sequence[SweepPoint]) -> str:
    """Return the error along one axis, one curve per combination of the other axes."""
    try:
        numbers = {value: float(value) for value in grid[key]}
    except ValueError:
        return ""
    curves: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        if not math.isfinite(point.error):
            continue
        values = dict(text.split("=", 1) for text in point.overrides)
        label = ", ".join(f"{name}={value}" for name, value in values.items() if name != key)
        curves.setdefault(label, []).append((numbers[values[key]], 1e3 * point.error))
    series = []
    for number, (label, found) in enumerate(sorted(curves.items())):
        x, y = np.array(sorted(found)).T
        series.append(Series(label, x, y, number))
    chart = line_chart(series, unit="mm", zero=True).replace("time [s]", "")
    return f'<section><h2>{escape(key)}</h2><div class="card">{chart}</div></section>'
