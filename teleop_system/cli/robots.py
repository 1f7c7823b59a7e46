# SPDX-License-Identifier: Apache-2.0
"""`teleop robots`: lists all robots."""

from typing import TYPE_CHECKING

import typer

from teleop_system.cli.arguments import JsonOption
from teleop_system.cli.output import console, short_path, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.robots import RobotSummary


_NONE = "[dim]-[/]"


def list_robots(as_json: JsonOption = False) -> None:
    """List all robots.

    A robot is a folder with an MJCF file in [bold]models/[/], in a folder of
    [bold]TELEOP_MODELS_DIR[/], or in an installed package.

    [dim]Examples:[/]
      teleop robots
      TELEOP_MODELS_DIR=~/my_robots teleop robots
      teleop robots --json
    """
    from rich.markup import escape

    from teleop_system.robots import discover_robots, summarize_robot

    summaries = [summarize_robot(source) for source in discover_robots().values()]
    if as_json:
        show_json(summaries)
        return
    screen = console()
    screen.print(_table([summary for summary in summaries if summary.problem is None]))
    for summary in summaries:
        if summary.problem is not None:
            screen.print(f"[red]{summary.name}[/] cannot be loaded: {escape(summary.problem)}")
    if not summaries:
        typer.echo("No robots found; put a folder with an MJCF file into models/.")


def _table(summaries: "list[RobotSummary]") -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=False)
    table.add_column("robot", overflow="fold")
    table.add_column("DoF", justify="right")
    table.add_column("chains", no_wrap=True)
    table.add_column("hands, head", no_wrap=True)
    table.add_column("base", no_wrap=True)
    table.add_column("URDF")
    for summary in summaries:
        lines = (summary.description, short_path(summary.folder))
        remarks = "".join(f"\n[dim]{escape(line)}[/]" for line in lines if line)
        hands = [
            f"{name} {kind}" if name != kind else kind for name, kind in summary.hands.items()
        ]
        table.add_row(
            f"[bold cyan]{summary.name}[/]{remarks}",
            str(summary.dof),
            "\n".join(f"{name} {count}" for name, count in summary.chains.items()),
            "\n".join([*hands, *(["head"] if summary.head else [])]) or _NONE,
            summary.base or "[dim]fixed[/]",
            "[green]yes[/]" if summary.urdf else _NONE,
            end_section=True,
        )
    return table
