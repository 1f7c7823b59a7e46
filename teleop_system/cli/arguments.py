# SPDX-License-Identifier: Apache-2.0
"""Arguments and options that several sub-commands share."""

from typing import Annotated

import typer


def complete_robot(incomplete: str) -> list[str]:
    """Return the robots whose names begin with what was typed."""
    from teleop_system.exceptions import TeleopError
    from teleop_system.robots import discover_robots

    try:
        return [name for name in discover_robots() if name.startswith(incomplete)]
    except TeleopError:
        return []  # A shell that completes must not print errors.


RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="Name as `teleop robots` lists it, or the path of a robot's folder.",
        autocompletion=complete_robot,
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
