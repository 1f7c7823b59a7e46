# SPDX-License-Identifier: Apache-2.0
"""`teleop doctor`: what is installed, and how to install the rest."""

from typing import TYPE_CHECKING

import typer

from teleop_system.cli.arguments import JsonOption
from teleop_system.cli.errors import EXIT_FAILED
from teleop_system.cli.output import console, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.cli.installation import Component


def examine_installation(as_json: JsonOption = False) -> None:
    """Show what is installed, and how to install the rest.

    [dim]Example:[/]
      teleop doctor
    """
    from teleop_system.cli.installation import examine

    with console(stderr=True).status("examining"):
        parts = list(examine())
    if as_json:
        show_json(parts)
    else:
        screen = console()
        screen.print(_table(parts))
        absent = sum(not part.present for part in parts)
        remark = (
            f"{absent} optional components are missing"
            if absent
            else "all components are installed"
        )
        screen.print(f"[dim]{remark}[/]")
    if any(part.required and not part.present for part in parts):
        raise typer.Exit(EXIT_FAILED)


def _table(parts: "list[Component]") -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("component", no_wrap=True)
    table.add_column("found", overflow="fold")
    for part in parts:
        mark = "[green]✔[/]" if part.present else "[yellow]-[/]"
        found = escape(part.found)
        if part.fix:
            found += f"\n[yellow]install: {escape(part.fix)}[/]"
        table.add_row(mark, escape(part.name), found)
    return table
