# SPDX-License-Identifier: Apache-2.0
"""Films a simulation without delaying it: states are stored, and drawn in another thread."""

import queue
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.simulators.offscreen import Snapshot
from teleop_system.tools.media import save_picture, save_video

RATE = 10.0
"""Frames per second of simulated time."""
MAX_DURATION = 30.0
"""Filmed part of the simulated time in [s]."""

ProgressCallback = Callable[[int, int], None]


class Film:
    """Draws snapshots of a simulation in the background; `save` draws the remaining ones.

    Without a graphics card one frame takes longer than ten control ticks, so the control loop
    must never wait for it.
    """

    def __init__(self, simulator: MuJoCoSimulator) -> None:
        self._simulator = simulator
        self._queue: queue.SimpleQueue[Snapshot | None] = queue.SimpleQueue()
        self._frames: list[NDArray[np.uint8]] = []
        self._stored = 0
        self._drawer = threading.Thread(target=self._draw, name="film", daemon=True)
        self._drawer.start()

    def record_frame(self, now: float) -> None:
        """Store the current state if the next frame is due at simulated time `now` [s]."""
        if now >= self._stored / RATE and now <= MAX_DURATION:
            self._stored += 1
            self._queue.put(self._simulator.snapshot())

    def save(
        self, folder: Path, on_progress: ProgressCallback | None = None, name: str = "run"
    ) -> list[Path]:
        """Draw the remaining frames, write a picture and a video, and return the files.

        Args:
            folder: Target folder; created if missing.
            on_progress: Called with the numbers of drawn and stored frames during the wait.
            name: Name of both files without extension.
        """
        self._queue.put(None)
        while self._drawer.is_alive():
            self._drawer.join(0.1)
            if on_progress is not None:
                on_progress(len(self._frames), self._stored)
        if not self._frames:
            return []
        files = [save_picture(self._frames[-1], folder / f"{name}.png")]
        if len(self._frames) > 1:
            files.append(save_video(self._frames, folder / f"{name}.mp4", RATE))
        return files

    def _draw(self) -> None:
        while (snapshot := self._queue.get()) is not None:
            frame = self._simulator.render(snapshot)
            if frame is None:
                return  # Rendering is unavailable; the simulator has logged the reason.
            self._frames.append(frame)
