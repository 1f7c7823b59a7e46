# SPDX-License-Identifier: Apache-2.0
"""The client's side of one connection: prove, receive, ping, send the head."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable

from teleop_system.exceptions import AuthenticationError, ProtocolError
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.clock_sync import ClockSync
from teleop_system.modules.camera.streaming.pipe import Pipe
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
"""Pings in quick succession at the beginning, so that the clocks are compared at once."""


class ClientConnection:
    """A connection to a server, from its beginning to its end.

    Args:
        pipe: The connection.
        on_frame: Takes every FRAME.
    """

    def __init__(self, pipe: Pipe, on_frame: Callable[[Message], object]) -> None:
        self._pipe = pipe
        self._on_frame = on_frame
        self._clock = ClockSync()
        self._sequence = 0
        self._is_open = True

    @property
    def is_synchronized(self) -> bool:
        """Whether the clocks have been compared."""
        return self._clock.is_known

    @property
    def round_trip(self) -> float:
        """Time of a ping there and back in [s]; NaN before the first."""
        return self._clock.round_trip * 1e-9 if self._clock.is_known else math.nan

    def to_local(self, theirs: int) -> int:
        """Return a time of the server on our clock, both in [ns]; now before the first ping."""
        return self._clock.to_local(theirs) if self._clock.is_known else time.monotonic_ns()

    async def greet(self, token: str | None, name: str) -> None:
        """Prove that we know the token, and have the server prove the same.

        Raises:
            AuthenticationError: One of the two could not.
            ProtocolError: The server does not speak the protocol.
            OSError: The server is gone.
        """
        ours = authentication.new_nonce()
        label = name.encode("utf-8")[:LONGEST_TEXT]
        self._pipe.put(pack(MessageType.HELLO, ours + label, sent=time.monotonic_ns()))
        theirs = (await self._expect(MessageType.CHALLENGE)).payload
        proof = authentication.client_proof(token, ours, theirs)
        self._pipe.put(pack(MessageType.PROOF, proof, sent=time.monotonic_ns()))
        welcome = await self._expect(MessageType.WELCOME)
        expected = authentication.server_proof(token, ours, theirs)
        if not authentication.is_same(welcome.payload, expected):
            raise AuthenticationError("the server does not know the token itself")

    async def run(self) -> None:
        """Receive until the end.

        Raises:
            ProtocolError: The server broke the protocol, or fell silent.
            OSError: The connection ended.
        """
        pings = asyncio.ensure_future(self._ping())
        try:
            while True:
                self._take(await self._pipe.receive())
        finally:
            pings.cancel()

    def send(self, kind: MessageType, payload: bytes, measured: int) -> None:
        """Send a message measured at a time in [ns]; nothing happens on a closed connection."""
        if self._is_open:
            self._sequence += 1
            data = pack(
                kind,
                payload,
                sequence=self._sequence,
                measured=measured,
                sent=time.monotonic_ns(),
            )
            self._pipe.put(data)

    async def end(self) -> None:
        """Say goodbye, for a moment at most, and close."""
        if self._is_open:
            with contextlib.suppress(OSError, RuntimeError):
                self.send(MessageType.BYE, b"", 0)
        self._is_open = False
        await self._pipe.end()

    async def _ping(self) -> None:
        count = 0
        while True:
            self.send(MessageType.PING, b"", 0)
            count += 1
            await asyncio.sleep(0.02 if count < FIRST_PINGS else PING_PERIOD)

    def _take(self, message: Message) -> None:
        header, now = message.header, time.monotonic_ns()
        if header.type is MessageType.FRAME:
            self._on_frame(message)
            self._pipe.put(pack(MessageType.ACK, sequence=header.sequence, sent=now))
        elif header.type is MessageType.PONG:
            sent, received = unpack_echo(message.payload)
            self._clock.add(sent=sent, received=received, answered=header.sent, now=now)
        elif header.type is MessageType.PING:
            echo = pack_echo(header.sent, now)
            self._pipe.put(pack(MessageType.PONG, echo, sequence=header.sequence, sent=now))
        elif header.type is MessageType.BYE:
            raise ConnectionResetError(f"the server left: {unpack_text(message.payload)}")
        elif header.type is MessageType.REFUSED:
            raise AuthenticationError(unpack_text(message.payload))
        else:
            raise ProtocolError(f"{header.type.name} is not expected any more")

    async def _expect(self, kind: MessageType) -> Message:
        await self._pipe.flush()
        message = await self._pipe.receive()
        if message.header.type is MessageType.REFUSED:
            raise AuthenticationError(unpack_text(message.payload))
        if message.header.type is not kind:
            raise ProtocolError(f"{kind.name} was expected, got {message.header.type.name}")
        return message
