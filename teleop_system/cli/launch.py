# SPDX-License-Identifier: Apache-2.0
"""`teleop launch`: a stack of ROS 2 nodes as supervised processes."""

from typing import TYPE_CHECKING, Annotated

import typer

from teleop_system.cli.output import console

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.stacks.description import Stack

OTHER_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}


def complete_stack(incomplete: str) -> list[str]:
    """Return the stacks whose names begin with the typed text."""
    from teleop_system.stacks.catalogue import STACKS

    return [name for name in STACKS if name.startswith(incomplete)]


def launch_stack(
    context: typer.Context,
    stack: Annotated[
        str | None,
        typer.Argument(
            metavar="[STACK]",
            help="Stack to start; without it, all stacks are listed.",
            autocompletion=complete_stack,
            show_default=False,
        ),
    ] = None,
    compose: Annotated[
        bool, typer.Option("--compose", help="Run all nodes in one process.")
    ] = False,
    duration: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Duration in seconds, counted from when all nodes are up.",
            show_default="until Ctrl-C",
        ),
    ] = None,
    show_options: Annotated[
        bool, typer.Option("--options", help="List the options of the stack.")
    ] = False,
) -> None:
    """Start a stack of ROS 2 nodes, restart failed nodes, and stop all with Ctrl-C.

    After the name follow options of the stack ([bold]--options[/] lists them) as
    [bold]--name value[/] or [bold]name:=value[/], and changes to the configuration as
    [bold]key=value[/]. The same stacks are launch files for [bold]ros2 launch[/].

    The exit code is 0 after a clean shutdown, 1 if a node failed, 2 for an invalid command.

    [dim]Examples:[/]
      teleop launch
      teleop launch teleop_sim_full
      teleop launch teleop_sim_full --robot rby1_dg5f --camera --camera-fps 10
      teleop launch slave_mujoco viewer:=true arm.rate=50
    """
    from teleop_system.exceptions import MissingExtraError
    from teleop_system.stacks.arguments import parse_arguments
    from teleop_system.stacks.catalogue import find_stack
    from teleop_system.stacks.plan import make_plan
    from teleop_system.utils.ros2_helpers import is_ros_available

    if stack is None:
        console().print(stack_table())
        return
    chosen = find_stack(stack)
    if show_options:
        console().print(option_table(chosen))
        return
    plan = make_plan(chosen, parse_arguments(chosen, context.args))
    if not is_ros_available():
        raise MissingExtraError("rclpy (or a sourced ROS 2)", "ros")
    from teleop_system.stacks.supervisor.display import make_display
    from teleop_system.stacks.supervisor.supervisor import RunOptions, Supervisor

    options = RunOptions(compose=compose, duration=duration)
    raise typer.Exit(Supervisor(plan, make_display(console()), options).run())


def stack_table() -> "Table":
    """Return the table of all stacks."""
    from rich import box
    from rich.table import Table

    from teleop_system.stacks.catalogue import STACKS

    table = Table("stack", "description", box=box.SIMPLE_HEAD, pad_edge=False)
    for stack in STACKS.values():
        table.add_row(f"[bold]{stack.name}[/]", stack.summary)
    return table


def option_table(stack: "Stack") -> "Table":
    """Return the options of a stack with their defaults."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table("option", "default", "description", box=box.SIMPLE_HEAD, pad_edge=False)
    for option in stack.options.values():
        choices = [choice for choice in option.choices if choice]
        tail = f" [dim]({', '.join(choices)})[/]" if choices else ""
        table.add_row(
            f"[bold]{option.name}[/]",
            escape(option.text()),
            escape(option.description) + tail,
        )
    return table
