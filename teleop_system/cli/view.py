# SPDX-License-Identifier: Apache-2.0
"""`teleop view`: shows a robot."""

from pathlib import Path
from typing import Annotated

import typer

from teleop_system.cli.arguments import RobotArgument
from teleop_system.cli.output import short_path


def view_robot_command(
    robot: RobotArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a picture to this file instead of opening a window.",
            show_default="outputs/ROBOT_POSE.png without a screen",
        ),
    ] = None,
    pose: Annotated[
        str | None, typer.Option(help="Named pose.", show_default="the initial pose")
    ] = None,
    camera: Annotated[
        str,
        typer.Option(
            help="corner, front, left, right, back, top, or a camera of the model; pictures only."
        ),
    ] = "corner",
    collision: Annotated[
        bool, typer.Option("--collision", help="Show the collision shapes.")
    ] = False,
    scene: Annotated[
        str, typer.Option(help="Scene: a name in models/scenes, a file, auto or none.")
    ] = "auto",
    size: Annotated[
        str, typer.Option(help="Width and height of a picture in pixels.")
    ] = "960x960",
) -> None:
    """Show a robot in a window, or write a picture if there is no screen.

    [dim]Examples:[/]
      teleop view rby1
      teleop view rby1 --pose a_pose --camera front --output rby1.png
      teleop view rby1_dg5f --collision
      teleop view rby1 --scene table
    """
    from teleop_system.robots import load_robot
    from teleop_system.simulators.viewer import has_display
    from teleop_system.tools.robot_view import ViewOptions, draw_robot, save_view, show_robot

    description = load_robot(robot)
    width, height = _size(size)
    options = ViewOptions(
        pose=pose,
        camera=camera,
        collision=collision,
        scene=None if scene == "none" else scene,
        width=width,
        height=height,
    )
    if output is None and has_display():
        typer.echo(f"{description.name}: close the window to end", err=True)
        show_robot(description, options)
        return
    shown = pose or description.initial_pose
    path = output or Path("outputs", f"{description.name}_{shown}.png")
    save_view(draw_robot(description, options), path)
    reason = "" if output else " (there is no screen)"
    typer.echo(f"{description.name} in pose {shown}: wrote {short_path(path.resolve())}{reason}")


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.lower().partition("x")
    if not (columns.isdigit() and rows.isdigit() and 0 < int(columns) <= 8192 >= int(rows) > 0):
        raise typer.BadParameter(
            f"needs COLUMNSxROWS up to 8192, got {text!r}", param_hint="--size"
        )
    return int(columns), int(rows)
