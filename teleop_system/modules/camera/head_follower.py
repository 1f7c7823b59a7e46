# SPDX-License-Identifier: Apache-2.0
"""From what a stream's client wishes to pan and tilt, at a steady rate."""

import logging
import threading
import time
from collections.abc import Callable

import numpy as np

from teleop_system.interfaces import Pose6D
from teleop_system.interfaces.causes import Cause
from teleop_system.modules.camera.camera_controller import CameraController, PanTiltOutput
from teleop_system.modules.camera.config import CameraConfig
from teleop_system.modules.camera.neck_axis import NeckAxis
from teleop_system.modules.camera.streaming.head_control import HeadRequest
from teleop_system.safety.staleness import HEAD_ANGLES, HEAD_REQUEST

logger = logging.getLogger(__name__)


class HeadFollower:
    """Turns wishes into commands: an operator's head through the controller, angles directly.

    An operator's head is followed as in a session: gated, smoothed, counted from where it was
    first, along a ramp. Another client begins anew. A clock-free core for `HeadThread`.
    """

    def __init__(self, config: CameraConfig, pan: float = 0.0, tilt: float = 0.0) -> None:
        self._controller = CameraController(config)
        self._axes = (
            NeckAxis(config, config.pan_lower, config.pan_upper),
            NeckAxis(config, config.tilt_lower, config.tilt_upper),
        )
        self._pan, self._tilt = pan, tilt
        self._source: tuple[int, bool] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nobody has the head."""
        return self._source is None

    def release(self, pan: float, tilt: float) -> None:
        """Let go of the head, which is at these angles [rad]; the next wish begins anew."""
        self._source = None
        self._pan, self._tilt = pan, tilt

    def update(self, wish: HeadRequest | None, *, now: float, dt: float) -> PanTiltOutput | None:
        """Return the command of this tick; None before the first wish.

        Args:
            wish: The newest wish, the same again while there is no newer one.
            now: Time in [s] on the clock of the wishes.
            dt: Time since the last call in [s].
        """
        if wish is None:
            return None
        source = (wish.client, wish.angles is not None)
        if source != self._source:
            self._source = source
            self._controller.reset(self._pan, self._tilt)
            for axis, angle in zip(self._axes, (self._pan, self._tilt), strict=True):
                axis.reset(angle)
                axis.begin()
        if wish.orientation is None:
            assert wish.angles is not None
            output = self._look(wish.angles, wish.timestamp, now, dt)
        else:
            pose = Pose6D(np.zeros(3), wish.orientation, wish.timestamp)
            output = self._controller.update(pose, now=now, dt=dt)
        self._pan, self._tilt = output.pan, output.tilt
        return output

    def _look(
        self, angles: tuple[float, float], stamp: float, now: float, dt: float
    ) -> PanTiltOutput:
        for axis, angle in zip(self._axes, angles, strict=True):
            if not HEAD_ANGLES.is_stale(now - stamp):
                axis.follow(angle, dt)
            else:
                axis.hold(dt)
        return PanTiltOutput(self._axes[0].position, self._axes[1].position, (), stamp)


class HeadThread:
    """Runs a `HeadFollower` at its rate and hands every command to a sink.

    Args:
        config: Limits of the neck, and the rate.
        sink: Takes the commands, in this thread.
        where: Tells where the head is: pan and tilt in [rad]. There it begins.
    """

    def __init__(
        self,
        config: CameraConfig,
        sink: Callable[[PanTiltOutput], object],
        where: Callable[[], tuple[float, float]],
    ) -> None:
        self._follower = HeadFollower(config)
        self._where = where
        self._period = 1.0 / config.rate
        self._sink = sink
        self._wish: HeadRequest | None = None
        self._causes: tuple[Cause, ...] = ()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="head", daemon=True)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Whatever limited or held the head in the last tick."""
        return self._causes

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def take(self, wish: HeadRequest) -> None:
        """Store the newest wish."""
        self._wish = wish

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
        wish = self._wish
        is_released = wish is None or HEAD_REQUEST.is_stale(now - wish.timestamp)
        if is_released or self._follower.is_idle:
            self._follower.release(*self._where())
        if is_released:
            self._causes = ()
            return
        output = self._follower.update(wish, now=now, dt=dt)
        assert output is not None
        self._causes = output.causes
        self._sink(output)
