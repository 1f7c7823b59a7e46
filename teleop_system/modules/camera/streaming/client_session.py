# SPDX-License-Identifier: Apache-2.0
"""The server's connection to one client: sends the newest frame, receives head requests."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from teleop_system.exceptions import AuthenticationError, ProtocolError
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.clock_sync import ClockSync
from teleop_system.modules.camera.streaming.frame_encoder import EncodedFrame
from teleop_system.modules.camera.streaming.head_control import HeadRequest
from teleop_system.modules.camera.streaming.loop_thread import cancel_and_wait
from teleop_system.modules.camera.streaming.transport import Transport
from teleop_system.modules.camera.streaming.wire import (
    NONCE_SIZE,
    Message,
    MessageType,
    pack,
    pack_echo,
    pack_header,
    unpack_echo,
    unpack_head,
    unpack_look,
    unpack_text,
)

PING_PERIOD = 1.0
IN_FLIGHT = 3
"""Frames that a client may leave unacknowledged. Kernel buffers hold seconds of video; without
this bound a slow client would see all of it, later and later, instead of the newest frame."""
MAX_MESSAGES = 500
"""Messages a client may send per second; a head at 250 Hz and its pings need half of it."""


class ClientSession:
    """One client, from its handshake until it leaves, fails, stalls or is silent for too long.

    Args:
        number: Its number, for the log.
        transport: Its connection.
        on_head: Receives its head requests.
        stall: Time in [s] without an acknowledged frame after which it is disconnected.
    """

    def __init__(
        self,
        number: int,
        transport: Transport,
        on_head: Callable[[HeadRequest], object],
        *,
        stall: float = 10.0,
    ) -> None:
        self.number = number
        self.name = ""
        self.frames = 0
        self.skipped = 0
        self._transport = transport
        self._on_head = on_head
        self._proof = b""
        self._stall = stall
        self._in_flight: deque[int] = deque()
        self._last_ack = time.monotonic()
        self._clock = ClockSync()
        self._newest: EncodedFrame | None = None
        self._wake = asyncio.Event()
        self._pings = 0
        self._next_ping = 0.0
        self._pongs: list[tuple[int, int, int]] = []
        self._window_start, self._window_count = 0.0, 0

    async def authenticate(self, token: str | None) -> None:
        """Verify that the client knows the token.

        Raises:
            AuthenticationError: It does not know the token.
            ProtocolError: It does not follow the protocol.
            ConnectionError: It has closed the connection.
        """
        hello = await self._expect(MessageType.HELLO)
        theirs, ours = hello.payload[:NONCE_SIZE], authentication.new_nonce()
        self.name = unpack_text(hello.payload[NONCE_SIZE:])
        self._transport.send(pack(MessageType.CHALLENGE, ours, sent=time.monotonic_ns()))
        await self._transport.flush()
        proof = await self._expect(MessageType.PROOF)
        if not authentication.is_same(
            proof.payload, authentication.client_proof(token, theirs, ours)
        ):
            raise AuthenticationError("its token is wrong")
        self._proof = authentication.server_proof(token, theirs, ours)

    def welcome(self) -> None:
        """Send the server's own proof; frames follow."""
        self._transport.send(pack(MessageType.WELCOME, self._proof, sent=time.monotonic_ns()))

    async def refuse(self, reason: str) -> None:
        """Send the reason for a refusal, and close."""
        self._transport.send(pack(MessageType.REFUSED, reason.encode(), sent=time.monotonic_ns()))
        await self._transport.close()

    def offer(self, frame: EncodedFrame) -> None:
        """Send a frame when the connection is free; a newer one replaces it until then."""
        if self._newest is not None:
            self.skipped += 1
        self._newest = frame
        self._wake.set()

    async def run(self) -> None:
        """Serve the client until it leaves.

        Raises:
            ProtocolError: It broke the protocol, or it stalled.
            ConnectionError: It left.
        """
        tasks = [
            asyncio.ensure_future(self._send_all()),
            asyncio.ensure_future(self._receive_all()),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await cancel_and_wait(tasks)
            for task in tasks:
                if not task.cancelled():
                    task.exception()  # asyncio warns about exceptions that are never read.

    async def _send_all(self) -> None:
        while True:
            now = time.monotonic()
            if now >= self._next_ping:
                self._next_ping = now + PING_PERIOD
                self._pings += 1
                sent = time.monotonic_ns()
                self._transport.send(pack(MessageType.PING, sequence=self._pings, sent=sent))
            # Pongs go before the frame: a ping measures the network, not our queue.
            while self._pongs:
                self._send_pong(*self._pongs.pop(0))
            frame = self._next_frame(now)
            if frame is not None:
                self._send_frame(frame)
            await self._transport.flush()
            is_full = len(self._in_flight) >= IN_FLIGHT
            if (self._newest is None or is_full) and not self._pongs:
                self._wake.clear()
                await self._wait_until(self._next_ping)

    def _next_frame(self, now: float) -> EncodedFrame | None:
        """Return the newest frame, unless too many are unacknowledged."""
        if len(self._in_flight) >= IN_FLIGHT:
            if now - self._last_ack > self._stall:
                raise ProtocolError(f"it has read nothing for {self._stall} s")
            return None
        frame, self._newest = self._newest, None
        return frame

    async def _wait_until(self, when: float) -> None:
        pause = max(0.0, when - time.monotonic())
        timer = asyncio.get_running_loop().call_later(pause, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    def _send_frame(self, frame: EncodedFrame) -> None:
        header = pack_header(
            MessageType.FRAME,
            len(frame.payload),
            frame.checksum,
            sequence=frame.sequence,
            measured=frame.measured,
            sent=time.monotonic_ns(),
        )
        self._transport.send(header, frame.payload)
        self.frames += 1
        if not self._in_flight:
            self._last_ack = time.monotonic()
        self._in_flight.append(frame.sequence)

    def _send_pong(self, sequence: int, ping_sent: int, ping_received: int) -> None:
        echo, sent = pack_echo(ping_sent, ping_received), time.monotonic_ns()
        self._transport.send(pack(MessageType.PONG, echo, sequence=sequence, sent=sent))

    async def _receive_all(self) -> None:
        while True:
            message = await self._transport.receive()
            self._count_message()
            if message.header.type is MessageType.BYE:
                raise ConnectionResetError("it sent BYE")
            self._handle(message)

    def _handle(self, message: Message) -> None:
        header, now = message.header, time.monotonic_ns()
        if header.type is MessageType.PING:
            if len(self._pongs) < 4:  # A client that reads nothing needs no pongs.
                self._pongs.append((header.sequence, header.sent, now))
                self._wake.set()
        elif header.type is MessageType.ACK:
            while self._in_flight and self._in_flight[0] <= header.sequence:
                self._in_flight.popleft()
            self._last_ack = time.monotonic()
            self._wake.set()
        elif header.type is MessageType.PONG:
            sent, received = unpack_echo(message.payload)
            self._clock.add(sent=sent, received=received, answered=header.sent, now=now)
        elif header.type is MessageType.HEAD:
            head, stamp = unpack_head(message.payload), self._to_local(header.measured, now)
            self._on_head(HeadRequest(self.number, head, None, stamp))
        elif header.type is MessageType.LOOK:
            angles, stamp = unpack_look(message.payload), self._to_local(header.measured, now)
            self._on_head(HeadRequest(self.number, None, angles, stamp))
        else:
            raise ProtocolError(f"{header.type.name} is not allowed after the handshake")

    def _to_local(self, measured: int, now: int) -> float:
        """Convert a client time [ns] to the local clock [s]; not later than now."""
        if not self._clock.is_known:
            return now * 1e-9
        return min(self._clock.to_local(measured), now) * 1e-9

    def _count_message(self) -> None:
        now = time.monotonic()
        if now - self._window_start > 1.0:
            self._window_start, self._window_count = now, 0
        self._window_count += 1
        if self._window_count > MAX_MESSAGES:
            raise ProtocolError(f"it sends more than {MAX_MESSAGES} messages per second")

    async def _expect(self, kind: MessageType) -> Message:
        message = await self._transport.receive()
        if message.header.type is not kind:
            raise ProtocolError(f"{kind.name} was expected, got {message.header.type.name}")
        return message
