# SPDX-License-Identifier: Apache-2.0
"""The far end of a stream: a camera on another machine, seen as an `ICameraStream`."""

import asyncio
import logging
import math
import ssl
import time
from collections import deque
from dataclasses import dataclass

from numpy.typing import ArrayLike
from typing_extensions import override

from teleop_system.exceptions import (
    AuthenticationError,
    CodecError,
    ConfigError,
    InvalidValueError,
    ProtocolError,
)
from teleop_system.interfaces import BufferedCamera, RGBDFrame
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.client_connection import ClientConnection
from teleop_system.modules.camera.streaming.codec import RGBDCodec
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.loop_thread import LoopThread
from teleop_system.modules.camera.streaming.pipe import READ_BUFFER, TcpPipe, within
from teleop_system.modules.camera.streaming.wire import (
    FROM_SERVER,
    Message,
    MessageType,
    pack_head,
    pack_look,
    unpack_frame,
)
from teleop_system.utils.logger import ThrottledLogger
from teleop_system.utils.transforms import quat_normalize

logger = logging.getLogger(__name__)

DEVICE = "RGB-D stream"
FIRST_PAUSE = 0.1
"""Pause in [s] before the first try to connect again; each further one is twice as long."""
FPS_FRAMES = 30


@dataclass(frozen=True, slots=True)
class ClientStats:
    """How the stream is doing.

    Attributes:
        connected: Whether frames can come in.
        frames: Frames received since the start.
        lost: Frames of the server that did not come here, as newer ones took their place.
        fps: Frames a second of late in [Hz]; 0 when none come.
        latency: From exposure to unpacked image here in [s]; NaN while clocks are not compared.
        round_trip: Time of a ping there and back in [s]; NaN likewise.
        connections: How often a connection was made.
        faults: Messages that could not be used.
    """

    connected: bool
    frames: int
    lost: int
    fps: float
    latency: float
    round_trip: float
    connections: int
    faults: int


