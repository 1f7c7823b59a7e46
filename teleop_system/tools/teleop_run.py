# SPDX-License-Identifier: Apache-2.0
"""Runs a session from settings: simulator, window or film, artefacts and report."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import ISimulator
from teleop_system.robots import load_robot
from teleop_system.session.artefact_writer import RunOutcome, evaluate_run, write_artefacts
from teleop_system.session.artefacts import RunFolder
from teleop_system.session.build import build_session, is_time_simulated, make_simulator
from teleop_system.session.robot_proportions import scaled_to_robot
from teleop_system.session.runner import RunSummary, SessionRunner, StatusCallback
from teleop_system.session.session import TeleopSession
from teleop_system.session.status import StatusReporter
from teleop_system.settings import TeleopSettings
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.viewer import has_display, interactive_viewer
from teleop_system.tools.contact_monitor import ContactMonitor
from teleop_system.tools.film import Film, ProgressCallback

BuiltCallback = Callable[[TeleopSession], None]


@dataclass(slots=True)
class TeleopResult:
    """Result of a session.

    Attributes:
        summary: Summary of the run.
        outcome: Tracking results.
        files: Pictures and videos.
    """

    summary: RunSummary
    outcome: RunOutcome
    files: list[Path] = field(default_factory=list)


def run_teleop(
    settings: TeleopSettings,
    *,
    window: bool | None = None,
    film: bool = True,
    on_built: BuiltCallback | None = None,
    on_status: StatusCallback | None = None,
    on_drawing: ProgressCallback | None = None,
) -> TeleopResult:
    """Run a session until its duration is over, its window is closed, or Ctrl-C is pressed.

    Args:
        settings: All settings.
        window: Whether to open a window; None for one if there is a display.
        film: Whether to save a picture and a video if there is no window.
        on_built: Called with the session before it starts.
        on_status: Called several times per second with the status.
        on_drawing: Called with the numbers of drawn and stored frames while the video is finished.

    Raises:
        TeleopError: The settings are invalid, or the simulation failed; recorded data is
            still written.
    """
    settings = scaled_to_robot(settings)
    simulator = make_simulator(settings) if settings.session.mode == "simulation" else None
    try:
        folder = RunFolder(settings.session.runs) if settings.session.record else None
        session = _build(settings, simulator, folder)
        if on_built is not None:
            on_built(session)
        observer = _Observer(simulator, settings, window=window, film=film and folder is not None)
        return _run(session, settings, folder, observer, on_status, on_drawing)
    finally:
        if simulator is not None:
            simulator.shutdown()


def _build(
    settings: TeleopSettings, simulator: ISimulator | None, folder: RunFolder | None
) -> TeleopSession:
    if folder is None:
        return build_session(settings, simulator=simulator)
    try:
        session = build_session(settings, simulator=simulator, events=folder / folder.EVENTS)
    except TeleopError:
        folder.remove()  # The session did not run.
        raise
    folder.write_config(settings)
    folder.write_environment()
    return session


def _run(
    session: TeleopSession,
    settings: TeleopSettings,
    folder: RunFolder | None,
    observer: "_Observer",
    on_status: StatusCallback | None,
    on_drawing: ProgressCallback | None,
) -> TeleopResult:
    robot = load_robot(settings.robot.name)
    runner = SessionRunner(
        session,
        StatusReporter(session, robot),
        simulated_time=is_time_simulated(settings, session),
        real_time=settings.simulation.real_time,
    )
    result = TeleopResult(runner.summary, RunOutcome())
    try:
        with observer.opened() as is_closed:
            runner.run(
                settings.operator.duration,
                on_tick=observer.on_tick,
                on_status=on_status,
                should_stop=is_closed,
            )
    finally:
        session.close()
        result.outcome = evaluate_run(session, robot, observer.contacts)
        if folder is not None:
            result.files = observer.save(folder.path, on_drawing)
            picture = next((file for file in result.files if file.suffix == ".png"), None)
            write_artefacts(folder, result.outcome, session, runner, settings, picture=picture)
    return result


class _Observer:
    """Window or film of a simulation, and its contact check."""

    def __init__(
        self,
        simulator: ISimulator | None,
        settings: TeleopSettings,
        *,
        window: bool | None,
        film: bool,
    ) -> None:
        self._simulator = simulator if isinstance(simulator, MuJoCoSimulator) else None
        self._wants_window = has_display() if window is None else window
        can_film = film and settings.simulation.render and not self._wants_window
        self._film = Film(self._simulator) if can_film and self._simulator is not None else None
        robot = load_robot(settings.robot.name)
        self._contacts = ContactMonitor(self._simulator, robot) if self._simulator else None

    @property
    def contacts(self) -> list[tuple[str, str]] | None:
        """Pairs of links that touched; None without a simulation."""
        return self._contacts.pairs if self._contacts is not None else None

    @contextlib.contextmanager
    def opened(self) -> Iterator[Callable[[], bool]]:
        """Yield a function that updates the window and returns whether it was closed."""
        if self._simulator is None or not self._wants_window:
            yield lambda: False
            return
        with interactive_viewer(self._simulator) as viewer:

            def is_closed() -> bool:
                viewer.sync()
                return not viewer.is_running()

            yield is_closed

    def on_tick(self, time: float) -> None:
        """Record a frame and check for contacts, if due."""
        if self._film is not None:
            self._film.record_frame(time)
        if self._contacts is not None:
            self._contacts.check(time)

    def save(self, folder: Path, on_drawing: ProgressCallback | None) -> list[Path]:
        """Finish the film, if any, and return its files."""
        return self._film.save(folder, on_drawing) if self._film is not None else []
