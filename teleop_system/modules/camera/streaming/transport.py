# SPDX-License-Identifier: Apache-2.0
"""A connection that carries messages, with a time-out on every wait."""

import abc
import asyncio
import contextlib
import socket
from collections.abc import Awaitable
from typing import TypeVar

from typing_extensions import override

from teleop_system.exceptions import ProtocolError
from teleop_system.modules.camera.streaming.config import StreamLimits
from teleop_system.modules.camera.streaming.wire import (
    HEADER_SIZE,
    Message,
    MessageType,
    unpack_header,
    verify,
)

READ_BUFFER = 256 * 1024
"""Unread bytes per connection above which the sender has to wait."""
UNSENT_LIMIT = 32 * 1024
"""Bytes that the kernel may queue unsent. A queued frame grows old; a frame that is not yet
written is replaced by a newer one."""

ResultT = TypeVar("ResultT")


class Transport(abc.ABC):
    """One connection, over TCP or a browser's WebSocket.

    Args:
        reader: Its incoming half.
        writer: Its outgoing half.
        expected: Message types that the peer may send.
        limits: Time-outs.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        expected: frozenset[MessageType],
        limits: StreamLimits,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._expected, self._limits = expected, limits
        configure_socket(writer)

    @abc.abstractmethod
    async def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            ProtocolError: The message is invalid or too slow, or no message came in time.
            ConnectionError: The peer has closed the connection.
        """

    @abc.abstractmethod
    def send(self, header: bytes, payload: bytes = b"") -> None:
        """Queue a message; `flush()` waits until it is sent."""

    async def flush(self) -> None:
        """Wait until everything is sent.

        Raises:
            ProtocolError: The peer does not read.
            ConnectionError: The peer has closed the connection.
        """
        limit = self._limits.stall
        await wait_at_most(limit, self._writer.drain(), f"it has read nothing for {limit} s")

    def abort(self) -> None:
        """Close the connection at once, without waiting for the peer."""
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.transport.abort()

    async def close(self) -> None:
        """Send what is queued, for 0.2 s at most, and close."""
        with contextlib.suppress(OSError, ProtocolError):
            await wait_at_most(0.2, self._writer.drain(), "it does not read")
            if self._writer.can_write_eof():
                self._writer.write_eof()
        self.abort()


class TcpTransport(Transport):
    """Messages one after another on a TCP stream.

    Args:
        reader: Its incoming half.
        writer: Its outgoing half.
        expected: Message types that the peer may send.
        limits: Time-outs.
        first_bytes: Bytes of the first message that were already read.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        expected: frozenset[MessageType],
        limits: StreamLimits,
        *,
        first_bytes: bytes = b"",
    ) -> None:
        super().__init__(reader, writer, expected, limits)
        self._first_bytes = first_bytes

    @override
    async def receive(self) -> Message:
        begun, self._first_bytes = self._first_bytes, b""
        if not begun:
            limit = self._limits.silence
            begun = await wait_at_most(limit, self._reader.read(1), f"nothing came for {limit} s")
            if not begun:
                raise ConnectionResetError("the peer closed the connection")
        limit = self._limits.message
        return await wait_at_most(
            limit, self._read_rest(begun), f"a message took more than {limit} s"
        )

    async def _read_rest(self, begun: bytes) -> Message:
        data = begun + await self._read_exactly(HEADER_SIZE - len(begun))
        header = unpack_header(data, self._expected)
        return verify(data, header, await self._read_exactly(header.length))

    async def _read_exactly(self, count: int) -> bytes:
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError(
                f"the connection ended within a message, after {len(error.partial)} of {count} "
                "bytes"
            ) from error

    @override
    def send(self, header: bytes, payload: bytes = b"") -> None:
        self._writer.write(header)
        if payload:
            self._writer.write(payload)


def configure_socket(writer: asyncio.StreamWriter) -> None:
    """Send without delay, and keep the send queues short."""
    transport = writer.transport
    transport.set_write_buffer_limits(high=0)  # `drain()` waits until everything is written.
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is None:
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        unsent = getattr(socket, "TCP_NOTSENT_LOWAT", None)
        if unsent is not None:
            connection.setsockopt(socket.IPPROTO_TCP, unsent, UNSENT_LIMIT)


async def wait_at_most(limit: float, work: Awaitable[ResultT], complaint: str) -> ResultT:
    """Wait for an awaitable at most `limit` seconds.

    Unlike `asyncio.wait_for` this creates no task, which saves time with many clients.

    Raises:
        ProtocolError: It took longer; the message is `complaint`.
    """
    task = asyncio.current_task()
    assert task is not None
    is_late = False

    def give_up() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = asyncio.get_running_loop().call_later(limit, give_up)
    try:
        return await work
    except asyncio.CancelledError:
        if not is_late:
            raise
        if hasattr(task, "uncancel"):  # Python 3.11 and later count cancellations.
            task.uncancel()
        raise ProtocolError(complaint) from None
    finally:
        timer.cancel()
