# SPDX-License-Identifier: Apache-2.0
"""Streams a camera to many clients at once.

One thread runs an asyncio loop with every connection in it: they wait for the network nearly
always, and nothing they share needs a lock. Packing is the only heavy work; it is done once per
frame for all clients, in the thread that takes frames from the camera.
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
from teleop_system.modules.camera.streaming.client_session import ClientSession, ReadyFrame
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.frame_pump import FramePump
from teleop_system.modules.camera.streaming.head_channel import HeadChannel, HeadWish
from teleop_system.modules.camera.streaming.loop_thread import LoopThread
from teleop_system.modules.camera.streaming.pipe import READ_BUFFER, Pipe, TcpPipe, within
from teleop_system.modules.camera.streaming.web_pipe import open_web_pipe
from teleop_system.modules.camera.streaming.wire import FROM_CLIENT, MAGIC
from teleop_system.utils.logger import ThrottledLogger

logger = logging.getLogger(__name__)

_GONE = (OSError, asyncio.IncompleteReadError)
"""What a connection ends with; TLS ends with OSErrors, too."""
BACKLOG = 256
"""Connections that may wait to be looked at; a flood is turned away faster than it fills this."""


@dataclass(frozen=True, slots=True)
class ServerStats:
    """What a server has done so far.

    Attributes:
        clients: Clients served now.
        frames: Frames packed.
        sent: Frames sent, summed over clients.
        skipped: Frames that clients were too slow for, likewise.
        refused: Connections turned away: too many, not authentic, or not the protocol.
        head: Number of the client that turns the head, or None.
    """

    clients: int
    frames: int
    sent: int
    skipped: int
    refused: int
    head: int | None


class RGBDStreamServer:
    """A camera on the network: `with RGBDStreamServer(camera, config, token=token): ...`.

    Args:
        camera: An open camera.
        config: Address, coding and limits.
        token: What clients must know; without one only this machine is served.
        on_head: Takes what a client wishes the head to do; called in the server's thread, so it
            may only store it. None where the head stays.

    Raises:
        ConfigError: The address would be public without a token, or TLS cannot be set up.
        MissingExtraError: The codec's libraries are not installed.
    """

    def __init__(
        self,
        camera: ICameraStream,
        config: StreamingConfig | None = None,
        *,
        token: str | None = None,
        on_head: Callable[[HeadWish], None] | None = None,
    ) -> None:
        self._config = config or StreamingConfig()
        self._token = token
        authentication.require_safe_bind(self._config, token)
        self._tls = authentication.server_tls(self._config)
        self._head = HeadChannel(on_head if self._config.head else None, self._config.head_release)
        self._pump = FramePump(
            camera, self._config, lambda: bool(self._sessions), self._on_packed_frame
        )
        self._sessions: dict[int, ClientSession] = {}
        self._log = ThrottledLogger(logger, 2.0)
        self._numbers = self._waiting = self._refused = self._frames = 0
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
        """Begin to serve.

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
        self._pump.start()
        host, port = self.address
        if self._token is not None and self._tls is None and not authentication.is_loopback(host):
            logger.warning("frames leave this machine unencrypted; see docs/streaming.md for TLS")
        logger.info("streaming on %s:%d; a browser opens %s", host, port, self.url)

    @property
    def address(self) -> tuple[str, int]:
        """Address and port that are listened on.

        Raises:
            StreamError: The server is not running.
        """
        if self._listener is None or not self._listener.sockets:
            raise StreamError("the stream server is not running; call start() first")
        host, port = self._listener.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        """What to open in a browser."""
        host, port = self.address
        return (
            f"{'https' if self._tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}/"
        )

    def stats(self) -> ServerStats:
        """Return what the server has done so far."""
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
        """Disconnect everybody and free the port; safe to call twice."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._pump.stop()
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
        if self._waiting >= self._config.limits.waiting:
            self._turn_away(peer, "flood", "too many connections wait to prove who they are")
            writer.transport.abort()
            return
        session: ClientSession | None = None
        try:
            self._waiting += 1
            try:
                limit = self._config.limits.handshake
                session = await within(
                    limit, self._admit(reader, writer), f"it did not say who it is in {limit} s"
                )
            finally:
                self._waiting -= 1
            if session is not None:
                await self._serve(session, peer)
        except (ProtocolError, AuthenticationError, MissingExtraError) as error:
            self._turn_away(peer, type(error).__name__, str(error))
        except asyncio.CancelledError:
            return  # The server stops; nobody waits for this task.
        except _GONE as error:
            self._log.log(logging.DEBUG, "gone", f"{peer} is gone: {error}", now=time.monotonic())
        finally:
            writer.transport.abort()

    async def _admit(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> ClientSession | None:
        """Return a client that has proved who it is; None where a browser only got a page."""
        pipe = await self._open_pipe(reader, writer)
        if pipe is None:
            return None
        self._numbers += 1
        stall = self._config.limits.stall
        session = ClientSession(self._numbers, pipe, self._on_head, stall=stall)
        try:
            await session.greet(self._token)
        except AuthenticationError as error:
            await session.refuse(str(error))
            raise
        if len(self._sessions) >= self._config.limits.clients:
            await session.refuse(f"all {self._config.limits.clients} places are taken")
            raise ProtocolError(f"all {self._config.limits.clients} places are taken")
        self._sessions[session.number] = session
        session.welcome()
        self._pump.repeat()
        return session

    async def _open_pipe(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Pipe | None:
        begun = await reader.readexactly(len(MAGIC))
        if begun == MAGIC:
            return TcpPipe(reader, writer, FROM_CLIENT, self._config.limits, begun=begun)
        if begun == b"GET " and self._config.page:
            return await open_web_pipe(reader, writer, self._config, begun)
        raise ProtocolError(f"a client begins with {MAGIC!r}, this one with {begun!r}")

    async def _serve(self, session: ClientSession, peer: str) -> None:
        logger.info("client %d (%s, %s) is here", session.number, session.name, peer)
        reason = "it left"
        try:
            await session.run()
        except TeleopError as error:
            reason = str(error)
            raise
        except _GONE as error:
            reason = str(error)
        finally:
            self._sessions.pop(session.number, None)
            self._head.leave(session.number)
            self._sent += session.frames
            self._skipped += session.skipped
            logger.info("client %d (%s) is gone: %s", session.number, peer, reason)

    def _turn_away(self, peer: str, kind: str, reason: str) -> None:
        self._refused += 1
        # Throttled by a few kinds: a reason may hold what the client sent, and no two are alike.
        self._log.warning(kind, f"turned {peer} away: {reason}", now=time.monotonic())

    def _on_head(self, wish: HeadWish) -> None:
        self._head.offer(wish, time.monotonic())

    def _on_packed_frame(self, frame: ReadyFrame) -> None:
        thread = self._thread
        if thread is not None:
            thread.call(self._offer_to_all, frame)

    def _offer_to_all(self, frame: ReadyFrame) -> None:
        self._frames += 1
        for session in self._sessions.values():
            session.offer(frame)
