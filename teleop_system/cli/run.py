# SPDX-License-Identifier: Apache-2.0
"""`teleop run`: a session, from the operator's devices to the robot."""

from typing import TYPE_CHECKING, Annotated

import typer

from teleop_system.cli.errors import EXIT_FAILED
from teleop_system.cli.output import console, short_path

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from teleop_system.session.signals import SignalPlan
    from teleop_system.session.status import SessionStatus
    from teleop_system.tools.teleop_run import TeleopResult

MILLI = 1e3
STATE_STYLES = {"engaged": "bold green", "ready": "cyan", "failed": "bold red"}
SEVERITY_STYLES = ("dim", "blue", "yellow", "bold red")
MOST_CAUSES = 6


def run_session_command(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Changes to the configuration; `teleop config` shows it.",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(help="simulation, or hardware for the real robot.", show_default=False),
    ] = None,
    modules: Annotated[
        str | None,
        typer.Option(
            help="Controllers to run, separated by commas: arm, hand, locomotion, camera.",
            show_default=False,
        ),
    ] = None,
    window: Annotated[
        bool | None,
        typer.Option(
            "--window/--no-gui",
            help="Open a window, or save a picture and a video instead.",
            show_default="a window if there is a display",
        ),
    ] = None,
    film: Annotated[
        bool,
        typer.Option("--film/--no-film", help="Save a picture and a video if there is no window."),
    ] = True,
) -> None:
    """Run a session, in which an operator controls the whole body of a robot.

    The session ends after [bold]operator.duration[/] seconds, when the window is closed, or with
    Ctrl-C, and writes a folder in [bold]runs/[/] with a report.

    [dim]Examples:[/]
      teleop run
      teleop run --modules arm,hand robot=rby1_dg5f operator.duration=60
      teleop run --no-gui simulation.real_time=false
    """
    from rich.live import Live
    from rich.text import Text

    from teleop_system.robot_side.engagement_table import EngagementState
    from teleop_system.settings import load_settings
    from teleop_system.tools.teleop_run import run_teleop

    settings = load_settings(session_overrides(overrides or [], mode, modules))
    screen = console()
    with Live(Text("starting …"), console=screen, refresh_per_second=8, transient=True) as live:
        result = run_teleop(
            settings,
            window=window,
            film=film,
            on_built=lambda session: screen.print(signal_table(session.plan)),
            on_status=lambda status: live.update(
                status_panel(status, settings.robot.name, settings.operator.duration)
            ),
            on_drawing=lambda drawn, taken: live.update(
                Text.from_markup(f"drawing the video: frame [bold]{drawn}[/] of {taken}")
            ),
        )
    show_result(result)
    if result.summary.state is EngagementState.FAILED:
        raise typer.Exit(EXIT_FAILED)


def session_overrides(overrides: list[str], mode: str | None, modules: str | None) -> list[str]:
    """Return the overrides of the options, followed by the typed ones."""
    chosen = []
    if mode is not None:
        chosen.append(f"session.mode={mode}")
    if modules is not None:
        names = ",".join(name.strip() for name in modules.split(",") if name.strip())
        chosen.append(f"session.modules=[{names}]")
    return [*chosen, *overrides]


def signal_table(plan: "SignalPlan") -> "Table":
    """Return the table of the operator's signals: controller, purpose and source."""
    from rich import box
    from rich.table import Table

    styles = {"measured": "green", "derived": "cyan", "missing": "yellow"}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("controller", "signal", "for", "source", "provider"):
        table.add_column(heading)
    for row in plan.rows:
        optional = "" if row.need.required else " [dim](optional)[/]"
        style = "bold red" if row.is_missing else styles[row.source]
        table.add_row(
            row.need.controller,
            f"[bold]{row.need.signal}[/]{optional}",
            row.need.purpose,
            f"[{style}]{row.source}[/]",
            row.provider,
        )
    return table


