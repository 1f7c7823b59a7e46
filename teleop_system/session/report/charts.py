# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG text: curves over time, paths on the floor and histograms.

Colours and strokes are classes of the page's style sheet, so a chart follows the light or dark
mode of the browser.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from teleop_system.session.report.scale import Scale, extent, round_step, thin, tick_label

Array = NDArray[np.float64]

WIDTH = 1000.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 18.0, 24.0
COLORS = 6
"""Number of curve colours in the style sheet; they repeat."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A curve.

    Attributes:
        label: Name in the legend.
        x: Values along the horizontal axis, shape (T,).
        y: Values, shape (T,); NaN is skipped.
        color: Number of the colour.
        faint: Whether it is drawn thin and dashed, as a reference.
    """

    label: str
    x: Array
    y: Array
    color: int = 0
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """A shaded time span.

    Attributes:
        start: Beginning in [s].
        end: End in [s].
        kind: Class of the style sheet: "hold", "stop", "idle" or "system".
        label: Text of the tooltip.
    """

    start: float
    end: float
    kind: str
    label: str


def line_chart(
    series: Sequence[Series],
    *,
    unit: str,
    height: float = 200.0,
    zero: bool = False,
    bands: Sequence[Band] = (),
    limit: float | None = None,
    limit_label: str = "",
) -> str:
    """Return curves over time.

    Args:
        series: The curves; all share one axis.
        unit: Unit of the values.
        height: Height of the chart in [px].
        zero: Whether the axis begins at zero.
        bands: Time spans to shade.
        limit: Value of a horizontal limit line.
        limit_label: Text at that line.
    """
    times = [each.x for each in series if each.x.size]
    start, end = extent(times, margin=0.0)
    x = Scale(start, end, LEFT, WIDTH - RIGHT)
    values = [each.y for each in series] + ([np.array([limit])] if limit is not None else [])
    low, high = extent(values, zero=zero)
    y = Scale(low, high, height - BOTTOM, TOP)
    parts = [_bands(bands, x, y), _grid(x, y, "time [s]", unit)]
    parts += [_curve(each, x, y) for each in series]
    if limit is not None:
        pixel = y(limit)
        parts.append(
            f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{pixel:.1f}" '
            f'y2="{pixel:.1f}"/><text class="limit" x="{WIDTH - RIGHT - 4}" '
            f'y="{pixel - 5:.1f}" text-anchor="end">{escape(limit_label)}</text>'
        )
    return _svg("".join(parts), height) + legend(series)


def path_chart(paths: Sequence[Series], *, height: float = 300.0, width: float = 480.0) -> str:
    """Return paths on the floor from above in [m]: x to the right, y up, equal scales."""
    low_x, high_x = extent([path.x for path in paths], margin=0.1)
    low_y, high_y = extent([path.y for path in paths], margin=0.1)
    room_x, room_y = width - LEFT - RIGHT, height - TOP - BOTTOM
    size = max((high_x - low_x) / room_x, (high_y - low_y) / room_y, 0.2 / room_x)
    middle_x, middle_y = 0.5 * (low_x + high_x), 0.5 * (low_y + high_y)
    half_x, half_y = 0.5 * size * room_x, 0.5 * size * room_y
    x = Scale(middle_x - half_x, middle_x + half_x, LEFT, width - RIGHT)
    y = Scale(middle_y - half_y, middle_y + half_y, height - BOTTOM, TOP)
    parts = [_grid(x, y, "ahead [m]", "left [m]", width)]
    for path in paths:
        parts.append(_curve(path, x, y, thinned=False))
        known = np.flatnonzero(np.isfinite(path.x) & np.isfinite(path.y))
        if known.size:
            end_x, end_y = float(path.x[known[-1]]), float(path.y[known[-1]])
            parts.append(
                f'<circle class="dot c{path.color % COLORS}" cx="{x(end_x):.1f}" '
                f'cy="{y(end_y):.1f}" r="4"><title>end</title></circle>'
            )
    return _svg("".join(parts), height, width) + legend(paths)


