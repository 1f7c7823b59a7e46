# SPDX-License-Identifier: Apache-2.0
"""The head camera of a simulated robot, as an `ICameraStream`."""

import dataclasses
import logging
import math
import threading
import time
from collections.abc import Callable

from typing_extensions import override

from teleop_system.exceptions import InvalidValueError, TeleopError
from teleop_system.interfaces import BufferedCamera
from teleop_system.robots.description import RobotDescription
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.logger import ThrottledLogger

logger = logging.getLogger(__name__)

DEFAULT_CAMERA = "head_camera"
FIRST_FRAME = 60.0
"""Longest wait for the first picture in [s]; without a graphics card OpenGL takes its time."""


class SimCameraStream(BufferedCamera):
    """Draws the view of the robot's head in a thread of its own.

    Physics waits only while its state is copied (microseconds); drawing happens in the
    simulator's render thread with its own OpenGL context. The stream never moves the head: it
    passes requested angles to `aim`, which leads to the robot side.

    Args:
        simulator: An initialised simulator.
        robot: Its robot; the joints of the head are named there.
        camera: Camera in the model; the head's unless given.
        fps: Frames per second in [Hz]; fewer where drawing takes longer.
        aim: Receives requested pan and tilt in [rad]; without it, requests are ignored.
        clock: Monotonic time in [s], for the stamps.
    """

    def __init__(
        self,
        simulator: MuJoCoSimulator,
        robot: RobotDescription,
        *,
        camera: str | None = None,
        fps: float = 30.0,
        aim: Callable[[float, float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not (math.isfinite(fps) and fps > 0.0):
            raise InvalidValueError(f"fps must be positive, got {fps}")
        head = robot.head
        self._camera = camera or (head.camera if head is not None else None) or DEFAULT_CAMERA
        super().__init__(f"camera {self._camera}")
        self._simulator, self._clock = simulator, clock
        self._joints = (head.pan, head.tilt) if head is not None else (None, None)
        self._aim = aim
        self._period = 1.0 / fps
        self._log = ThrottledLogger(logger, 5.0)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @override
    def initialize(self) -> bool:
        self.shutdown()
        try:
            # The first picture opens OpenGL, which is where drawing fails, if it does.
            self._take_picture()
        except TeleopError as error:
            logger.error("camera %r is not available: %s", self._camera, error)
            return False
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._draw_all, args=(self._stopping,), name="camera", daemon=True
        )
        self._thread.start()
        return True

    @override
    def shutdown(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(FIRST_FRAME)
        self._thread = None
        self.clear_frame()

    @override
    def is_connected(self) -> bool:
        return self._thread is not None and self.has_frame

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        if not (math.isfinite(pan) and math.isfinite(tilt)):
            raise InvalidValueError(f"pan and tilt must be finite, got {pan} and {tilt}")
        if self._aim is not None:
            self._aim(pan, tilt)
            return
        self._log.warning("aim", "nothing drives this head: angles ignored", now=time.monotonic())

    @override
    def get_orientation(self) -> tuple[float, float]:
        names = self._simulator.get_joint_names()
        positions = self._simulator.get_state().joint_positions
        pan, tilt = (
            0.0 if joint is None else float(positions[names.index(joint)])
            for joint in self._joints
        )
        return pan, tilt

    def _take_picture(self) -> None:
        stamp = self._clock()
        frame = self._simulator.get_camera_rgbd(self._camera)
        self.put_frame(dataclasses.replace(frame, timestamp=stamp))

    def _draw_all(self, stopping: threading.Event) -> None:
        due = time.monotonic()
        while not stopping.is_set():
            try:
                self._take_picture()
            except TeleopError as error:
                self.clear_frame()
                self._log.warning("draw", f"no picture: {error}", now=time.monotonic())
                stopping.wait(0.5)
            due = max(due + self._period, time.monotonic())
            stopping.wait(due - time.monotonic())
