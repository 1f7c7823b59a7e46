# SPDX-License-Identifier: Apache-2.0
"""Turns head requests of stream clients into pan and tilt commands at a steady rate."""

import threading
import time
from types import TracebackType

import numpy as np
from typing_extensions import Self

from teleop_system.interfaces import ICameraStream, Pose6D
from teleop_system.modules.camera.camera_controller import CameraController, PanTiltOutput
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.camera.neck import Neck
from teleop_system.modules.camera.streaming.head_control import HeadRequest
from teleop_system.safety.staleness import HEAD_ANGLES, HEAD_REQUEST


class HeadFollower:
    """Turns requests into commands: head orientations by the controller, angles directly.

    An orientation is gated, smoothed, counted from the first one and ramped, as in a session.
    Everything restarts when another client takes over. `HeadThread` adds the clock.
    """

    def __init__(self, config: CameraConfig, pan: float = 0.0, tilt: float = 0.0) -> None:
        self._controller = CameraController(config)
        self._neck = Neck(config)
        self._pan, self._tilt = pan, tilt
        self._source: tuple[int, bool] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no client turns the head."""
        return self._source is None

    def release(self, pan: float, tilt: float) -> None:
        """Forget the client; the head is at these angles [rad], where the next one starts."""
        self._source = None
        self._pan, self._tilt = pan, tilt

    def update(self, request: HeadRequest, *, now: float, dt: float) -> PanTiltOutput:
        """Return the command of this tick.

        Args:
            request: The newest request; the same one again until a newer one arrives.
            now: Time in [s] on the clock of the requests.
            dt: Time since the last call in [s].
        """
        source = (request.client, request.angles is not None)
        if source != self._source:
            self._source = source
            self._controller.reset(self._pan, self._tilt)
            self._neck.reset(self._pan, self._tilt)
            self._neck.begin()
        if request.orientation is None:
            assert request.angles is not None
            output = self._follow_angles(request.angles, request.timestamp, now, dt)
        else:
            pose = Pose6D(np.zeros(3), request.orientation, request.timestamp)
            output = self._controller.update(pose, now=now, dt=dt)
        self._pan, self._tilt = output.pan, output.tilt
        return output

    def _follow_angles(
        self, angles: tuple[float, float], stamp: float, now: float, dt: float
    ) -> PanTiltOutput:
        if HEAD_ANGLES.is_stale(now - stamp):
            self._neck.hold(dt)
        else:
            self._neck.follow(*angles, dt)
        return PanTiltOutput(*self._neck.angles, (), stamp)


class HeadThread:
    """Runs a `HeadFollower` at its rate and commands the head of a camera.

    Args:
        config: Limits of the neck, and the rate.
        camera: The camera; motion starts at its measured pan and tilt.
    """

    def __init__(self, config: CameraConfig, camera: ICameraStream) -> None:
        self._follower = HeadFollower(config)
        self._camera = camera
        self._period = 1.0 / config.rate
        self._request: HeadRequest | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="head", daemon=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, request: HeadRequest) -> None:
        """Store the newest request; callable from any thread."""
        self._request = request

    def stop(self) -> None:
        """End the thread; safe to call twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stopping.wait(self._period):
            now = time.monotonic()
            self._tick(now, now - last)
            last = now

    def _tick(self, now: float, dt: float) -> None:
        request = self._request
        is_stale = request is None or HEAD_REQUEST.is_stale(now - request.timestamp)
        if is_stale or self._follower.is_idle:
            self._follower.release(*self._camera.get_orientation())
        if request is not None and not is_stale:
            output = self._follower.update(request, now=now, dt=dt)
            self._camera.command_head(output.pan, output.tilt, output.timestamp)
