# SPDX-License-Identifier: Apache-2.0
"""How sub-commands speak: results on the output stream, progress and remarks on the other."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from teleop_system.utils.plain_values import plain

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> "Console":
    """Return a console that folds long words instead of cutting them."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(plain(value), indent=2))


def short_path(path: Path) -> str:
    """Return a path as a person would write it: relative to here or to home where it is below."""
    for parent, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(parent):
            return f"{prefix}{path.relative_to(parent)}"
    return str(path)
