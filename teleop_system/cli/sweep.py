# SPDX-License-Identifier: Apache-2.0
"""`teleop sweep`: one motion with a grid of settings, ranked."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teleop_system.cli.output import console, short_path

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.tools.replay.sweep import SweepPoint

MILLI = 1e3


def sweep_command(
    motion: Annotated[
        str, typer.Argument(help="A BVH file, or the name of a motion of the package.")
    ],
    axes: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE,VALUE...", help="Settings and their values."),
    ],
    workers: Annotated[
        int | None, typer.Option(help="Number of processes.", show_default="one per core")
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Setting of all combinations, KEY=VALUE; may be repeated.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option(help="Folder of the table (JSON) and the page with plots.")
    ] = Path("runs/sweep"),
) -> None:
    """Replay a motion with every combination of values, and rank them by the hands' error.

    [dim]Example:[/]
      teleop sweep wave mocap.speed=0.5,1 arm.smoothing.lead=0.5,0.7,0.9
    """
    from rich.progress import Progress

    from teleop_system.mocap.bvh_motion import find_motion
    from teleop_system.tools.replay.sweep import combinations, parse_grid, run_sweep, sweep_page
    from teleop_system.utils.plain_values import plain

    grid = parse_grid(axes)
    file = find_motion(motion)
    screen = console()
    total = sum(1 for _ in combinations(grid))
    with Progress(console=screen, transient=True) as progress:
        task = progress.add_task(file.stem, total=total)
        points = run_sweep(
            file,
            grid,
            fixed or (),
            workers=workers,
            on_point=lambda point: progress.advance(task),
        )
    screen.print(sweep_table(points))
    output.mkdir(parents=True, exist_ok=True)
    page, table = output / "sweep.html", output / "sweep.json"
    page.write_text(sweep_page(file, grid, points), encoding="utf-8")
    table.write_text(json.dumps(plain(points), indent=2) + "\n", encoding="utf-8")
    for path in (page, table):
        screen.print(f"saved [bold]{short_path(path.absolute())}[/]")


def sweep_table(points: list["SweepPoint"]) -> "Table":
    """Return the table of combinations, best first."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("rank", "settings", "error", "safe"):
        table.add_column(heading, justify="left" if heading == "settings" else "right")
    for rank, point in enumerate(points, 1):
        result = point.failure or f"{MILLI * point.error:.1f} mm"
        table.add_row(
            str(rank), "  ".join(point.overrides), result, "yes" if point.is_safe else "no"
        )
    return table
