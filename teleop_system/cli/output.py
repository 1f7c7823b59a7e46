# SPDX-License-Identifier: Apache-2.0
"""Output of sub-commands: results on stdout, progress and remarks on stderr."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from teleop_system.utils.plain_values import plain

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> "Console":
    """Return a console without syntax highlighting."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(plain(value), indent=2))


def short_path(path: Path) -> str:
    """Return a path relative to the working or home directory, if it is inside."""
    for parent, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(parent):
            return f"{prefix}{path.relative_to(parent)}"
    return str(path)
