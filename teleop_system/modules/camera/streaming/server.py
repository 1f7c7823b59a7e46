# SPDX-License-Identifier: Apache-2.0
"""Streams a camera to many clients at once.

One thread runs an asyncio loop with all connections: they mostly wait for the network, and
shared data need no lock. Encoding is the only heavy work; the encoder thread does it once per
frame for all clients.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from typing_extensions import Self

from teleop_system.exceptions import (
    AuthenticationError,
    MissingExtraError,
    ProtocolError,
    StreamError,
    TeleopError,
)
from teleop_system.interfaces import ICameraStream
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.client_session import ClientSession
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.frame_encoder import EncodedFrame, FrameEncoder
from teleop_system.modules.camera.streaming.head_control import HeadControl, HeadRequest
from teleop_system.modules.camera.streaming.loop_thread import LoopThread
from teleop_system.modules.camera.streaming.transport import (
    READ_BUFFER,
    TcpTransport,
    Transport,
    wait_at_most,
)
from teleop_system.modules.camera.streaming.websocket_transport import accept_browser
from teleop_system.modules.camera.streaming.wire import FROM_CLIENT, MAGIC
from teleop_system.utils.logger import ThrottledLogger

logger = logging.getLogger(__name__)

_DISCONNECTED = (OSError, asyncio.IncompleteReadError)
"""Errors of a closed connection; TLS errors are OSErrors too."""
BACKLOG = 256
"""Connections that the kernel may queue; a flood is refused faster than it fills this queue."""


@dataclass(frozen=True, slots=True)
class ServerStats:
    """Counters of a server.

    Attributes:
        clients: Connected clients.
        frames: Frames encoded.
        sent: Frames sent, summed over clients.
        skipped: Frames that clients were too slow for, summed over clients.
        refused: Connections refused: too many, wrong token, or another protocol.
        head: Number of the client that turns the head, or None.
    """

    clients: int
    frames: int
    sent: int
    skipped: int
    refused: int
    head: int | None


class RGBDStreamServer:
    """Serves a camera: `with RGBDStreamServer(camera, config, token=token): ...`.

    Args:
        camera: An open camera.
        config: Address, coding and limits.
        token: Secret that clients must know; without one the server accepts this machine only.
        on_head: Receives head requests in the server's thread, so it may only store them. None
            if clients may not turn the head.

    Raises:
        ConfigError: A public address has no token, or TLS cannot be set up.
        MissingExtraError: The codec's libraries are not installed.
    """

    def __init__(
        self,
        camera: ICameraStream,
        config: StreamingConfig | None = None,
        *,
        token: str | None = None,
        on_head: Callable[[HeadRequest], None] | None = None,
    ) -> None:
        self._config = config or StreamingConfig()
        self._token = token
        authentication.require_safe_bind(self._config, token)
        self._tls = authentication.server_tls(self._config)
        self._head = HeadControl(on_head if self._config.head else None, self._config.head_release)
        self._encoder = FrameEncoder(
            camera, self._config, lambda: bool(self._sessions), self._on_encoded_frame
        )
        self._sessions: dict[int, ClientSession] = {}
        self._log = ThrottledLogger(logger, 2.0)
        self._last_number = self._handshakes = self._refused = self._frames = 0
        self._sent = self._skipped = 0
        self._thread: LoopThread | None = None
        self._listener: asyncio.Server | None = None

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
        """Start to listen.

        Raises:
            StreamError: The address cannot be listened on.
        """
        config = self._config
        self._thread = LoopThread("stream server")
        try:
            self._listener = self._thread.run(self._listen())
        except OSError as error:
            self._thread.stop()
            raise StreamError(f"cannot listen on {config.host}:{config.port}: {error}") from error
        self._encoder.start()
        host, port = self.address
        if self._token is not None and self._tls is None and not authentication.is_loopback(host):
            logger.warning("frames leave this machine unencrypted; see docs/streaming.md for TLS")
        logger.info("streaming on %s:%d; viewer page: %s", host, port, self.url)

    @property
    def address(self) -> tuple[str, int]:
        """Address and port the server listens on.

        Raises:
            StreamError: The server is not running.
        """
        if self._listener is None or not self._listener.sockets:
            raise StreamError("the stream server is not running; call start() first")
        host, port = self._listener.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        """URL of the viewer page."""
        host, port = self.address
        return (
            f"{'https' if self._tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}/"
        )

    def stats(self) -> ServerStats:
        """Return the counters of the server."""
        sessions = tuple(self._sessions.values())
        return ServerStats(
            clients=len(sessions),
            frames=self._frames,
            sent=self._sent + sum(session.frames for session in sessions),
            skipped=self._skipped + sum(session.skipped for session in sessions),
            refused=self._refused,
            head=self._head.owner,
        )

    def stop(self) -> None:
        """Disconnect all clients and free the port; safe to call twice."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._encoder.stop()
        if self._listener is not None:
            thread.call(self._listener.close)
        thread.stop()
        self._listener = None

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(
            self._on_connection,
            self._config.host,
            self._config.port,
            limit=READ_BUFFER,
            ssl=self._tls,
            backlog=BACKLOG,
            ssl_handshake_timeout=self._config.limits.handshake if self._tls else None,
        )

    async def _on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        peer = str((writer.get_extra_info("peername") or ("?",))[0])
        if self._handshakes >= self._config.limits.waiting:
            self._log_refusal(peer, "flood", "too many connections are in their handshake")
            writer.transport.abort()
            return
        session: ClientSession | None = None
        try:
            self._handshakes += 1
            try:
                limit = self._config.limits.handshake
                session = await wait_at_most(
                    limit, self._admit(reader, writer), f"no handshake within {limit} s"
                )
            finally:
                self._handshakes -= 1
            if session is not None:
                await self._serve(session, peer)
        except (ProtocolError, AuthenticationError, MissingExtraError) as error:
            self._log_refusal(peer, type(error).__name__, str(error))
        except asyncio.CancelledError:
            return  # The server stops, and no other task awaits this one.
        except _DISCONNECTED as error:
            reason = f"{peer} disconnected: {error}"
            self._log.log(logging.DEBUG, "disconnected", reason, now=time.monotonic())
        finally:
            writer.transport.abort()

    async def _admit(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> ClientSession | None:
        """Return an authenticated client; None if a browser only requested a page."""
        transport = await self._open_transport(reader, writer)
        if transport is None:
            return None
        self._last_number += 1
        stall = self._config.limits.stall
        session = ClientSession(self._last_number, transport, self._on_head, stall=stall)
        try:
            await session.authenticate(self._token)
        except AuthenticationError as error:
            await session.refuse(str(error))
            raise
        if len(self._sessions) >= self._config.limits.clients:
            reason = f"the limit of {self._config.limits.clients} clients is reached"
            await session.refuse(reason)
            raise ProtocolError(reason)
        self._sessions[session.number] = session
        session.welcome()
        self._encoder.repeat()
        return session

    async def _open_transport(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Transport | None:
        first_bytes = await reader.readexactly(len(MAGIC))
        if first_bytes == MAGIC:
            limits = self._config.limits
            return TcpTransport(reader, writer, FROM_CLIENT, limits, first_bytes=first_bytes)
        if first_bytes == b"GET " and self._config.page:
            return await accept_browser(reader, writer, self._config, first_bytes)
        raise ProtocolError(f"a client begins with {MAGIC!r}, this one with {first_bytes!r}")

    async def _serve(self, session: ClientSession, peer: str) -> None:
        logger.info("client %d (%s, %s) connected", session.number, session.name, peer)
        reason = "it left"
        try:
            await session.run()
        except TeleopError as error:
            reason = str(error)
            raise
        except _DISCONNECTED as error:
            reason = str(error)
        finally:
            self._sessions.pop(session.number, None)
            self._head.release(session.number)
            self._sent += session.frames
            self._skipped += session.skipped
            logger.info("client %d (%s) disconnected: %s", session.number, peer, reason)

    def _log_refusal(self, peer: str, kind: str, reason: str) -> None:
        self._refused += 1
        # Throttled by kind, because a reason may contain bytes of the client and always differ.
        self._log.warning(kind, f"refused {peer}: {reason}", now=time.monotonic())

    def _on_head(self, request: HeadRequest) -> None:
        self._head.submit(request, time.monotonic())

    def _on_encoded_frame(self, frame: EncodedFrame) -> None:
        thread = self._thread
        if thread is not None:
            thread.call(self._offer_to_all, frame)

    def _offer_to_all(self, frame: EncodedFrame) -> None:
        self._frames += 1
        for session in self._sessions.values():
            session.offer(frame)
