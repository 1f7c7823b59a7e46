# SPDX-License-Identifier: Apache-2.0
"""Runs a whole session from settings: simulator, window or film, artefacts and report."""

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
from teleop_system.tools.contact_watch import ContactWatch
from teleop_system.tools.film import Film, ProgressCallback

BuiltCallback = Callable[[TeleopSession], None]


@dataclass(slots=True)
class TeleopResult:
    """What came out of a session.

    Attributes:
        summary: How it went as a run.
        outcome: How well the robot followed.
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
    """Run a session until its time is up, its window is closed, or Ctrl-C is pressed.

    Args:
        settings: Everything there is to say.
        window: Whether to open a window; None opens one where there is a display.
        film: Whether to save a picture and a video where there is no window.
        on_built: Called with the session before it starts.
        on_status: Called a few times a second with the status.
        on_drawing: Called with the frames drawn and taken while the video is being finished.

    Raises:
        TeleopError: The settings cannot be used, or the simulation failed; what was recorded
            until then is written all the same.
    """
    settings = scaled_to_robot(settings)
    simulator = make_simulator(settings) if settings.session.mode == "simulation" else None
    try:
        folder = RunFolder(settings.session.runs) if settings.session.record else None
        session = _build(settings, simulator, folder)
        if on_built is not None:
            on_built(session)
        show = _Show(simulator, settings, window=window, film=film and folder is not None)
        return _run(session, settings, folder, show, on_status, on_drawing)
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
        folder.remove()  # Nothing ran.
        raise
    folder.write_config(settings)
    folder.write_environment()
    return session


def _run(
    session: TeleopSession,
    settings: TeleopSettings,
    folder: RunFolder | None,
    show: "_Show",
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
        with show.opened() as is_open:
            runner.run(
                settings.operator.duration,
                on_tick=show.on_tick,
                on_status=on_status,
                should_stop=lambda: not is_open(),
            )
    finally:
        session.close()
        result.outcome = evaluate_run(session, robot, show.contacts)
        if folder is not None:
            result.files = show.save(folder.path, on_drawing)
            picture = next((file for file in result.files if file.suffix == ".png"), None)
            write_artefacts(folder, result.outcome, session, runner, settings, picture=picture)
    return result


class _Show:
    """What there is to see of a simulation: a window, or a film; and what it is watched for."""

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
        self._watch = ContactWatch(self._simulator, robot) if self._simulator else None

    @property
    def contacts(self) -> list[tuple[str, str]] | None:
        """Pairs of the robot's links that touched each other; None where nobody looked."""
        return self._watch.pairs if self._watch is not None else None

    @contextlib.contextmanager
    def opened(self) -> Iterator[Callable[[], bool]]:
        """Yield a function that renews the window, if any, and tells whether to go on."""
        if self._simulator is None or not self._wants_window:
            yield lambda: True
            return
        with interactive_viewer(self._simulator) as viewer:

            def is_open() -> bool:
                viewer.sync()
                return bool(viewer.is_running())

            yield is_open

    def on_tick(self, time: float) -> None:
        """Take a frame and look for contacts where it is time to."""
        if self._film is not None:
            self._film.maybe_shoot(time)
        if self._watch is not None:
            self._watch.look(time)

    def save(self, folder: Path, on_drawing: ProgressCallback | None) -> list[Path]:
        """Finish the film, if there is one, and return its files."""
        return self._film.save(folder, on_drawing) if self._film is not None else []
