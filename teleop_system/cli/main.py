# SPDX-License-Identifier: Apache-2.0
"""The `teleop` command: global options and sub-commands."""

import sys
from typing import Annotated

import typer

from teleop_system import __version__
from teleop_system.cli import (
    check,
    config,
    doctor,
    launch,
    replay,
    robots,
    run,
    sweep,
    view,
)
from teleop_system.cli.errors import TeleopGroup

EPILOG = (
    "Start with [bold]teleop run[/] and [bold]teleop robots[/]. "
    "[bold]teleop doctor[/] shows missing components."
)

app = typer.Typer(
    name="teleop",
    cls=TeleopGroup,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def version() -> None:
    """Print the version of the package."""
    typer.echo(f"teleop_system {__version__}")


def _show_version(requested: bool) -> None:
    if requested:
        version()
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (or TELEOP_DEBUG=1).")
    ] = False,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Whole-body teleoperation: a robot follows the motion of a person."""
    # `TeleopGroup` uses the first; the second has a callback of its own.
    del debug, show_version


# In the order of `teleop --help`. A new sub-command is a module with one function, which imports
# heavy packages inside, and one line here.
app.command("run")(run.run_session_command)
app.command("replay")(replay.replay_command)
app.command("sweep")(sweep.sweep_command)
app.command("launch", context_settings=launch.OTHER_ARGUMENTS)(launch.launch_stack)
app.command("robots")(robots.list_robots)
app.command("check")(check.check_robot_command)
app.command("view")(view.view_robot_command)
app.command("config")(config.show_config)
app.command("doctor")(doctor.examine_installation)
app.command("version")(version)


def main() -> None:
    """Run the `teleop` command; the target of the console script."""
    app(prog_name="teleop")


def launch_script(stack: str, program: str) -> None:
    """Run a script that starts one stack: `scripts/launch_*.py`."""
    app(["launch", stack, *sys.argv[1:]], prog_name=program)