class RGBDStreamClient(BufferedCamera):
    """Receives frames in a thread of its own, and connects again whenever it has to.

    Args:
        config: Address of the server, TLS and time-outs.
        token: What the server asks for.
        name: What the server calls this client in its log.
    """

    def __init__(
        self,
        config: StreamingConfig | None = None,
        *,
        token: str | None = None,
        name: str = "viewer",
    ) -> None:
        super().__init__(DEVICE)
        self._config = config or StreamingConfig()
        self._token, self._name = token, name
        self._log = ThrottledLogger(logger, 5.0)
        self._codec: RGBDCodec | None = None
        self._thread: LoopThread | None = None
        self._connection: ClientConnection | None = None
        self._orientation = (0.0, 0.0)
        self._forget()

    @override
    def initialize(self) -> bool:
        """Connect, and wait for the first frame; `start()` does not wait."""
        try:
            self.start()
        except ConfigError as error:
            logger.error("%s", error)
            return False
        config = self._config
        until = time.monotonic() + config.limits.handshake
        while time.monotonic() < until and not self._is_refused:
            if self.wait_rgbd(-math.inf, 0.05) is not None:
                return True
        reason = self._refusal or "no frame came"
        logger.error("no stream from %s:%d: %s", config.host, config.port, reason)
        self.shutdown()
        return False

    def start(self) -> None:
        """Begin to connect, without waiting; goes on trying until `shutdown()`.

        Raises:
            ConfigError: TLS cannot be set up.
            MissingExtraError: The codec's libraries are not installed.
        """
        self.shutdown()
        self._codec = self._codec or RGBDCodec()
        tls = authentication.client_tls(self._config)
        self._forget()
        self._thread = LoopThread("stream client")
        self._thread.start(self._run(tls))

    @override
    def shutdown(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()
        self.clear_frame()

    @override
    def is_connected(self) -> bool:
        return self._thread is not None and self._connection is not None and self.has_frame

    @override
    def set_orientation(self, pan: float, tilt: float) -> None:
        if not (math.isfinite(pan) and math.isfinite(tilt)):
            raise InvalidValueError(f"pan and tilt must be finite, got {pan} and {tilt}")
        bound = math.pi - 1e-9
        pan, tilt = max(-bound, min(bound, pan)), max(-bound, min(bound, tilt))
        self._send(MessageType.LOOK, pack_look(pan, tilt), time.monotonic())

    @override
    def get_orientation(self) -> tuple[float, float]:
        return self._orientation

    def send_head(self, orientation: ArrayLike, timestamp: float | None = None) -> bool:
        """Let the robot's head turn as the operator's does, counted from the first one sent.

        Args:
            orientation: The operator's head as a quaternion xyzw, ROS axes.
            timestamp: Monotonic time of its measurement in [s]; now unless given.

        Returns:
            False where there is no connection to send it through; nothing is queued.

        Raises:
            InvalidPoseError: The quaternion stands for no rotation.
        """
        stamp = time.monotonic() if timestamp is None else timestamp
        return self._send(MessageType.HEAD, pack_head(quat_normalize(orientation)), stamp)

    def stats(self) -> ClientStats:
        """Return how the stream is doing."""
        now = time.monotonic()
        arrivals = [at for at in self._arrivals.copy() if now - at < 2.0]
        span = max(now - arrivals[0], 1e-3) if len(arrivals) > 1 else math.inf
        connection = self._connection
        return ClientStats(
            connected=self.is_connected(),
            frames=self._frames,
            lost=self._lost,
            fps=(len(arrivals) - 1) / span if len(arrivals) > 1 else 0.0,
            latency=self._latency,
            round_trip=connection.round_trip if connection is not None else math.nan,
            connections=self._connections,
            faults=self._faults,
        )

    def _forget(self) -> None:
        self._frames = self._lost = self._connections = self._faults = 0
        self._latency = math.nan
        self._sequence: int | None = None
        self._arrivals: deque[float] = deque(maxlen=FPS_FRAMES)
        self._refusal: str | None = None
        self._is_refused = False

    def _send(self, kind: MessageType, payload: bytes, stamp: float) -> bool:
        thread, connection = self._thread, self._connection
        if thread is None or connection is None:
            return False
        return thread.call(connection.send, kind, payload, int(stamp * 1e9))

    async def _run(self, tls: ssl.SSLContext | None) -> None:
        first = min(FIRST_PAUSE, self._config.reconnect)
        pause = first
        while True:
            frames = self._frames
            try:
                await self._stay_connected(tls)
            except AuthenticationError as error:
                self._is_refused = True
                self._complain("refused", f"the server refused: {error}")
                pause = self._config.reconnect  # Trying faster would not make it any truer.
            except (ProtocolError, OSError) as error:
                self._complain(
                    "connection", f"not connected: {str(error) or type(error).__name__}"
                )
            if self._frames > frames:
                pause = first
            await asyncio.sleep(pause)
            pause = min(2.0 * pause, self._config.reconnect)

    def _complain(self, key: str, reason: str) -> None:
        self._refusal = reason
        config = self._config
        self._log.warning(key, f"{config.host}:{config.port}: {reason}", now=time.monotonic())

    async def _stay_connected(self, tls: ssl.SSLContext | None) -> None:
        config = self._config
        limit = config.limits.handshake
        reader, writer = await within(
            limit,
            asyncio.open_connection(config.host, config.port, limit=READ_BUFFER, ssl=tls),
            f"it does not answer within {limit} s",
        )
        pipe = TcpPipe(reader, writer, FROM_SERVER, config.limits)
        connection = ClientConnection(pipe, self._on_frame)
        try:
            greeting = connection.greet(self._token, self._name)
            await within(limit, greeting, f"it does not say who it is within {limit} s")
            self._connection, self._sequence = connection, None
            self._connections += 1
            await connection.run()
        finally:
            self._connection = None
            self.clear_frame()  # An old picture must not pass for a live one.
            await connection.end()

    def _on_frame(self, message: Message) -> None:
        """Unpack a frame; one that cannot be is counted and left out."""
        connection, codec = self._connection, self._codec
        assert connection is not None
        assert codec is not None
        header = message.header
        try:
            content = unpack_frame(message.payload)
            rgb, depth = codec.decode(content.images)
        except (ProtocolError, CodecError) as error:
            self._faults += 1
            self._complain("frame", f"a frame is broken: {error}")
            return
        now = time.monotonic_ns()
        measured = min(connection.to_local(header.measured), now)
        if connection.is_synchronized:
            self._latency = (now - measured) * 1e-9
        if self._sequence is not None:
            self._lost += max(0, (header.sequence - self._sequence - 1) & 0xFFFFFFFF)
        self._sequence = header.sequence
        self._frames += 1
        self._arrivals.append(now * 1e-9)
        self._orientation = (content.pan, content.tilt)
        self.put_frame(
            RGBDFrame(
                rgb,
                depth,
                intrinsics=content.intrinsics,
                extrinsics=content.extrinsics,
                timestamp=measured * 1e-9,
                width=content.images.width,
                height=content.images.height,
            )
        )
