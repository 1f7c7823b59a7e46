# SPDX-License-Identifier: Apache-2.0
"""`teleop replay`: plays recorded motions in a session and scores them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teleop_system.cli.errors import EXIT_FAILED
from teleop_system.cli.output import console, short_path

if TYPE_CHECKING:
    from rich.table import Table

    from teleop_system.tools.replay.score import ReplayScore

MILLI = 1e3
RECORDING = ".npz"
HEADINGS = (
    "motion",
    "time",
    "hand",
    "error",
    "without delay",
    "delay",
    "out of reach",
    "too fast",
    "base",
    "holds",
    "safe",
)


def replay_command(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|FOLDER|NAME|KEY=VALUE]...",
            help="BVH files, folders of them or names of the package's motions, and changes to "
            "the configuration; without files, all motions of the package. A .npz file recorded "
            "by a replay over ROS 2 is only scored.",
            show_default=False,
        ),
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Playback speed; 1 is real time.", show_default=False)
    ] = None,
    loop: Annotated[
        bool, typer.Option("--loop", help="Repeat the recording, for 60 s of simulated time.")
    ] = False,
    film: Annotated[
        bool, typer.Option("--film/--no-film", help="Save pictures of person and robot.")
    ] = True,
    video: Annotated[
        bool, typer.Option("--video/--no-video", help="Also save a video of person and robot.")
    ] = True,
    scores: Annotated[
        Path | None,
        typer.Option("--json", help="Also write the scores to this file.", show_default=False),
    ] = None,
) -> None:
    """Replay recorded motions on the simulated robot, and score how well it follows.

    Each replay writes a folder in [bold]runs/[/] with report, pictures and arrays. The exit code
    is 1 if a replay was not safe.

    [dim]Examples:[/]
      teleop replay walk_and_reach
      teleop replay recordings/ --json scores.json
      teleop replay dance.bvh --speed 0.5 --loop robot=rby1_dg5f
    """
    from teleop_system.tools.replay.replay import find_files

    words = arguments or []
    overrides = [word for word in words if "=" in word]
    if speed is not None:
        overrides.append(f"mocap.speed={speed}")
    if loop:
        overrides.append("mocap.loop=true")
    files = find_files([Path(word) for word in words if "=" not in word])
    found = _replay_all(files, overrides, film=film, video=video)
    screen = console()
    screen.print(score_table(found))
    if scores is not None:
        from teleop_system.utils.plain_values import plain

        text = json.dumps([plain(score.document()) for score in found], indent=2)
        scores.write_text(text + "\n", encoding="utf-8")
        screen.print(f"saved [bold]{short_path(scores.absolute())}[/]")
    if not all(score.is_safe for score in found):
        raise typer.Exit(EXIT_FAILED)


def _replay_all(
    files: list[Path], overrides: list[str], *, film: bool, video: bool
) -> list["ReplayScore"]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from teleop_system.tools.replay.replay import replay_settings, run_replay

    found = []
    screen = console()
    recordings = [file for file in files if file.suffix == RECORDING]
    files = [file for file in files if file.suffix != RECORDING]
    for recording in recordings:
        from teleop_system.tools.replay.recorded_run import score_recording

        found.append(score_recording(recording)[0])
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.1f}/{task.total:.1f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("", total=1.0)

        def show(done: float, total: float) -> None:
            progress.update(task, completed=min(done, total), total=total)

        for number, file in enumerate(files):
            name = f"[bold]{file.stem}[/] ({number + 1} of {len(files)}), time in s"
            progress.reset(task, total=1.0, description=name)
            result = run_replay(
                replay_settings(file, overrides),
                film=film,
                video=video,
                on_tick=show,
                on_drawing=lambda drawn, taken: show(float(drawn), float(taken)),
            )
            found.append(result.score)
            for path in result.files:
                screen.print(f"saved [bold]{short_path(path.absolute())}[/]")
    return found


def score_table(scores: list["ReplayScore"]) -> "Table":
    """Return the scores, one row per hand."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("motion", "hand") else "right")
    for score in scores:
        base = "none"
        if score.walk is not None and score.walk.allowed > 0.1:
            base = f"{score.walk.driven:.2f} of {score.walk.allowed:.2f} m"
        safe = "[green]yes[/]" if score.is_safe else "[bold red]no[/]"
        for index, (chain, hand) in enumerate(score.hands.items()):
            first = index == 0
            table.add_row(
                score.motion if first else "",
                f"{score.duration:.1f} s" if first else "",
                chain.replace("_", " "),
                f"{MILLI * hand.error:.1f} mm",
                f"{MILLI * hand.aligned:.1f} mm",
                f"{MILLI * hand.delay:.0f} ms",
                f"{100 * hand.unreachable:.0f} %",
                f"{100 * hand.too_fast:.0f} %",
                base if first else "",
                str(score.holds) if first else "",
                safe if first else "",
            )
    return table
