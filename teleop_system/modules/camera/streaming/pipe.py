# SPDX-License-Identifier: Apache-2.0
"""A connection that carries messages, with time-outs on everything that waits."""

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
"""Bytes a connection may have unread here before the sender is made to wait."""
UNSENT_LIMIT = 32 * 1024
"""Bytes the kernel may queue unsent. What lies there grows old; a frame not yet begun does not,
as a newer one takes its place."""

ResultT = TypeVar("ResultT")


class Pipe(abc.ABC):
    """One connection, over TCP or through a browser's WebSocket.

    Args:
        reader: Its incoming half.
        writer: Its outgoing half.
        expected: Types of message that the far end may send.
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
        tune(writer)

    @abc.abstractmethod
    async def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            ProtocolError: What came is none, it came too slowly, or nothing came for too long.
            ConnectionError: The far end is gone.
        """

    @abc.abstractmethod
    def put(self, header: bytes, payload: bytes = b"") -> None:
        """Hand a message to the connection; `flush()` waits until it has left."""

    async def flush(self) -> None:
        """Wait until everything has left.

        Raises:
            ProtocolError: The far end reads nothing.
            ConnectionError: The far end is gone.
        """
        limit = self._limits.stall
        await within(limit, self._writer.drain(), f"it has read nothing for {limit} s")

    def close(self) -> None:
        """Let go of the connection at once, without waiting for the far end."""
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.transport.abort()

    async def end(self) -> None:
        """Send what is left, for a moment at most, and close."""
        with contextlib.suppress(OSError, ProtocolError):
            await within(0.2, self._writer.drain(), "it does not read")
            if self._writer.can_write_eof():
                self._writer.write_eof()
        self.close()


class TcpPipe(Pipe):
    """Messages one behind the other; `begun` holds what was read of the first one."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        expected: frozenset[MessageType],
        limits: StreamLimits,
        *,
        begun: bytes = b"",
    ) -> None:
        super().__init__(reader, writer, expected, limits)
        self._begun = begun

    @override
    async def receive(self) -> Message:
        begun, self._begun = self._begun, b""
        if not begun:
            limit = self._limits.silence
            begun = await within(limit, self._reader.read(1), f"nothing came for {limit} s")
            if not begun:
                raise ConnectionResetError("the far end closed the connection")
        limit = self._limits.message
        return await within(limit, self._rest(begun), f"a message took more than {limit} s")

    async def _rest(self, begun: bytes) -> Message:
        data = begun + await self._exactly(HEADER_SIZE - len(begun))
        header = unpack_header(data, self._expected)
        return verify(data, header, await self._exactly(header.length))

    async def _exactly(self, count: int) -> bytes:
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError(
                f"the connection ended within a message, {len(error.partial)} of {count} bytes in"
            ) from error

    @override
    def put(self, header: bytes, payload: bytes = b"") -> None:
        self._writer.write(header)
        if payload:
            self._writer.write(payload)


def tune(writer: asyncio.StreamWriter) -> None:
    """Make a connection prompt: nothing is held back, and little is queued."""
    transport = writer.transport
    transport.set_write_buffer_limits(high=0)  # `drain()` waits until all has left.
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is None:
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        unsent = getattr(socket, "TCP_NOTSENT_LOWAT", None)
        if unsent is not None:
            connection.setsockopt(socket.IPPROTO_TCP, unsent, UNSENT_LIMIT)


async def within(limit: float, work: Awaitable[ResultT], complaint: str) -> ResultT:
    """Wait for something at most `limit` seconds.

    Unlike `asyncio.wait_for` it makes no task, which a server of many clients feels.

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
        if hasattr(task, "uncancel"):  # Since Python 3.11 a task counts who wants it to end.
            task.uncancel()
        raise ProtocolError(complaint) from None
    finally:
        timer.cancel()
