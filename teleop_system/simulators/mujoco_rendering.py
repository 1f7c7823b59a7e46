# SPDX-License-Identifier: Apache-2.0
"""Draws in a thread of its own, so that physics never waits for OpenGL."""

import atexit
import logging
import math
import threading
import time
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
from teleop_system.robots.mujoco_library import mujoco
from teleop_system.simulators.config import MuJoCoConfig
from teleop_system.simulators.offscreen import OffscreenRenderer, Snapshot

logger = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""How long to wait for a picture in [s]; without a graphics card the first takes seconds."""
REOPENING_PAUSE = 0.5
"""Time in [s] that has to pass before a renderer that failed is opened anew."""

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
            # Whoever waits must hear of it, be it OpenGL's fault or a bug here.
            self.future.set_exception(_drawing_failed(error))
            raise


@dataclass(slots=True)
class _Stream:
    """The newest wish for a camera's view, and the newest view."""

    wish: Snapshot | None = None
    frame: RGBDFrame | None = None


class RenderThread:
    """Owner of the OpenGL context; takes snapshots in, gives pictures out.

    The thread starts with the first picture and ends with `close()` or with the process. It ends
    with a picture that cannot be drawn, too; the first that is asked for `REOPENING_PAUSE` later
    starts another, with OpenGL opened anew. Where it never could be opened, it stays closed.
    """

    def __init__(self, model: Any, config: MuJoCoConfig) -> None:
        self._model = model
        self._config = config
        self._changed = threading.Condition()
        self._jobs: deque[_Job[Any]] = deque()
        self._streams: dict[int, _Stream] = {}
        self._thread: threading.Thread | None = None
        self._failure: RenderingUnavailableError | None = None
        self._was_open = False
        self._reopens_at = math.inf
        self._told = ""
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
            if not self._ensure_running():
                return False
            self._changed.notify()
            return True

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
            if not self._ensure_running():
                assert self._failure is not None
                raise self._failure
            self._jobs.append(job)
            self._changed.notify()
        try:
            return job.future.result(LONGEST_WAIT)
        except FutureTimeoutError:
            raise RenderingUnavailableError(f"no picture within {LONGEST_WAIT} s") from None

    def _ensure_running(self) -> bool:
        """Start the thread where it does not run and may; tell whether it runs."""
        if self._failure is not None:
            if self._closing or time.monotonic() < self._reopens_at:
                return False
            self._thread = self._failure = None
        if self._thread is None:
            # A daemon, lest a forgotten shutdown() keep the process alive.
            self._thread = threading.Thread(target=self._run, name="render", daemon=True)
            self._thread.start()
        return True

    def _run(self) -> None:
        config = self._config
        try:
            renderer = OffscreenRenderer(
                self._model, config.width, config.height, shadows=config.shadows
            )
        except RenderingUnavailableError as error:
            self._refuse(error)
            return
        except BaseException as error:
            self._refuse(RenderingUnavailableError(f"opening the renderer failed: {error!r}"))
            raise
        self._was_open = True
        # Registered after the back end's own clean-up, hence run before it.
        atexit.register(self.close)
        failure = RenderingUnavailableError("the renderer is closed")
        try:
            while (job := self._next_job()) is not None:
                job.run(renderer)
        except (mujoco.FatalError, mujoco.UnexpectedError) as error:
            failure = _drawing_failed(error)
        except BaseException as error:
            failure = _drawing_failed(error)
            raise
        finally:
            try:
                renderer.close()
            finally:
                self._refuse(failure)

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
        """Draw nothing from now on, or for a while, and tell everybody who waits."""
        if not self._closing and str(error) != self._told:
            self._told = str(error)
            logger.warning("cameras are off: %s", error)
        with self._changed:
            self._failure = error
            if self._was_open:
                self._reopens_at = time.monotonic() + REOPENING_PAUSE
            jobs, self._jobs = self._jobs, deque()
        for job in jobs:
            job.future.set_exception(error)


def _drawing_failed(error: BaseException) -> RenderingUnavailableError:
    return RenderingUnavailableError(f"drawing failed: {str(error) or type(error).__name__}")


def _view_job(camera: int, stream: _Stream) -> _Job[None]:
    snapshot, stream.wish = stream.wish, None
    assert snapshot is not None

    def draw(renderer: OffscreenRenderer) -> None:
        stream.frame = renderer.rgbd(snapshot, camera)

    return _Job(draw)
