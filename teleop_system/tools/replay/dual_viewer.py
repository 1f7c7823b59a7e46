# SPDX-License-Identifier: Apache-2.0
"""Film of person and robot side by side; states are stored during the run, and drawn later."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.offscreen import Snapshot
from teleop_system.tools.film import ProgressCallback
from teleop_system.tools.media import save_picture, save_video
from teleop_system.tools.replay.skeleton_viewer import SkeletonViewer

Picture = NDArray[np.uint8]

RATE = 10.0
"""Frames per second of the video."""
STRIP = 8
"""Number of pictures in the strip."""


class DualViewer:
    """Films a replay.

    Args:
        simulator: The robot.
        skeleton: Draws the person.
        longest: Recorded time in [s].
    """

    def __init__(
        self, simulator: MuJoCoSimulator, skeleton: SkeletonViewer, longest: float = 30.0
    ) -> None:
        self._simulator = simulator
        self._skeleton = skeleton
        self._longest = longest
        self._stored: list[tuple[float, float, float, Snapshot]] = []

    def record_frame(self, now: float, time: float, heading: float) -> None:
        """Store the current state if the next frame is due.

        Args:
            now: Time since the start in [s].
            time: Time in the recording in [s], from its first captured frame.
            heading: Direction of the person's walk in [rad].
        """
        if now >= len(self._stored) / RATE and now <= self._longest:
            self._stored.append((now, time, heading, self._simulator.snapshot()))

    def save(
        self, folder: Path, on_progress: ProgressCallback | None = None, *, video: bool = True
    ) -> list[Path]:
        """Draw the stored frames, write a strip of pictures and a video; return the files.

        Args:
            folder: Target folder.
            on_progress: Called with the numbers of drawn and stored frames.
            video: Whether to write the video; it needs every frame drawn.
        """
        if not self._stored:
            return []
        indices = np.linspace(0, len(self._stored) - 1, STRIP).round().astype(int).tolist()
        selected = range(len(self._stored)) if video else sorted(set(indices))
        frames: dict[int, Picture] = {}
        for done, index in enumerate(selected):
            frame = self._draw(index)
            if frame is None:
                return []  # Rendering is unavailable; the simulator has logged the reason.
            frames[index] = frame
            if on_progress is not None:
                on_progress(done + 1, len(selected))
        strip = np.concatenate([_stacked(frames[index]) for index in indices], axis=1)
        files = [save_picture(strip, folder / "replay.png")]
        if video and len(frames) > 1:
            files.append(save_video(list(frames.values()), folder / "replay.mp4", RATE))
        return files

    def _draw(self, index: int) -> Picture | None:
        now, time, heading, snapshot = self._stored[index]
        robot = self._simulator.render(snapshot)
        if robot is None:
            return None
        person = self._skeleton.draw(time, heading, caption=f"{now:5.1f} s")
        rows, columns = min(len(person), len(robot)), min(person.shape[1], robot.shape[1])
        margin = (robot.shape[1] - columns) // 2  # The robot is in the centre.
        return np.concatenate(
            [person[:rows, :columns], robot[:rows, margin : margin + columns]], axis=1
        )


def _stacked(frame: Picture) -> Picture:
    """Return the person above the robot, at half size."""
    columns = frame.shape[1] // 2
    person, robot = frame[:, :columns], frame[:, columns:]
    return np.ascontiguousarray(np.concatenate([person, robot])[::2, ::2])
