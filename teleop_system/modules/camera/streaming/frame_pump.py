# SPDX-License-Identifier: Apache-2.0
"""Takes every new frame of a camera, packs it once for all clients, and hands it on."""

import logging
import math
import threading
import time
import zlib
from collections.abc import Callable

from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import ICameraStream, RGBDFrame
from teleop_system.modules.camera.streaming.client_session import ReadyFrame
from teleop_system.modules.camera.streaming.codec import RGBDCodec
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.wire import FrameContent, pack_frame
from teleop_system.utils.logger import ThrottledLogger

logger = logging.getLogger(__name__)

PATIENCE = 0.25
"""Time in [s] to wait for a frame before looking whether to go on."""
OLDEST = 60.0
"""Age in [s] past which a time stamp is not one of this machine's monotonic clock."""


class FramePump:
    """A thread between a camera and its clients; neither ever waits for the other.

    Args:
        camera: An open camera.
        config: Rate and coding.
        is_wanted: Tells whether anybody would look at a frame.
        on_frame: Takes packed frames; called in the pump's thread.
    """

    def __init__(
        self,
        camera: ICameraStream,
        config: StreamingConfig,
        is_wanted: Callable[[], bool],
        on_frame: Callable[[ReadyFrame], object],
    ) -> None:
        self._camera = camera
        self._shortest_gap = 0.8 / config.fps  # Frames come with jitter; none is to be lost to it.
        self._is_wanted, self._on_frame = is_wanted, on_frame
        self._codec = RGBDCodec(config.codec)
        self._log = ThrottledLogger(logger, 5.0)
        self._sequence = 0
        self._is_newcomer_waiting = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frame pump", daemon=True)

    def start(self) -> None:
        """Begin to take frames."""
        self._thread.start()

    def repeat(self) -> None:
        """Send the newest frame once more, for a client that has just come."""
        self._is_newcomer_waiting = True

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        last, sent = -math.inf, -math.inf
        while not self._stopping.is_set():
            try:
                if not self._is_wanted():
                    self._stopping.wait(0.01)
                    continue
                if self._is_newcomer_waiting:
                    self._is_newcomer_waiting, last = False, math.nan  # Equal to no stamp.
                frame = self._camera.wait_rgbd(last, PATIENCE)
                if frame is None:
                    continue
                last, now = frame.timestamp, time.monotonic()
                if now - sent < self._shortest_gap:
                    continue
                self._on_frame(self._pack(frame, now))
                sent = now
            except TeleopError as error:
                self._log.warning("camera", f"no frame: {error}", now=time.monotonic())
                self._stopping.wait(PATIENCE)

    def _pack(self, frame: RGBDFrame, now: float) -> ReadyFrame:
        pan, tilt = self._camera.get_orientation()
        frame = self._codec.prepare(frame)
        images = self._codec.encode(frame)
        content = FrameContent(images, frame.intrinsics, frame.extrinsics, pan, tilt)
        payload = pack_frame(content)
        self._sequence += 1
        stamp = frame.timestamp
        if not 0.0 <= now - stamp <= OLDEST:
            self._log.warning(
                "stamp",
                f"the camera's stamp {stamp:.3f} s is not of this machine's monotonic clock, "
                f"{now:.3f} s: latencies count from when frames come in",
                now=now,
            )
            stamp = now
        return ReadyFrame(self._sequence, int(stamp * 1e9), payload, zlib.crc32(payload))
