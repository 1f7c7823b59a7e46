# SPDX-License-Identifier: Apache-2.0
"""Runs the demonstration at the pace of the clock, shows it, and sums it up."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from teleop_system.interfaces import TrackerRole
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.settings import TeleopSettings
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.simulated_tracker import SimulatedTracker
from teleop_system.simulators.viewer import has_display, interactive_viewer
from teleop_system.solvers import make_solver
from teleop_system.tools.demo.follow import FollowLoop, FollowReport
from teleop_system.tools.film import Film, ProgressCallback

STATUS_RATE = 5.0
"""How often the live status is renewed in [Hz]."""


@dataclass
class DemoResult:
    """What came out of a session.

    Attributes:
        robot: Name of the robot.
        simulated: Simulated time in [s].
        elapsed: Time it took in [s].
        position_errors: Position errors of each chain in [m], one per tick.
        orientation_errors: Orientation errors of each chain in [rad], one per tick.
        solved: Ticks at which the solver reached every target.
        ticks: Number of ticks.
        interrupted: Whether the user ended it.
        files: Pictures and videos that were written.
    """

    robot: str
    simulated: float = 0.0
    elapsed: float = 0.0
    position_errors: dict[str, list[float]] = field(default_factory=dict)
    orientation_errors: dict[str, list[float]] = field(default_factory=dict)
    solved: int = 0
    ticks: int = 0
    interrupted: bool = False
    files: list[Path] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """Simulated time per elapsed time."""
        return self.simulated / self.elapsed if self.elapsed > 0.0 else 0.0

    def add(self, report: FollowReport) -> None:
        """Take in one tick."""
        self.ticks += 1
        self.simulated = report.time
        self.solved += report.solved
        for name, error in report.position_errors.items():
            self.position_errors.setdefault(name, []).append(error)
            self.orientation_errors.setdefault(name, []).append(report.orientation_errors[name])


StatusCallback = Callable[[DemoResult], None]


def run_demo(
    settings: TeleopSettings,
    *,
    output: Path | None = None,
    window: bool | None = None,
    on_status: StatusCallback | None = None,
    on_drawing: ProgressCallback | None = None,
) -> DemoResult:
    """Let a robot follow a simulated operator until the time is up or Ctrl-C is pressed.

    Args:
        settings: Robot, simulation, solver and operator.
        output: Folder for a picture and a video; None writes none.
        window: Whether to open a window; None opens one where there is a display.
        on_status: Called a few times a second with the result so far.
        on_drawing: Called with the frames drawn and taken while the video is being finished.
    """
    robot = load_robot(settings.robot.name)
    simulator = MuJoCoSimulator()
    simulator.initialize(_simulator_config(settings, robot))
    try:
        loop = make_loop(settings, robot, simulator)
        result = DemoResult(robot.name)
        film = Film(simulator) if output is not None and settings.simulation.render else None
        with _maybe_window(simulator, has_display() if window is None else window) as is_open:
            _run(loop, result, settings, is_open=is_open, film=film, on_status=on_status)
        if film is not None and output is not None:
            result.files = film.save(output, on_drawing)
        return result
    finally:
        simulator.shutdown()


def _run(
    loop: FollowLoop,
    result: DemoResult,
    settings: TeleopSettings,
    *,
    is_open: Callable[[], bool],
    film: Film | None,
    on_status: StatusCallback | None,
) -> None:
    duration = settings.operator.duration or float("inf")
    start = time.perf_counter()
    next_status = 0.0
    try:
        while result.simulated < duration - 1e-9 and is_open():
            result.add(loop.tick())
            result.elapsed = time.perf_counter() - start
            if film is not None:
                film.maybe_shoot(result.simulated)
            if on_status is not None and result.elapsed >= next_status:
                next_status = result.elapsed + 1.0 / STATUS_RATE
                on_status(result)
            ahead = result.simulated - (time.perf_counter() - start)
            if settings.simulation.real_time and ahead > 0.0:
                time.sleep(ahead)
    except KeyboardInterrupt:
        result.interrupted = True
    result.elapsed = time.perf_counter() - start


def _simulator_config(settings: TeleopSettings, robot: RobotDescription) -> dict[str, object]:
    pose = settings.robot.initial_pose or robot.initial_pose
    simulation = settings.simulation
    return {
        "mjcf_path": str(robot.mjcf),
        "timestep": simulation.timestep,
        "scene": settings.robot.scene,
        "initial_pose": dict(robot.pose(pose)),
        "seed": simulation.seed,
        "base": robot.base,
        "render": simulation.render,
        "width": simulation.width,
        "height": simulation.height,
    }


def make_loop(
    settings: TeleopSettings, robot: RobotDescription, simulator: MuJoCoSimulator
) -> FollowLoop:
    """Return the loop in which a simulated robot follows the operator of the settings."""
    operator = settings.operator
    trackers = {
        role: SimulatedTracker(
            role,
            motion=operator.motion,
            seed=operator.seed,
            amplitude=operator.amplitude,
            frequency=operator.frequency,
        )
        for role in (TrackerRole.RIGHT_HAND, TrackerRole.LEFT_HAND, TrackerRole.WAIST)
    }
    solver = make_solver(
        robot, settings.solver.name, weights=settings.solver.chains, **settings.solver.options()
    )
    return FollowLoop(robot, simulator, solver, trackers=trackers, rate=settings.arm.rate)


@contextlib.contextmanager
def _maybe_window(simulator: MuJoCoSimulator, wanted: bool) -> Iterator[Callable[[], bool]]:
    """Yield a function that renews the window, if any, and tells whether to go on."""
    if not wanted:
        yield lambda: True
        return
    with interactive_viewer(simulator) as viewer:

        def is_open() -> bool:
            viewer.sync()
            return bool(viewer.is_running())

        yield is_open
