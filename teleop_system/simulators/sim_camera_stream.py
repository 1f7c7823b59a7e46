# SPDX-License-Identifier: Apache-2.0
"""The head camera of a simulated robot, as an `ICameraStream`."""

import dataclasses
import logging
import math
import threading
import time
from collections.abc import Callable

from typing_extensions import override

from teleop_system.exceptions import InvalidValueError, SimulationError, TeleopError
from teleop_system.interfaces import BufferedCamera
from teleop_system.robots.description import RobotDescription
from teleop_system.simulators.mujoco_sim import MuJoCoSimulator
from teleop_system.utils.filters import RateLimiter
from teleop_system.utils.logger import ThrottledLogger

logger = logging.getLogger(__name__)

DEFAULT_CAMERA = "head_camera"
FIRST_FRAME = 60.0
"""Longest wait for the first picture in [s]; without a graphics card OpenGL takes its time."""
NECK_RATE = 100.0
"""Frequency of the neck's commands, and of physics where the stream drives it, in [Hz]."""


class SimCameraStream(BufferedCamera):
    """Draws what the robot's head sees, at its own pace and in threads of its own.

    Physics only ever waits for a copy of its state (microseconds); drawing happens in the
    simulator's render thread with its own OpenGL context. The neck moves within the speed,
    acceleration and jerk of the robot's description.

    Args:
        simulator: An initialised simulator.
        robot: Its robot; the joints of the head are named there.
        camera: Camera in the model; the head's unless given.
        fps: Frames per second in [Hz]; fewer where drawing takes longer.
        drives_physics: Whether this stream advances the simulator in real time. Not where
            somebody else does.
        clock: Monotonic time in [s], for the stamps.
    """

    def __init__(
        self,
        simulator: MuJoCoSimulator,
        robot: RobotDescription,
        *,
        camera: str | None = None,
        fps: float = 30.0,
        drives_physics: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not (math.isfinite(fps) and fps > 0.0):
            raise InvalidValueError(f"fps must be positive, got {fps}")
        head = robot.head
        self._camera = camera or (head.camera if head is not None else None) or DEFAULT_CAMERA
        super().__init__(f"camera {self._camera}")
        self._simulator, self._clock = simulator, clock
        self._neck = _Neck(robot)
        self._period = 1.0 / fps
        self._drives_physics = drives_physics
        self._log = ThrottledLogger(logger, 5.0)
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    @override
    def initialize(self) -> bool:
        self.shutdown()
        try:
            # The first picture opens OpenGL, which is where drawing fails, if it does.
            self._take_picture()
        except TeleopError as error:
            logger.error("camera %r cannot be had: %s", self._camera, error)
            return False
        self._neck.reset(self._simulator)
        self._stopping = threading.Event()
        for target in (self._draw_all, self._move):
            thread = threading.Thread(
                target=target, args=(self._stopping,), name=target.__name__, daemon=True
            )
            thread.start()
            self._threads.append(thread)
        return True

    @override
    def shutdown(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(FIRST_FRAME)
        self._threads.clear()
        self.clear_frame()

    @override
    def is_connected(self) -> bool:
        return bool(self._threads) and self.has_frame

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        self._neck.aim(pan, tilt)

    @override
    def get_orientation(self) -> tuple[float, float]:
        return self._neck.angles(self._simulator)

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

    def _move(self, stopping: threading.Event) -> None:
        period = 1.0 / NECK_RATE
        due = time.monotonic()
        while not stopping.is_set():
            try:
                self._neck.step(self._simulator, period)
                if self._drives_physics:
                    self._simulator.step(period)
            except SimulationError as error:
                self._log.warning("physics", f"physics stands still: {error}", now=due)
                stopping.wait(0.5)
            # Late is late: time that a busy machine took away is not made up for in a burst.
            due = max(due + period, time.monotonic() - period)
            stopping.wait(max(0.0, due - time.monotonic()))


class _Neck:
    """The joints of a head, if it has any, on the way to where it should look."""

    def __init__(self, robot: RobotDescription) -> None:
        head = robot.head
        joints = (head.pan, head.tilt) if head is not None else (None, None)
        self._joints = joints
        self._names = [name for name in joints if name is not None]
        self._limits = [robot.limits(name) for name in self._names]
        self._limiters = [
            RateLimiter(
                limit.velocity,
                limit.acceleration,
                limit.jerk,
                lower=limit.lower,
                upper=limit.upper,
            )
            for limit in self._limits
        ]
        self._wish: dict[str, float] | None = None

    def reset(self, simulator: MuJoCoSimulator) -> None:
        """Be at rest where the joints are, and wish for nothing."""
        self._wish = None
        found = self._positions(simulator)
        for name, limit, limiter in zip(self._names, self._limits, self._limiters, strict=True):
            limiter.reset(min(limit.upper, max(limit.lower, found[name])))

    def aim(self, pan: float, tilt: float) -> None:
        """Wish to look somewhere [rad], as far as the joints go."""
        if not (math.isfinite(pan) and math.isfinite(tilt)):
            raise InvalidValueError(f"pan and tilt must be finite, got {pan} and {tilt}")
        wish = dict(zip(self._joints, (pan, tilt), strict=True))
        self._wish = {
            name: min(limit.upper, max(limit.lower, wish[name]))
            for name, limit in zip(self._names, self._limits, strict=True)
        }

    def step(self, simulator: MuJoCoSimulator, dt: float) -> None:
        """Go on for `dt` [s]; before the first wish nothing is commanded."""
        wish = self._wish
        if wish is None or not self._names:
            return
        targets = [
            float(limiter.update(wish[name], dt))
            for name, limiter in zip(self._names, self._limiters, strict=True)
        ]
        simulator.set_joint_targets(self._names, targets)

    def angles(self, simulator: MuJoCoSimulator) -> tuple[float, float]:
        """Return pan and tilt in [rad]; 0 for a joint that is not there."""
        found = self._positions(simulator)
        pan, tilt = (found[name] if name is not None else 0.0 for name in self._joints)
        return pan, tilt

    def _positions(self, simulator: MuJoCoSimulator) -> dict[str, float]:
        if not self._names:
            return {}
        positions = simulator.get_state().joint_positions
        places = simulator.joint_indices(self._names)
        return dict(zip(self._names, positions[places].tolist(), strict=True))
