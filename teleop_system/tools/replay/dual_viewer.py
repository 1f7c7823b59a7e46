# SPDX-License-Identifier: Apache-2.0
"""The person and the robot side by side: frames are kept while it runs, and drawn afterwards."""

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
"""Pictures of the strip."""


class DualViewer:
    """Films a replay.

    Args:
        simulator: The robot.
        skeleton: Draws the person.
        longest: Time in [s] after which no more frames are taken.
    """

    def __init__(
        self, simulator: MuJoCoSimulator, skeleton: SkeletonViewer, longest: float = 30.0
    ) -> None:
        self._simulator = simulator
        self._skeleton = skeleton
        self._longest = longest
        self._taken: list[tuple[float, float, float, Snapshot]] = []

    def maybe_shoot(self, now: float, time: float, heading: float) -> None:
        """Keep the present moment where the next frame is due.

        Args:
            now: Time since the beginning in [s].
            time: Of the recording in [s], from its first captured frame.
            heading: Direction in which the person goes in [rad].
        """
        if now >= len(self._taken) / RATE and now <= self._longest:
            self._taken.append((now, time, heading, self._simulator.snapshot()))

    def save(
        self, folder: Path, on_progress: ProgressCallback | None = None, *, video: bool = True
    ) -> list[Path]:
        """Draw what was kept, write a strip of pictures and a video, and return the files.

        Args:
            folder: Where to.
            on_progress: Called with the numbers of frames drawn and taken.
            video: Whether to write the video, which takes a drawing for each of its frames.
        """
        if not self._taken:
            return []
        places = np.linspace(0, len(self._taken) - 1, STRIP).round().astype(int).tolist()
        wanted = range(len(self._taken)) if video else sorted(set(places))
        frames: dict[int, Picture] = {}
        for done, place in enumerate(wanted):
            frame = self._draw(place)
            if frame is None:
                return []  # Nothing can be drawn here; the simulator has logged the reason.
            frames[place] = frame
            if on_progress is not None:
                on_progress(done + 1, len(wanted))
        strip = np.concatenate([_stacked(frames[place]) for place in places], axis=1)
        files = [save_picture(strip, folder / "replay.png")]
        if video and len(frames) > 1:
            files.append(save_video(list(frames.values()), folder / "replay.mp4", RATE))
        return files

    def _draw(self, place: int) -> Picture | None:
        now, time, heading, snapshot = self._taken[place]
        robot = self._simulator.render(snapshot)
        if robot is None:
            return None
        person = self._skeleton.draw(time, heading, caption=f"{now:5.1f} s")
        rows, columns = min(len(person), len(robot)), min(person.shape[1], robot.shape[1])
        aside = (robot.shape[1] - columns) // 2  # The robot stands in the middle.
        return np.concatenate(
            [person[:rows, :columns], robot[:rows, aside : aside + columns]], axis=1
        )


def _stacked(frame: Picture) -> Picture:
    """Return the person above the robot, half as large."""
    columns = frame.shape[1] // 2
    person, robot = frame[:, :columns], frame[:, columns:]
    return np.ascontiguousarray(np.concatenate([person, robot])[::2, ::2])
