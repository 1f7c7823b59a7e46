# SPDX-License-Identifier: Apache-2.0
"""Replays a motion through the session: controllers, safety manager and MuJoCo."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import BVHError, ConfigError
from teleop_system.mocap.bvh_motion import (
    load_motion,
    load_recording,
    make_playback,
    mocap_config,
    motions_dir,
)
from teleop_system.mocap.config import MocapConfig
from teleop_system.mocap.mapped_motion import MappedMotion
from teleop_system.mocap.playback import SETTLING, Playback
from teleop_system.robots import load_robot
from teleop_system.session.artefact_writer import RunOutcome, evaluate_run, write_artefacts
from teleop_system.session.artefacts import RunFolder
from teleop_system.session.build import build_session, is_time_simulated, make_simulator
from teleop_system.session.report.panels import Section
from teleop_system.session.robot_proportions import scaled_to_robot
from teleop_system.session.runner import SessionRunner
from teleop_system.session.session import TeleopSession
from teleop_system.session.status import StatusReporter
from teleop_system.settings import TeleopSettings, load_settings
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.tools.contact_monitor import ContactMonitor
from teleop_system.tools.film import ProgressCallback
from teleop_system.tools.replay.dual_viewer import DualViewer
from teleop_system.tools.replay.report import replay_section
from teleop_system.tools.replay.score import (
    ReplayRun,
    ReplayScore,
    broken_limits,
    score_replay,
)
from teleop_system.tools.replay.skeleton_viewer import SkeletonViewer
from teleop_system.tools.replay.tilt_monitor import TiltMonitor

Array = NDArray[np.float64]
TickCallback = Callable[[float, float], None]
"""Called with the played time and the total time in [s]."""

DRIVER = "trackers"
LOOP_TIME = 60.0
"""Default duration of a looped replay in [s]."""


@dataclass(slots=True)
class ReplayResult:
    """Result of a replay.

    Attributes:
        score: The score.
        folder: Folder of the run; None without artefacts.
        files: Report, pictures and videos.
    """

    score: ReplayScore
    folder: Path | None = None
    files: list[Path] = field(default_factory=list)


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return BVH files from files, folders of files, or names of the package's motions.

    Raises:
        BVHError: A folder has no BVH file.
    """
    found: list[Path] = []
    for path in paths or [motions_dir()]:
        if path.is_dir():
            inside = sorted(path.glob("*.bvh"))
            if not inside:
                raise BVHError("no *.bvh file in this folder", path)
            found += inside
        else:
            found.append(path)
    return found


def replay_settings(file: Path, overrides: Sequence[str] = ()) -> TeleopSettings:
    """Return the settings of a replay, scaled to the robot.

    Raises:
        ConfigError: An override is invalid.
    """
    settings = load_settings(
        ["hardware=mocap", "simulation.real_time=false", "operator.duration=null", *overrides]
    )
    if settings.session.mode != "simulation":
        raise ConfigError("session.mode must be 'simulation' for a score")
    drivers = {
        name: dataclasses.replace(driver, options=driver.options | {"file": str(file)})
        if driver.name == "bvh"
        else driver
        for name, driver in settings.hardware.drivers.items()
    }
    hardware = dataclasses.replace(settings.hardware, drivers=drivers)
    mocap = dataclasses.replace(settings.mocap, file=file)
    return scaled_to_robot(dataclasses.replace(settings, hardware=hardware, mocap=mocap))


def run_replay(
    settings: TeleopSettings,
    *,
    artefacts: bool = True,
    film: bool = True,
    video: bool = True,
    on_tick: TickCallback | None = None,
    on_drawing: ProgressCallback | None = None,
) -> ReplayResult:
    """Replay the motion of the settings to its end, and score it.

    Args:
        settings: From `replay_settings`.
        artefacts: Whether to write a folder with report, arrays and figures.
        film: Whether to draw pictures of the person and the robot.
        video: Whether to draw a video as well.
        on_tick: Called regularly with the played time.
        on_drawing: Called with the numbers of drawn and stored frames.

    Raises:
        TeleopError: The motion or the settings cannot be used.
    """
    config = mocap_config(settings.hardware.drivers[DRIVER].options)
    motion = load_motion(config)
    simulator = make_simulator(settings)
    assert isinstance(simulator, MuJoCoSimulator)
    try:
        folder = RunFolder(settings.session.runs) if artefacts else None
        events = folder / folder.EVENTS if folder is not None else None
        session = build_session(settings, simulator=simulator, events=events)
        if folder is not None:
            folder.write_config(settings)
            folder.write_environment()
        replay = _Replay(settings, session, simulator, motion, config, film=film)
        try:
            replay.run(on_tick)
        finally:
            session.close()
        return replay.finish(folder, video=video, on_drawing=on_drawing)
    finally:
        simulator.shutdown()


