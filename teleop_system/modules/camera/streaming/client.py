# SPDX-License-Identifier: Apache-2.0
"""The client of a stream: a camera on another machine as an `ICameraStream`."""

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
from teleop_system.modules.camera.streaming.codec import RGBDCodec
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.loop_thread import LoopThread
from teleop_system.modules.camera.streaming.server_connection import ServerConnection
from teleop_system.modules.camera.streaming.transport import (
    READ_BUFFER,
    TcpTransport,
    wait_at_most,
)
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
"""Pause in [s] before the first reconnection; each further pause is twice as long."""
FPS_FRAMES = 30
"""Number of recent frames from which the frame rate is computed."""


@dataclass(frozen=True, slots=True)
class ClientStats:
    """Statistics of a stream.

    Attributes:
        connected: Whether the client is connected and has a frame.
        frames: Frames received since the start.
        lost: Frames that the server replaced by newer ones before sending.
        fps: Recent frame rate in [Hz]; 0 without frames.
        latency: Time from exposure to decoded image in [s]; NaN until the clock offset is known.
        round_trip: Round-trip time of a ping in [s]; NaN before the first.
        connections: Number of connections made.
        faults: Frames that could not be decoded.
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
    """Receives frames in its own thread, and reconnects when necessary.

    Args:
        config: Address of the server, TLS and time-outs.
        token: Secret that the server requires.
        name: Name of this client in the server's log.
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
        self._connection: ServerConnection | None = None
        self._orientation = (0.0, 0.0)
        self._forget()

    @override
    def initialize(self) -> bool:
        """Connect and wait for the first frame; `start()` does not wait."""
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
        reason = self._last_problem or "no frame came"
        logger.error("no stream from %s:%d: %s", config.host, config.port, reason)
        self.shutdown()
        return False

    def start(self) -> None:
        """Start connecting, without waiting; retries until `shutdown()`.

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
        """Send the operator's head pose; the robot's head follows relative to the first one.

        Args:
            orientation: The operator's head as a quaternion xyzw, ROS axes.
            timestamp: Monotonic time of its measurement in [s]; now unless given.

        Returns:
            False without a connection; nothing is queued then.

        Raises:
            InvalidPoseError: The quaternion is not a rotation.
        """
        stamp = time.monotonic() if timestamp is None else timestamp
        return self._send(MessageType.HEAD, pack_head(quat_normalize(orientation)), stamp)

    def stats(self) -> ClientStats:
        """Return statistics of the stream."""
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
        self._last_problem: str | None = None
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
                self._report("refused", f"the server refused: {error}")
                pause = self._config.reconnect  # A wrong token stays wrong: do not retry fast.
            except (ProtocolError, OSError) as error:
                self._report("connection", f"not connected: {str(error) or type(error).__name__}")
            if self._frames > frames:
                pause = first
            await asyncio.sleep(pause)
            pause = min(2.0 * pause, self._config.reconnect)

    def _report(self, key: str, reason: str) -> None:
        self._last_problem = reason
        config = self._config
        self._log.warning(key, f"{config.host}:{config.port}: {reason}", now=time.monotonic())

    async def _stay_connected(self, tls: ssl.SSLContext | None) -> None:
        config = self._config
        limit = config.limits.handshake
        reader, writer = await wait_at_most(
            limit,
            asyncio.open_connection(config.host, config.port, limit=READ_BUFFER, ssl=tls),
            f"no answer within {limit} s",
        )
        transport = TcpTransport(reader, writer, FROM_SERVER, config.limits)
        connection = ServerConnection(transport, self._on_frame)
        try:
            handshake = connection.authenticate(self._token, self._name)
            await wait_at_most(limit, handshake, f"no handshake within {limit} s")
            self._connection, self._sequence = connection, None
            self._connections += 1
            await connection.run()
        finally:
            self._connection = None
            self.clear_frame()  # An old image must not look like a live one.
            await connection.close()

    def _on_frame(self, message: Message) -> None:
        """Decode a frame; an invalid one is counted and dropped."""
        connection, codec = self._connection, self._codec
        assert connection is not None
        assert codec is not None
        header = message.header
        try:
            content = unpack_frame(message.payload)
            rgb, depth = codec.decode(content.images)
        except (ProtocolError, CodecError) as error:
            self._faults += 1
            self._report("frame", f"dropped an invalid frame: {error}")
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
