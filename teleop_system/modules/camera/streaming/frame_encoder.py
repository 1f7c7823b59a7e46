# SPDX-License-Identifier: Apache-2.0
"""A thread that takes frames from a camera and encodes each one once for all clients."""

import logging
import math
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from teleop_system.exceptions import TeleopError
from teleop_system.interfaces import ICameraStream, RGBDFrame
from teleop_system.modules.camera.streaming.codec import RGBDCodec
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.wire import FrameContent, pack_frame
from teleop_system.utils.logger import ThrottledLogger

logger = logging.getLogger(__name__)

FRAME_TIMEOUT = 0.25
"""Longest wait for a frame in [s] before the thread checks whether to stop."""
OLDEST = 60.0
"""A frame older than this in [s] has a stamp of another clock than the local monotonic one."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedFrame:
    """A frame as it is sent to every client.

    Attributes:
        sequence: Number of the frame.
        measured: Time of exposure in [ns].
        payload: Payload of the FRAME message.
        checksum: CRC-32 of the payload.
    """

    sequence: int
    measured: int
    payload: bytes
    checksum: int


class FrameEncoder:
    """Runs between a camera and its clients, so that neither waits for the other.

    Args:
        camera: An open camera.
        config: Frame rate and coding.
        has_viewers: Returns whether any client is connected; without one nothing is encoded.
        on_frame: Receives encoded frames in this thread.
    """

    def __init__(
        self,
        camera: ICameraStream,
        config: StreamingConfig,
        has_viewers: Callable[[], bool],
        on_frame: Callable[[EncodedFrame], object],
    ) -> None:
        self._camera = camera
        self._shortest_gap = 0.8 / config.fps  # Below one period, since frames have jitter.
        self._has_viewers, self._on_frame = has_viewers, on_frame
        self._codec = RGBDCodec(config.codec)
        self._log = ThrottledLogger(logger, 5.0)
        self._sequence = 0
        self._is_newcomer_waiting = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frame encoder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def repeat(self) -> None:
        """Send the newest frame again, for a client that has just connected."""
        self._is_newcomer_waiting = True

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        last, sent = -math.inf, -math.inf
        while not self._stopping.is_set():
            try:
                if not self._has_viewers():
                    self._stopping.wait(0.01)
                    continue
                if self._is_newcomer_waiting:
                    self._is_newcomer_waiting, last = False, math.nan  # NaN equals no stamp.
                frame = self._camera.wait_rgbd(last, FRAME_TIMEOUT)
                if frame is None:
                    continue
                last, now = frame.timestamp, time.monotonic()
                if now - sent < self._shortest_gap:
                    continue
                self._on_frame(self._encode(frame, now))
                sent = now
            except TeleopError as error:
                self._log.warning("camera", f"no frame: {error}", now=time.monotonic())
                self._stopping.wait(FRAME_TIMEOUT)

    def _encode(self, frame: RGBDFrame, now: float) -> EncodedFrame:
        pan, tilt = self._camera.get_orientation()
        frame = self._codec.prepare(frame)
        images = self._codec.encode(frame)
        payload = pack_frame(FrameContent(images, frame.intrinsics, frame.extrinsics, pan, tilt))
        self._sequence += 1
        stamp = frame.timestamp
        if not 0.0 <= now - stamp <= OLDEST:
            self._log.warning(
                "stamp",
                f"the camera's stamp {stamp:.3f} s is not on this machine's monotonic clock "
                f"({now:.3f} s): latency counts from the arrival of frames",
                now=now,
            )
            stamp = now
        return EncodedFrame(self._sequence, int(stamp * 1e9), payload, zlib.crc32(payload))
