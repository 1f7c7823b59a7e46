# SPDX-License-Identifier: Apache-2.0
"""The client's connection to a server: authenticate, receive frames, ping, send head poses."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable

from teleop_system.exceptions import AuthenticationError, ProtocolError
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.clock_sync import ClockSync
from teleop_system.modules.camera.streaming.transport import Transport
from teleop_system.modules.camera.streaming.wire import (
    LONGEST_TEXT,
    Message,
    MessageType,
    pack,
    pack_echo,
    unpack_echo,
    unpack_text,
)

PING_PERIOD = 0.5
FIRST_PINGS = 8
"""Pings in quick succession after connecting, to synchronise the clocks at once."""


class ServerConnection:
    """One connection to a server.

    Args:
        transport: Carries the messages.
        on_frame: Receives every FRAME.
    """

    def __init__(self, transport: Transport, on_frame: Callable[[Message], object]) -> None:
        self._transport = transport
        self._on_frame = on_frame
        self._clock = ClockSync()
        self._sequence = 0
        self._is_open = True

    @property
    def is_synchronized(self) -> bool:
        """Whether the clock offset is known."""
        return self._clock.is_known

    @property
    def round_trip(self) -> float:
        """Round-trip time of a ping in [s]; NaN before the first."""
        return self._clock.round_trip * 1e-9 if self._clock.is_known else math.nan

    def to_local(self, theirs: int) -> int:
        """Convert a server time to the local clock in [ns]; before the first ping return now."""
        return self._clock.to_local(theirs) if self._clock.is_known else time.monotonic_ns()

    async def authenticate(self, token: str | None, name: str) -> None:
        """Prove to know the token, and verify that the server knows it too.

        Raises:
            AuthenticationError: One of the proofs failed.
            ProtocolError: The server does not follow the protocol.
            OSError: The server has closed the connection.
        """
        ours = authentication.new_nonce()
        label = name.encode("utf-8")[:LONGEST_TEXT]
        self._transport.send(pack(MessageType.HELLO, ours + label, sent=time.monotonic_ns()))
        theirs = (await self._expect(MessageType.CHALLENGE)).payload
        proof = authentication.client_proof(token, ours, theirs)
        self._transport.send(pack(MessageType.PROOF, proof, sent=time.monotonic_ns()))
        welcome = await self._expect(MessageType.WELCOME)
        expected = authentication.server_proof(token, ours, theirs)
        if not authentication.is_same(welcome.payload, expected):
            raise AuthenticationError("the server does not know the token")

    async def run(self) -> None:
        """Receive until the connection ends.

        Raises:
            ProtocolError: The server broke the protocol, or was silent for too long.
            OSError: The connection ended.
        """
        pings = asyncio.ensure_future(self._ping())
        try:
            while True:
                self._handle(await self._transport.receive())
        finally:
            pings.cancel()

    def send(self, kind: MessageType, payload: bytes, measured: int) -> None:
        """Send a message with its time of measurement [ns]; does nothing after `close()`."""
        if self._is_open:
            self._sequence += 1
            data = pack(
                kind,
                payload,
                sequence=self._sequence,
                measured=measured,
                sent=time.monotonic_ns(),
            )
            self._transport.send(data)

    async def close(self) -> None:
        """Send BYE and close."""
        if self._is_open:
            with contextlib.suppress(OSError, RuntimeError):
                self.send(MessageType.BYE, b"", 0)
        self._is_open = False
        await self._transport.close()

    async def _ping(self) -> None:
        count = 0
        while True:
            self.send(MessageType.PING, b"", 0)
            count += 1
            await asyncio.sleep(0.02 if count < FIRST_PINGS else PING_PERIOD)

    def _handle(self, message: Message) -> None:
        header, now = message.header, time.monotonic_ns()
        if header.type is MessageType.FRAME:
            self._on_frame(message)
            self._transport.send(pack(MessageType.ACK, sequence=header.sequence, sent=now))
        elif header.type is MessageType.PONG:
            sent, received = unpack_echo(message.payload)
            self._clock.add(sent=sent, received=received, answered=header.sent, now=now)
        elif header.type is MessageType.PING:
            echo = pack_echo(header.sent, now)
            self._transport.send(pack(MessageType.PONG, echo, sequence=header.sequence, sent=now))
        elif header.type is MessageType.BYE:
            raise ConnectionResetError(f"the server left: {unpack_text(message.payload)}")
        elif header.type is MessageType.REFUSED:
            raise AuthenticationError(unpack_text(message.payload))
        else:
            raise ProtocolError(f"{header.type.name} is not allowed after the handshake")

    async def _expect(self, kind: MessageType) -> Message:
        await self._transport.flush()
        message = await self._transport.receive()
        if message.header.type is MessageType.REFUSED:
            raise AuthenticationError(unpack_text(message.payload))
        if message.header.type is not kind:
            raise ProtocolError(f"{kind.name} was expected, got {message.header.type.name}")
        return message
