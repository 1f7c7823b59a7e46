# SPDX-License-Identifier: Apache-2.0
"""The one place where a mistake of the user turns into one line and an exit code."""

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from teleop_system.exceptions import TeleopError

DEBUG_VARIABLE = "TELEOP_DEBUG"
EXIT_FAILED = 1
"""Something was checked and found wanting."""
EXIT_MISTAKE = 2
"""The command could not be carried out as it was given; what click uses for a wrong option."""
EXIT_INTERRUPTED = 130
"""Stopped with Ctrl-C, as shells count it."""


class TeleopGroup(TyperGroup):
    """Sub-commands whose `TeleopError` ends as one line on the error stream."""

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TeleopError as error:
            if ctx.params.get("debug") or is_debugging():
                raise
            typer.secho("Error: ", fg="red", bold=True, err=True, nl=False)
            typer.echo(" ".join(str(error).split()), err=True)
            raise typer.Exit(EXIT_MISTAKE) from error
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            # The reader, such as `head`, has had enough; Python would complain while closing.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


def is_debugging() -> bool:
    """Tell whether the environment asks for the traceback of errors."""
    return os.environ.get(DEBUG_VARIABLE, "").lower() not in ("", "0", "false", "no")
