# SPDX-License-Identifier: Apache-2.0
"""Errors as one line and an exit code."""

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from teleop_system.exceptions import TeleopError

DEBUG_VARIABLE = "TELEOP_DEBUG"
EXIT_FAILED = 1
"""A check failed, or the result is not good enough."""
EXIT_MISTAKE = 2
"""The command is invalid; click uses the same code for a wrong option."""
EXIT_INTERRUPTED = 130
"""Ended by Ctrl-C; the usual code of shells."""


class TeleopGroup(TyperGroup):
    """Sub-commands; a `TeleopError` is printed as one line."""

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TeleopError as error:
            if ctx.params.get("debug") or is_debugging():
                raise
            print_error(error)
            raise typer.Exit(EXIT_MISTAKE) from error
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe; Python would print an error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


def print_error(error: TeleopError) -> None:
    """Print an error as one line on the error stream."""
    typer.secho("Error: ", fg="red", bold=True, err=True, nl=False)
    typer.echo(" ".join(str(error).split()), err=True)


def is_debugging() -> bool:
    """Return whether the environment requests the traceback of errors."""
    return os.environ.get(DEBUG_VARIABLE, "").lower() not in ("", "0", "false", "no")
