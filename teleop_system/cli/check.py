# SPDX-License-Identifier: Apache-2.0
"""`teleop check`: checks a robot's files, and the robot in simulation."""

from typing import TYPE_CHECKING, Annotated

import typer

from teleop_system.cli.arguments import JsonOption, RobotArgument
from teleop_system.cli.errors import EXIT_FAILED
from teleop_system.cli.output import console, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.robots import RobotDescription
    from teleop_system.tools.robot_check import CheckResult

_MARKS = {
    "passed": "[green]✔ pass[/]",
    "failed": "[bold red]✘ FAIL[/]",
    "skipped": "[yellow]- skip[/]",
}


def check_robot_command(
    robot: RobotArgument,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Run only this check; may be repeated.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a robot, and propose fixes.

    Joint order and signs, limits, motors, agreement of URDF and MJCF, mass, self-collision at
    the named poses, reach of every chain, and holding against gravity. The exit code is 1 if a
    check fails.

    [dim]Examples:[/]
      teleop check rby1
      teleop check ./my_robots/six_axis
      teleop check rby1 --only reach --only gravity
    """
    from teleop_system.robots import load_robot

    description = load_robot(robot)
    results = _run(description, only)
    if as_json:
        show_json({"robot": description.name, "checks": results})
    else:
        _show(description, results)
    if any(result.failed for result in results):
        raise typer.Exit(EXIT_FAILED)


def _run(robot: "RobotDescription", only: list[str] | None) -> "list[CheckResult]":
    """Run the checks with a progress bar."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from teleop_system.tools.robot_check import check_robot

    columns = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}"))
    screen = console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=screen, transient=True) as progress:
        task = progress.add_task("reading the model", total=None)

        def advance(name: str, index: int, count: int) -> None:
            progress.update(task, description=name, completed=index, total=count)

        return check_robot(robot, only, advance)


def _show(robot: "RobotDescription", results: "list[CheckResult]") -> None:
    from rich.markup import escape

    screen = console()
    title = f" — {escape(robot.description)}" if robot.description else ""
    screen.print(f"[bold cyan]{robot.name}[/]{title}")
    screen.print(_table(results))
    for assumption in robot.assumptions:
        screen.print(f"[dim]note: {escape(assumption)}[/]")
    counts = {mark: sum(r.outcome.value == mark for r in results) for mark in _MARKS}
    colour = "red" if counts["failed"] else "green"
    summary = ", ".join(f"{count} {mark}" for mark, count in counts.items() if count)
    screen.print(f"[{colour}]{summary}[/]")


def _table(results: "list[CheckResult]") -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("check", no_wrap=True)
    table.add_column("result", overflow="fold")
    for result in results:
        detail = escape(result.detail)
        if result.fix:
            detail += f"\n[yellow]fix: {escape(result.fix)}[/]"
        table.add_row(_MARKS[result.outcome.value], result.name, detail)
    return table
