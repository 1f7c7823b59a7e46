# SPDX-License-Identifier: Apache-2.0
"""Draws in a thread of its own, so that physics never waits for OpenGL."""

import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from teleop_system.exceptions import RenderingUnavailableError, TeleopError
from teleop_system.interfaces import RGBDFrame
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.offscreen import OffscreenRenderer, Snapshot

logger = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""How long to wait for a picture in [s]; without a graphics card the first takes seconds."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, eq=False)
class _Job(Generic[ResultT]):
    """Something to draw, and who waits for it."""

    draw: Callable[[OffscreenRenderer], ResultT]
    future: "Future[ResultT]" = field(default_factory=Future)

    def run(self, renderer: OffscreenRenderer) -> None:
        try:
            self.future.set_result(self.draw(renderer))
        except TeleopError as error:
            self.future.set_exception(error)
        except BaseException as error:
            self.future.set_exception(error)  # Whoever waits must hear of a bug here, too.
            raise


@dataclass(slots=True)
class _Stream:
    """The newest wish for a camera's view, and the newest view."""

    wish: Snapshot | None = None
    frame: RGBDFrame | None = None


class RenderThread:
    """Owner of the OpenGL context; takes snapshots in, gives pictures out.

    The thread starts with the first picture and ends with `close()` or with the process.
    """

    def __init__(self, model: Any, config: MuJoCoConfig) -> None:
        self._model = model
        self._config = config
        self._changed = threading.Condition()
        self._jobs: deque[_Job[Any]] = deque()
        self._streams: dict[int, _Stream] = {}
        self._thread: threading.Thread | None = None
        self._failure: RenderingUnavailableError | None = None
        self._closing = False

    def picture(self, snapshot: Snapshot, camera: int) -> NDArray[np.uint8]:
        """Wait for a colour picture, shape (H, W, 3).

        Raises:
            RenderingUnavailableError: Nothing can be drawn here.
        """
        return self._wait(lambda renderer: renderer.picture(snapshot, camera))

    def rgbd(self, snapshot: Snapshot, camera: int) -> RGBDFrame:
        """Wait for a colour and depth picture.

        Raises:
            RenderingUnavailableError: Nothing can be drawn here.
        """
        return self._wait(lambda renderer: renderer.rgbd(snapshot, camera))

    def request(self, snapshot: Snapshot, camera: int) -> bool:
        """Ask for a view without waiting; a newer request replaces one not yet begun.

        Returns:
            False where nothing can be drawn here.
        """
        with self._changed:
            self._streams.setdefault(camera, _Stream()).wish = snapshot
            self._ensure_running()
            self._changed.notify()
            return self._failure is None

    def latest(self, camera: int) -> RGBDFrame | None:
        """Return the newest requested view, or None before the first."""
        with self._changed:
            stream = self._streams.get(camera)
            return stream.frame if stream is not None else None

    def close(self) -> None:
        """End the thread and free OpenGL; safe to call twice."""
        with self._changed:
            self._closing = True
            self._failure = self._failure or RenderingUnavailableError("the renderer is closed")
            self._changed.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(LONGEST_WAIT)
        atexit.unregister(self.close)

    def _wait(self, draw: Callable[[OffscreenRenderer], ResultT]) -> ResultT:
        job = _Job(draw)
        with self._changed:
            if self._failure is not None:
                raise self._failure
            self._jobs.append(job)
            self._ensure_running()
            self._changed.notify()
        try:
            return job.future.result(LONGEST_WAIT)
        except FutureTimeoutError:
            raise RenderingUnavailableError(f"no picture within {LONGEST_WAIT} s") from None

    def _ensure_running(self) -> None:
        if self._thread is None and self._failure is None:
            # A daemon, lest a forgotten shutdown() keep the process alive.
            self._thread = threading.Thread(target=self._run, name="render", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        config = self._config
        try:
            renderer = OffscreenRenderer(
                self._model, config.width, config.height, shadows=config.shadows
            )
        except RenderingUnavailableError as error:
            logger.warning("cameras are off: %s", error)
            self._refuse(error)
            return
        except BaseException:
            self._refuse(RenderingUnavailableError("opening the renderer failed unexpectedly"))
            raise
        # Registered after the back end's own clean-up, hence run before it.
        atexit.register(self.close)
        try:
            while (job := self._next_job()) is not None:
                job.run(renderer)
        finally:
            renderer.close()
            self._refuse(RenderingUnavailableError("the renderer is closed"))

    def _next_job(self) -> _Job[Any] | None:
        """Wait for work: pictures somebody waits for, then views; None when all is over."""
        with self._changed:
            while not self._closing:
                if self._jobs:
                    return self._jobs.popleft()
                for camera, stream in self._streams.items():
                    if stream.wish is not None:
                        # Behind the others from now on, so that every camera has its turn.
                        self._streams[camera] = self._streams.pop(camera)
                        return _view_job(camera, stream)
                self._changed.wait()
        return None

    def _refuse(self, error: RenderingUnavailableError) -> None:
        """Draw nothing from now on, and tell everybody who waits."""
        with self._changed:
            self._failure = error
            jobs, self._jobs = self._jobs, deque()
        for job in jobs:
            job.future.set_exception(error)


def _view_job(camera: int, stream: _Stream) -> _Job[None]:
    snapshot, stream.wish = stream.wish, None
    assert snapshot is not None

    def draw(renderer: OffscreenRenderer) -> None:
        stream.frame = renderer.rgbd(snapshot, camera)

    return _Job(draw)
