# SPDX-License-Identifier: Apache-2.0
"""Arguments and options that several sub-commands share."""

from typing import Annotated

import typer


def complete_robot(incomplete: str) -> list[str]:
    """Return the robots whose names begin with the typed text."""
    from teleop_system.exceptions import TeleopError
    from teleop_system.robots import discover_robots

    try:
        return [name for name in discover_robots() if name.startswith(incomplete)]
    except TeleopError:
        return []  # Shell completion must not print errors.


RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="Name from `teleop robots`, or the path of a robot folder.",
        autocompletion=complete_robot,
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
