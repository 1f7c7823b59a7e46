# SPDX-License-Identifier: Apache-2.0
"""Films a simulation without holding it up: states are kept, and drawn as time allows."""

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
LONGEST = 30.0
"""Simulated time after which no more frames are taken in [s]."""

ProgressCallback = Callable[[int, int], None]


class Film:
    """Draws snapshots of a simulation in the background, and the rest when it is over.

    Without a graphics card a frame takes longer to draw than ten control ticks, so the control
    loop must never wait for one.
    """

    def __init__(self, simulator: MuJoCoSimulator) -> None:
        self._simulator = simulator
        self._waiting: queue.SimpleQueue[Snapshot | None] = queue.SimpleQueue()
        self._frames: list[NDArray[np.uint8]] = []
        self._taken = 0
        self._drawer = threading.Thread(target=self._draw, name="film", daemon=True)
        self._drawer.start()

    def maybe_shoot(self, now: float) -> None:
        """Keep the present state where the next frame is due at simulated time `now` [s]."""
        if now >= self._taken / RATE and now <= LONGEST:
            self._taken += 1
            self._waiting.put(self._simulator.snapshot())

    def save(
        self, folder: Path, on_progress: ProgressCallback | None = None, name: str = "run"
    ) -> list[Path]:
        """Draw what is left, write a picture and a video, and return the files.

        Args:
            folder: Where to; made if need be.
            on_progress: Called with the numbers of frames drawn and taken while this waits.
            name: Name of both files, without their endings.
        """
        self._waiting.put(None)
        while self._drawer.is_alive():
            self._drawer.join(0.1)
            if on_progress is not None:
                on_progress(len(self._frames), self._taken)
        if not self._frames:
            return []
        files = [save_picture(self._frames[-1], folder / f"{name}.png")]
        if len(self._frames) > 1:
            files.append(save_video(self._frames, folder / f"{name}.mp4", RATE))
        return files

    def _draw(self) -> None:
        while (snapshot := self._waiting.get()) is not None:
            frame = self._simulator.render(snapshot)
            if frame is None:
                return  # Nothing can be drawn here; the simulator has logged the reason.
            self._frames.append(frame)