class _Replay:
    """One replay: session, playback, checks and film."""

    def __init__(
        self,
        settings: TeleopSettings,
        session: TeleopSession,
        simulator: MuJoCoSimulator,
        motion: MappedMotion,
        config: MocapConfig,
        *,
        film: bool,
    ) -> None:
        self._settings = settings
        self._session = session
        self._robot = load_robot(settings.robot.name)
        self._motion = motion
        self._contacts = ContactMonitor(simulator, self._robot)
        self._tilt = TiltMonitor(simulator)
        self._viewer = None
        if film and settings.simulation.render:
            data, _ = load_recording(config)
            size = (settings.simulation.width, settings.simulation.height)
            skeleton = SkeletonViewer(data, width=min(size), height=size[1])
            self._viewer = DualViewer(simulator, skeleton)
        self._clock = 0.0
        # The devices' playback runs on the same clock as this copy.
        self._playback: Playback = make_playback(motion, config, lambda: self._clock)
        self._length = min(self._playback.length, LOOP_TIME)
        if settings.operator.duration is not None:
            self._length = min(self._length, settings.operator.duration)
        self._times: list[float] = []
        self._runner = SessionRunner(
            session,
            StatusReporter(session, self._robot),
            simulated_time=is_time_simulated(settings, session),
            real_time=settings.simulation.real_time,
        )

    def run(self, on_tick: TickCallback | None) -> None:
        """Run the session until the motion is over."""
        period = 1.0 / self._session.rate
        frames = self._motion.frame_count - self._motion.approach_frames

        def tick(now: float) -> None:
            self._contacts.check(now)
            self._tilt.check()
            if not self._session.status.following:
                return
            self._playback.play()
            time = self._playback.time()
            self._times.append(time)
            played = len(self._times) * period
            if self._viewer is not None:
                shown = (time - self._motion.approach) % (frames * self._motion.frame_time)
                shown = max(shown, 0.0) if time > self._motion.approach else 0.0
                heading = self._motion.body(time)[2] + self._motion.start_heading
                self._viewer.record_frame(played, shown, heading)
            if on_tick is not None and len(self._times) % 10 == 0:
                on_tick(played, self._length)
            self._clock += period

        self._runner.run(
            None,
            on_tick=tick,
            should_stop=lambda: len(self._times) * period >= self._length + SETTLING,
        )

    def finish(
        self, folder: RunFolder | None, *, video: bool, on_drawing: ProgressCallback | None
    ) -> ReplayResult:
        """Score the recording, and write the artefacts."""
        session, settings = self._session, self._settings
        outcome = evaluate_run(session, self._robot, self._contacts.pairs)
        if not self._times:
            reason = f"{session.status.state.value}: {session.status.reason}"
            raise ConfigError(f"the robot never followed; it stayed {reason}")
        run = self._run(outcome)
        score = score_replay(run, self._robot, settings)
        result = ReplayResult(score)
        if folder is None:
            return result
        if self._viewer is not None:
            result.files = self._viewer.save(folder.path, on_drawing, video=video)
        picture = next((file for file in result.files if file.suffix == ".png"), None)
        folder.write_json("score.json", score.document())
        sections: list[Section] = [replay_section(score, run)]
        write_artefacts(
            folder, outcome, session, self._runner, settings, picture=picture, sections=sections
        )
        result.folder = folder.path
        if outcome.report is not None:
            result.files.append(outcome.report)
        return result

    def _run(self, outcome: RunOutcome) -> ReplayRun:
        recorder = self._session.recorder
        assert recorder is not None, "only a recorded session can be scored"
        trace = recorder.trace.columns()
        ticks = np.flatnonzero(trace["following"] > 0.5)
        ticks = ticks[: min(len(ticks), len(self._times))]
        timer = self._session.timer
        return ReplayRun(
            motion=self._motion,
            times=np.array(self._times[: len(ticks)]),
            stamps=trace["time"][ticks],
            joints=recorder.joints,
            commands=trace["commands"][ticks],
            measured=trace["measured"][ticks],
            odometry=trace["odometry"][ticks],
            limit_violations=broken_limits(outcome.joints),
            self_contacts=list(outcome.self_contacts or ()),
            interventions=dict(outcome.interventions),
            holds=outcome.holds,
            tilt=self._tilt.largest,
            state=self._runner.summary.state.value,
            tick=float(np.mean(timer.history.column(timer.TOTAL))),
        )
