# SPDX-License-Identifier: Apache-2.0
"""`teleop config`: the configuration of a session."""

from pathlib import Path
from typing import Annotated

import typer

from teleop_system.cli.arguments import JsonOption
from teleop_system.cli.output import console, show_json


def complete_override(incomplete: str) -> list[str]:
    """Return the group options that begin with the typed text."""
    from teleop_system.exceptions import ConfigError
    from teleop_system.utils.paths import config_dir

    try:
        groups = _groups(config_dir())
    except ConfigError:
        return []  # Shell completion must not print errors.
    choices = [f"{group}={option}" for group, options in groups.items() for option in options]
    return [choice for choice in choices if choice.startswith(incomplete)]


def show_config(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Hydra overrides: group=option or key=value.",
            autocompletion=complete_override,
            show_default=False,
        ),
    ] = None,
    groups: Annotated[
        bool, typer.Option("--groups", help="List the groups and their options instead.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Another configuration tree.", show_default="config/")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the configuration of a session.

    [dim]Examples:[/]
      teleop config
      teleop config robot=rby1_dg5f operator.duration=60
      teleop config --groups
    """
    from teleop_system.utils.paths import config_dir

    if groups:
        found = _groups(folder or config_dir())
        if as_json:
            show_json(found)
        else:
            _show_groups(found)
        return
    from teleop_system.settings import load_settings
    from teleop_system.utils.plain_values import to_yaml

    settings = load_settings(overrides or (), folder)
    if as_json:
        show_json(settings)
    else:
        typer.echo(to_yaml(settings), nl=False)


def _groups(folder: Path) -> dict[str, list[str]]:
    """Return the options of every group of a configuration tree."""
    return {
        group.name: sorted(option.stem for option in group.glob("*.yaml"))
        for group in sorted(folder.iterdir())
        if group.is_dir() and any(group.glob("*.yaml"))
    }


def _show_groups(groups: dict[str, list[str]]) -> None:
    screen = console()
    width = max(map(len, groups), default=0)
    for group, options in groups.items():
        screen.print(f"[bold cyan]{group:<{width}}[/]  {', '.join(options)}")
