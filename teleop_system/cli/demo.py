# SPDX-License-Identifier: Apache-2.0
"""`teleop demo`: watch a robot follow a simulated operator."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teleop_system.cli.output import console, short_path

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.tools.demo import DemoResult

DEFAULT_OUTPUT = Path("outputs")
MILLI = 1e3
FAR = 0.03
"""Distance from its target at which a chain no longer follows in [m]."""


def show_demo(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Changes to the configuration, as `teleop config` shows it.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option(help="Folder for a picture and a video when there is no window.")
    ] = DEFAULT_OUTPUT,
    window: Annotated[
        bool | None,
        typer.Option(
            "--window/--no-window",
            help="Open a window, or save a picture and a video instead.",
            show_default="a window where there is a display",
        ),
    ] = None,
) -> None:
    """Watch a robot in MuJoCo follow a simulated operator with its arms and torso.

    It ends after [bold]operator.duration[/] seconds, when the window is closed, or with Ctrl-C.

    [dim]Examples:[/]
      teleop demo
      teleop demo robot=rby1_dg5f robot.scene=table operator.duration=60
      teleop demo operator=sinusoid solver=pink simulation.real_time=false
    """
    from rich.live import Live
    from rich.text import Text

    from teleop_system.settings import load_settings
    from teleop_system.simulators.viewer import has_display
    from teleop_system.tools.demo import run_demo

    settings = load_settings(overrides or [])
    with_window = has_display() if window is None else window
    screen = console()
    screen.print(
        f"[bold]{settings.robot.name}[/] after a simulated operator "
        f"([cyan]{settings.operator.motion}[/] motion, [cyan]{settings.solver.name}[/] solver); "
        "[dim]Ctrl-C ends it.[/]"
    )
    with Live(Text("loading …"), console=screen, refresh_per_second=8, transient=True) as live:
        result = run_demo(
            settings,
            output=None if with_window else output,
            window=with_window,
            on_status=lambda so_far: live.update(
                Text.from_markup(status_line(so_far, settings.operator.duration))
            ),
            on_drawing=lambda drawn, taken: live.update(
                Text.from_markup(f"drawing the video: frame [bold]{drawn}[/] of {taken}")
            ),
        )
    screen.print(summary_table(result))
    for file in result.files:
        screen.print(f"saved [bold]{short_path(file.absolute())}[/]")
    for name in strayed(result):
        screen.print(
            f"[yellow]{name} often was far from its target:[/] out of reach from this pose, or "
            "giving way to the other chains. Try operator.amplitude=0.1 or another "
            "robot.initial_pose."
        )
    if result.interrupted:
        screen.print("[dim]stopped by you[/]")


def strayed(result: "DemoResult") -> list[str]:
    """Return the chains that could not follow for a good part of the time."""
    return [
        name
        for name, errors in result.position_errors.items()
        if sum(error > FAR for error in errors) > 0.1 * len(errors)
    ]


def status_line(result: "DemoResult", duration: float | None) -> str:
    """Return the live status as one line of markup."""
    of = f"/{duration:.0f}" if duration is not None else ""
    errors = "  ".join(
        f"{name} [bold]{errors[-1] * MILLI:5.1f}[/] mm"
        for name, errors in result.position_errors.items()
    )
    return (
        f"[cyan]{result.simulated:5.1f}{of} s[/]  speed {result.speed:4.2f}x  error now: {errors}"
    )


def summary_table(result: "DemoResult") -> "Table":
    """Return how well the robot followed, chain by chain."""
    import numpy as np
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"{result.robot} followed for {result.simulated:.1f} s "
        f"({result.speed:.2f} x real time)",
        title_justify="left",
    )
    for heading in ("chain", "RMS error", "largest", "RMS turn", "largest"):
        table.add_column(heading, justify="left" if heading == "chain" else "right")
    for name, errors in result.position_errors.items():
        places, turns = np.array(errors), np.degrees(result.orientation_errors[name])
        table.add_row(
            name,
            f"{np.sqrt(np.mean(places**2)) * MILLI:.1f} mm",
            f"{places.max() * MILLI:.1f} mm",
            f"{np.sqrt(np.mean(turns**2)):.2f}°",
            f"{turns.max():.2f}°",
        )
    return table