def histogram(
    values: Array, *, unit: str, height: float = 160.0, width: float = 480.0, bins: int = 48
) -> str:
    """Return a histogram; the last bar also holds the largest 0.1 % of the values."""
    values = values[np.isfinite(values)]
    if not values.size:
        return '<p class="quiet">No measurements.</p>'
    low, high = float(values.min()), float(np.percentile(values, 99.9))
    high = max(high, low + 1e-6)
    counts, edges = np.histogram(np.minimum(values, high), bins=bins, range=(low, high))
    x = Scale(low, high, LEFT, width - RIGHT)
    y = Scale(0.0, float(counts.max()) * 1.05, height - BOTTOM, TOP)
    bars = "".join(
        f'<rect class="bar" x="{x(float(left)) + 0.5:.1f}" y="{y(float(count)):.1f}" '
        f'width="{max(x(float(right)) - x(float(left)) - 1.0, 0.5):.1f}" '
        f'height="{y(0.0) - y(float(count)):.1f}"><title>{int(count)} ticks, '
        f"{left:.3f} to {right:.3f} {escape(unit)}</title></rect>"
        for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True)
        if count
    )
    caption = f'<p class="caption">{escape(unit)}</p>'
    return _svg(_grid(x, y, "", "ticks", width) + bars, height, width) + caption


def legend(series: Sequence[Series]) -> str:
    """Return the names and colours of curves as HTML; empty for a single curve."""
    if len(series) < 2:
        return ""
    # Reference curves have no label: their colour and dashes explain them.
    named = [each for each in series if each.label]
    entries = "".join(
        f'<span><i class="key c{each.color % COLORS}{" faint" if each.faint else ""}"></i>'
        f"{escape(each.label)}</span>"
        for each in named
    )
    return f'<p class="legend">{entries}</p>'


def _svg(content: str, height: float, width: float = WIDTH) -> str:
    return f'<svg viewBox="0 0 {width:g} {height:g}" role="img">{content}</svg>'


def _curve(series: Series, x: Scale, y: Scale, thinned: bool = True) -> str:
    pixels_x, pixels_y = x.pixels(series.x), y.pixels(series.y)
    columns = 700 if thinned else max(1, series.x.size)
    pixels = thin(pixels_x, pixels_y, columns)
    points = " ".join(["%.1f,%.1f"] * len(pixels)) % tuple(pixels.ravel().tolist())
    kind = f"line c{series.color % COLORS}{' faint' if series.faint else ''}"
    return (
        f'<polyline class="{kind}" points="{points}"><title>{escape(series.label)}</title>'
        "</polyline>"
    )


def _bands(bands: Sequence[Band], x: Scale, y: Scale) -> str:
    found = []
    for band in bands:
        start, end = max(band.start, x.low), min(band.end, x.high)
        if end > start:
            found.append(
                f'<rect class="band {band.kind}" x="{x(start):.1f}" y="{TOP}" '
                f'width="{max(x(end) - x(start), 1.0):.1f}" height="{y.start - TOP:.1f}">'
                f"<title>{escape(band.label)}</title></rect>"
            )
    return "".join(found)


def _grid(x: Scale, y: Scale, x_label: str, y_label: str, width: float = WIDTH) -> str:
    parts = []
    step = round_step((y.high - y.low) / 4)
    for value in y.ticks(4):
        pixel = y(value)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{pixel:.1f}" '
            f'y2="{pixel:.1f}"/><text x="{LEFT - 8}" y="{pixel + 4:.1f}" text-anchor="end">'
            f"{tick_label(value, step)}</text>"
        )
    count = 10 if width > 600 else 5
    step = round_step((x.high - x.low) / count)
    for value in x.ticks(count):
        pixel = x(value)
        parts.append(
            f'<line class="tick" x1="{pixel:.1f}" x2="{pixel:.1f}" y1="{y.start:.1f}" '
            f'y2="{y.start + 4:.1f}"/><text x="{pixel:.1f}" y="{y.start + 17:.1f}" '
            f'text-anchor="middle">{tick_label(value, step)}</text>'
        )
    parts.append(
        f'<line class="axis" x1="{LEFT}" x2="{width - RIGHT}" y1="{y.start:.1f}" '
        f'y2="{y.start:.1f}"/>'
        f'<text class="unit" x="{LEFT + 4}" y="{TOP - 2:.1f}">{escape(y_label)}</text>'
        f'<text class="unit" x="{LEFT - 12}" y="{y.start + 17:.1f}" text-anchor="end">'
        f"{escape(x_label)}</text>"
    )
    return "".join(parts)
