# SPDX-License-Identifier: Apache-2.0
"""Renders in a separate thread, so that physics never waits for OpenGL."""

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
"""Longest wait for an image in [s]; without a graphics card the first one takes seconds."""
REOPENING_PAUSE = 0.5
"""Time in [s] before a failed renderer is opened again."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, eq=False)
class _Job(Generic[ResultT]):
    """An image to render, and the future for its result."""

    draw: Callable[[OffscreenRenderer], ResultT]
    future: "Future[ResultT]" = field(default_factory=Future)

    def run(self, renderer: OffscreenRenderer) -> None:
        try:
            self.future.set_result(self.draw(renderer))
        except TeleopError as error:
            self.future.set_exception(error)
        except BaseException as error:
            # The waiting thread gets every error, also an unexpected one.
            self.future.set_exception(_rendering_failed(error))
            raise


class RenderThread:
    """Owns the OpenGL context and renders snapshots to images.

    The thread starts with the first image and ends with `close()` or with the process. After a
    rendering error the thread ends; a request at least `REOPENING_PAUSE` later starts a new one.
    If OpenGL could never be opened, it stays closed.
    """

    def __init__(self, model: Any, config: MuJoCoConfig) -> None:
        self._model = model
        self._config = config
        self._changed = threading.Condition()
        self._jobs: deque[_Job[Any]] = deque()
        self._thread: threading.Thread | None = None
        self._failure: RenderingUnavailableError | None = None
        self._was_open = False
        self._reopens_at = math.inf
        self._reported = ""
        self._closing = False

    def image(self, snapshot: Snapshot, camera: int) -> NDArray[np.uint8]:
        """Wait for a colour image, shape (H, W, 3).

        Raises:
            RenderingUnavailableError: Rendering is not available.
        """
        return self._wait(lambda renderer: renderer.image(snapshot, camera))

    def rgbd(self, snapshot: Snapshot, camera: int) -> RGBDFrame:
        """Wait for a colour and depth image.

        Raises:
            RenderingUnavailableError: Rendering is not available.
        """
        return self._wait(lambda renderer: renderer.rgbd(snapshot, camera))

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
            raise RenderingUnavailableError(f"no image within {LONGEST_WAIT} s") from None

    def _ensure_running(self) -> bool:
        """Start the thread if needed and allowed; return whether it runs."""
        if self._failure is not None:
            if self._closing or time.monotonic() < self._reopens_at:
                return False
            self._thread = self._failure = None
        if self._thread is None:
            # A daemon thread: a missing shutdown() must not keep the process alive.
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
        # Registered after the back end's own clean-up, so it runs before it.
        atexit.register(self.close)
        failure = RenderingUnavailableError("the renderer is closed")
        try:
            while (job := self._next_job()) is not None:
                job.run(renderer)
        except (mujoco.FatalError, mujoco.UnexpectedError) as error:
            failure = _rendering_failed(error)
        except BaseException as error:
            failure = _rendering_failed(error)
            raise
        finally:
            try:
                renderer.close()
            finally:
                self._refuse(failure)

    def _next_job(self) -> _Job[Any] | None:
        """Wait for the next image; None after `close()`."""
        with self._changed:
            while not self._closing:
                if self._jobs:
                    return self._jobs.popleft()
                self._changed.wait()
        return None

    def _refuse(self, error: RenderingUnavailableError) -> None:
        """Refuse requests from now on, or for `REOPENING_PAUSE`, and fail the waiting ones."""
        if not self._closing and str(error) != self._reported:
            self._reported = str(error)
            logger.warning("cameras are not available: %s", error)
        with self._changed:
            self._failure = error
            if self._was_open:
                self._reopens_at = time.monotonic() + REOPENING_PAUSE
            jobs, self._jobs = self._jobs, deque()
        for job in jobs:
            job.future.set_exception(error)


def _rendering_failed(error: BaseException) -> RenderingUnavailableError:
    return RenderingUnavailableError(f"rendering failed: {str(error) or type(error).__name__}")
