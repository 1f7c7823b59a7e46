# SPDX-License-Identifier: Apache-2.0
"""The scripts `demo_teleop_sim.py` and `test_*_standalone.py`: trials and their verdicts."""

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from teleop_system.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_MISTAKE, print_error
from teleop_system.cli.output import console, short_path
from teleop_system.exceptions import TeleopError

if TYPE_CHECKING:
    from teleop_system.session.runner import StatusCallback
    from teleop_system.tools.trials import Criterion, Trial

    Run = Callable[[StatusCallback], tuple[Trial, list[Criterion]]]

EXIT_PASSED = 0


def try_module(module: str, arguments: Sequence[str] | None = None) -> int:
    """Run the trial of a module as a script; return its exit code."""
    from teleop_system.tools.trials import TRIALS, run_trial

    trial = TRIALS[module]
    parser = _parser(f"Run the {module} module alone: {trial.shows}.")
    chosen = parser.parse_args(arguments)
    overrides = _overrides(chosen)
    window = False if chosen.no_gui else None
    return _show(
        f"{module}: {trial.shows}",
        lambda on_status: run_trial(module, overrides, window=window, on_status=on_status),
    )


def show_demo_steps(arguments: Sequence[str] | None = None) -> int:
    """Run one step of the demonstration, or all, as a script; return the exit code."""
    from teleop_system.tools.trials import STEPS, run_step

    listed = "; ".join(f"{number}: {step.shows}" for number, step in STEPS.items())
    parser = _parser(f"Demonstration with the simulated robot. {listed}.")
    parser.add_argument(
        "--step", type=int, choices=STEPS, help="number of the step; all by default"
    )
    chosen = parser.parse_args(arguments)
    overrides = _overrides(chosen)
    codes = []
    for number in [chosen.step] if chosen.step else list(STEPS):
        window = False if chosen.no_gui else None

        def run(
            on_status: "StatusCallback", number: int = number, window: bool | None = window
        ) -> "tuple[Trial, list[Criterion]]":
            return run_step(number, overrides, window=window, on_status=on_status)

        codes.append(_show(f"step {number}: {STEPS[number].shows}", run))
    return max(codes)


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="configuration changes")
    parser.add_argument("--mode", choices=("simulation", "hardware"), default="simulation")
    parser.add_argument("--no-gui", action="store_true", help="do not open a window")
    parser.add_argument("--fast", action="store_true", help="run faster than real time")
    return parser


def _overrides(chosen: argparse.Namespace) -> list[str]:
    found = [f"session.mode={chosen.mode}"]
    if chosen.fast:
        found.append("simulation.real_time=false")
    return [*found, *chosen.overrides]


def _show(title: str, run: "Run") -> int:
    """Run a trial, show its status and verdict, and return the exit code."""
    from rich.live import Live
    from rich.text import Text

    from teleop_system.cli.run import status_panel

    screen = console()
    screen.print(f"[bold]{title}[/] [dim](Ctrl-C ends it)[/]")
    try:
        with Live(
            Text("starting …"), console=screen, refresh_per_second=8, transient=True
        ) as live:
            trial, criteria = run(lambda status: live.update(status_panel(status, "", None)))
    except TeleopError as error:
        print_error(error)
        return EXIT_MISTAKE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    for criterion in criteria:
        mark = "[green]pass[/]" if criterion.passed else "[bold red]FAIL[/]"
        screen.print(f"  {mark}  {criterion.what}: [bold]{criterion.found}[/]")
    if trial.result.outcome.report is not None:
        screen.print(f"  report: {short_path(trial.result.outcome.report.absolute())}")
    if trial.result.summary.interrupted:
        screen.print("  [dim]interrupted; no verdict[/]")
        return EXIT_INTERRUPTED
    good = all(criterion.passed for criterion in criteria)
    screen.print(f"verdict: {'[bold green]PASS[/]' if good else '[bold red]FAIL[/]'}")
    return EXIT_PASSED if good else EXIT_FAILED
