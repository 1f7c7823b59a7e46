# SPDX-License-Identifier: Apache-2.0
"""Scores a replay that was recorded from ROS 2 topics."""

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import ConfigError
from teleop_system.mocap.bvh_motion import load_motion, mocap_config
from teleop_system.mocap.data_recorder import load_recording_arrays, load_recording_notes
from teleop_system.robots import RobotDescription, load_robot
from teleop_system.settings import TeleopSettings
from teleop_system.tools.contact_monitor import ContactMonitor
from teleop_system.tools.replay.score import ReplayRun, ReplayScore, score_replay
from teleop_system.tools.robot_simulation import simulate_robot

Array = NDArray[np.float64]

SIGNALS = ("playback", "measured", "commands", "speeds", "odometry")
ROUNDING = 1e-6
"""Share of a limit by which rounding may exceed it."""
STAMP_ROUNDING = 1e-3
"""The same for a quotient of stamp differences; wall-clock seconds as floats are coarse."""
CONTACT_STRIDE = 5
"""Ticks between two contact checks."""


def score_recording(path: Path) -> tuple[ReplayScore, ReplayRun]:
    """Return score and data of a replay over ROS 2.

    Raises:
        ConfigError: The file is not a replay recording, or the robot never followed.
        TeleopError: Its motion or settings cannot be loaded.
    """
    # Imported here, because the replay module imports the score module.
    from teleop_system.tools.replay.replay import replay_settings

    arrays, notes = load_recording_arrays(path), load_recording_notes(path)
    missing = [name for name in (*SIGNALS[:4], "file", "speed") if name not in {*arrays, *notes}]
    if missing:
        raise ConfigError(f"{path}: not a replay recording; it lacks {', '.join(missing)}")
    overrides = [str(text) for text in notes["overrides"]]
    played = [f"mocap.speed={notes['speed']}", f"mocap.loop={str(notes['loop']).lower()}"]
    settings = replay_settings(Path(notes["file"]), [*overrides, *played])
    robot = load_robot(settings.robot.name)
    run = _Recording(arrays, notes, robot, settings, path).run()
    return score_replay(run, robot, settings), run


class _Recording:
    """Recorded signals, each with its own stamps."""

    def __init__(
        self,
        arrays: dict[str, Array],
        notes: dict[str, Any],
        robot: RobotDescription,
        settings: TeleopSettings,
        path: Path,
    ) -> None:
        self._arrays = arrays
        self._notes = notes
        self._robot = robot
        self._settings = settings
        self._path = path
        self._joints = tuple(notes["commands"])
        self._period = 1.0 / settings.safety.rate

    def run(self) -> ReplayRun:
        """Return the part of the recording in which the motion was played."""
        stamps = self._grid()
        config = mocap_config(self._settings.hardware.drivers["trackers"].options)
        names = list(self._notes["measured"])
        order = [names.index(joint) for joint in self._joints]
        measured = self._at("measured", stamps)[:, order]
        odometry, tilt = self._odometry(stamps)
        return ReplayRun(
            motion=load_motion(config),
            times=self._at("playback", stamps)[:, 0],
            stamps=stamps,
            joints=self._joints,
            commands=self._at("commands", stamps),
            measured=measured,
            odometry=odometry,
            limit_violations=self._broken_limits(),
            self_contacts=self._contacts(stamps),
            interventions={str(k): int(v) for k, v in self._notes["interventions"].items()},
            holds=int(self._notes["holds"]),
            tilt=tilt,
            state=str(self._notes["state"]),
        )

    def _grid(self) -> Array:
        """Return evenly spaced stamps from the start of playback to the end of all signals."""
        times, stamps = self._arrays["playback"][:, 0], self._arrays["playback_stamp"]
        playing = np.flatnonzero(times > 0.0)
        if not playing.size:
            raise ConfigError(f"{self._path}: the motion was never played")
        begin = float(stamps[max(int(playing[0]) - 1, 0)])
        recorded = [name for name in SIGNALS if name in self._arrays]
        end = min(float(self._arrays[f"{name}_stamp"][-1]) for name in recorded)
        count = int((end - begin) / self._period)
        if count < 10:
            raise ConfigError(f"{self._path}: the robot was recorded for only {end - begin:.2f} s")
        return np.asarray(begin + self._period * np.arange(count), dtype=np.float64)

    def _at(self, name: str, stamps: Array) -> Array:
        values, times = self._arrays[name], self._arrays[f"{name}_stamp"]
        return np.stack([np.interp(stamps, times, column) for column in values.T], axis=-1)

    def _odometry(self, stamps: Array) -> tuple[Array, float]:
        if "odometry" not in self._arrays:
            return np.zeros((len(stamps), 3)), 0.0
        values, times = self._arrays["odometry"], self._arrays["odometry_stamp"]
        x, y, z, w = values[:, 3:].T
        headings = np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
        path = np.column_stack([values[:, :2], headings])
        found = np.stack([np.interp(stamps, times, column) for column in path.T], axis=-1)
        upright = np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)
        return found, float(np.arccos(upright).max())

    def _broken_limits(self) -> list[str]:
        """Return the joints that were commanded beyond a limit.

        A late cycle moves joints no farther than one on time, so positions over stamps
        underestimate the speed; the recorded speeds are exact.
        """
        commands, speeds = self._arrays["commands"], self._arrays["speeds"]
        gaps = np.diff(self._arrays["speeds_stamp"])[:, None]
        follows = gaps[:, 0] > 0.0
        changes = (np.diff(speeds, axis=0)[follows]) / gaps[follows]
        broken = []
        for column, joint in enumerate(self._joints):
            limits = self._robot.limits(joint)
            slack = ROUNDING * (limits.upper - limits.lower) if math.isfinite(limits.upper) else 0
            if (
                commands[:, column].min() < limits.lower - slack
                or commands[:, column].max() > limits.upper + slack
                or np.abs(speeds[:, column]).max() > limits.velocity * (1.0 + ROUNDING)
                or np.abs(changes[:, column]).max() > limits.acceleration * (1.0 + STAMP_ROUNDING)
            ):
                broken.append(joint)
        return broken

    def _contacts(self, stamps: Array) -> list[tuple[str, str]]:
        """Return the links that touch where the joints were measured."""
        simulator = simulate_robot(self._robot)
        try:
            model, data = simulator.model, simulator.data
            watch = ContactMonitor(simulator, self._robot)
            addresses = [int(model.joint(name).qposadr[0]) for name in self._notes["measured"]]
            for number, joints in enumerate(self._at("measured", stamps[::CONTACT_STRIDE])):
                data.qpos[addresses] = joints
                mujoco.mj_forward(model, data)
                watch.check(float(number))
            return watch.pairs
        finally:
            simulator.shutdown()