def status_panel(status: "SessionStatus", robot: str, duration: float | None) -> "RenderableType":
    """Return the live status: state and reason, errors, causes, rates and speed."""
    from rich.console import Group
    from rich.text import Text

    engagement = status.engagement
    state = engagement.state.value
    style = STATE_STYLES.get(state, "bold yellow")
    of = f"/{duration:.0f}" if duration is not None else ""
    lines = [
        f"[bold]{robot}[/]  [{style}]{state.upper()}[/]  [dim]{engagement.reason}[/]",
        f"[cyan]{status.time:6.1f}{of} s[/]  speed [bold]{status.speed:4.2f}x[/]  "
        f"overruns {status.overruns}  "
        + "  ".join(f"{name} [bold]{rate:.0f}[/] Hz" for name, rate in status.rates.items()),
    ]
    if engagement.note:
        lines.append(f"[yellow]{engagement.note}[/]")
    if status.errors:
        lines.append(
            "error  "
            + "   ".join(
                f"{chain} [bold]{MILLI * error.position:5.1f}[/] mm "
                f"[bold]{error.orientation * 57.2958:4.1f}[/]°"
                for chain, error in status.errors.items()
            )
        )
    linear, _, angular = status.base
    lines.append(f"base   [bold]{linear:+.2f}[/] m/s  [bold]{angular:+.2f}[/] rad/s")
    lines += _cause_lines(status)
    return Group(*(Text.from_markup(line) for line in lines))


def _cause_lines(status: "SessionStatus") -> list[str]:
    from rich.markup import escape

    ranked = sorted(status.causes, key=lambda cause: -cause.severity)
    lines = [
        f"[{SEVERITY_STYLES[cause.severity]}]{cause.severity.name.lower():>8}[/]  "
        f"{escape(str(cause))}"
        for cause in ranked[:MOST_CAUSES]
    ]
    if len(ranked) > MOST_CAUSES:
        lines.append(f"[dim]          and {len(ranked) - MOST_CAUSES} more[/]")
    return lines


def show_result(result: "TeleopResult") -> None:
    """Print the results of the session and the paths of its artefacts."""
    screen = console()
    screen.print(result_table(result))
    outcome, summary = result.outcome, result.summary
    if outcome.base is not None:
        screen.print(
            f"base: [bold]{outcome.base.driven:.2f}[/] m driven, "
            f"{outcome.base.commanded:.2f} m commanded"
        )
    if outcome.interventions:
        listed = ", ".join(f"{rule} {count}" for rule, count in outcome.interventions.items())
        screen.print(f"interventions: {listed}; [bold]{outcome.holds}[/] holds")
    elif outcome.tracking or outcome.joints:
        screen.print("interventions: none")
    else:
        screen.print("no results, because session.record is false")
    if outcome.self_contacts is not None:
        screen.print(f"self-collisions: [bold]{len(outcome.self_contacts)}[/]")
    for file in (*result.files, *([outcome.report] if outcome.report else [])):
        screen.print(f"saved [bold]{short_path(file.absolute())}[/]")
    if summary.interrupted:
        screen.print("[dim]interrupted[/]")


def result_table(result: "TeleopResult") -> "Table":
    """Return the tracking errors of every chain."""
    from rich import box
    from rich.table import Table

    summary = result.summary
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"{summary.duration:.1f} s at {summary.speed:.2f} x real time, ended "
        f"{summary.state.value} ({summary.reason})",
        title_justify="left",
    )
    for heading in (
        "chain",
        "error (RMS)",
        "95 %",
        "largest",
        "orientation error (RMS)",
        "largest",
    ):
        table.add_column(heading, justify="left" if heading == "chain" else "right")
    for entry in result.outcome.tracking:
        numbers = entry.figures
        table.add_row(
            entry.chain,
            *(f"{MILLI * numbers[f'position_{name}']:.1f} mm" for name in ("rms", "p95", "max")),
            *(f"{57.2958 * numbers[f'orientation_{name}']:.2f}°" for name in ("rms", "max")),
        )
    return table
