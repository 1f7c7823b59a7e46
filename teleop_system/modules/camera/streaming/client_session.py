# SPDX-License-Identifier: Apache-2.0
"""The server's side of one client: the newest frame out, head and pings in."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from teleop_system.exceptions import AuthenticationError, ProtocolError
from teleop_system.modules.camera.streaming import authentication
from teleop_system.modules.camera.streaming.clock_sync import ClockSync
from teleop_system.modules.camera.streaming.head_channel import HeadWish
from teleop_system.modules.camera.streaming.loop_thread import cancel_and_wait
from teleop_system.modules.camera.streaming.pipe import Pipe
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
"""Frames on their way that a client has not yet shown. The buffers of two kernels hold seconds of
video; without a bound a slow client would see all of it, ever later, instead of the newest."""
MOST_MESSAGES = 500
"""Messages a client may send in a second; a head at 250 Hz and its pings are half of it."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadyFrame:
    """A packed frame that goes to every client as it is.

    Attributes:
        sequence: Its number.
        measured: When it was exposed in [ns].
        payload: Payload of its message.
        checksum: CRC-32 of the payload.
    """

    sequence: int
    measured: int
    payload: bytes
    checksum: int


class ClientSession:
    """One client that has proved who it is, until it leaves, errs, stalls or falls silent.

    Args:
        number: Its number, for the log.
        pipe: Its connection.
        on_head: Takes what it wishes the head to do.
        stall: Time in [s] after which it is let go when it shows no frame it was sent.
    """

    def __init__(
        self,
        number: int,
        pipe: Pipe,
        on_head: Callable[[HeadWish], object],
        *,
        stall: float = 10.0,
    ) -> None:
        self.number = number
        self.name = ""
        self.frames = 0
        self.skipped = 0
        self._pipe = pipe
        self._on_head = on_head
        self._proof = b""
        self._stall = stall
        self._in_flight: deque[int] = deque()
        self._moved = time.monotonic()
        self._clock = ClockSync()
        self._newest: ReadyFrame | None = None
        self._wake = asyncio.Event()
        self._pings = 0
        self._next_ping = 0.0
        self._answers: list[tuple[int, int, int]] = []
        self._window = (0.0, 0)

    async def greet(self, token: str | None) -> None:
        """Let the client prove that it knows the token.

        Raises:
            AuthenticationError: It does not know it.
            ProtocolError: It does not speak the protocol.
            ConnectionError: It is gone.
        """
        hello = await self._expect(MessageType.HELLO)
        theirs, ours = hello.payload[:NONCE_SIZE], authentication.new_nonce()
        self.name = unpack_text(hello.payload[NONCE_SIZE:])
        self._pipe.put(pack(MessageType.CHALLENGE, ours, sent=time.monotonic_ns()))
        await self._pipe.flush()
        proof = await self._expect(MessageType.PROOF)
        if not authentication.is_same(
            proof.payload, authentication.client_proof(token, theirs, ours)
        ):
            raise AuthenticationError("its token is wrong")
        self._proof = authentication.server_proof(token, theirs, ours)

    def welcome(self) -> None:
        """Prove the same to the client; what follows are frames."""
        self._pipe.put(pack(MessageType.WELCOME, self._proof, sent=time.monotonic_ns()))

    async def refuse(self, reason: str) -> None:
        """Tell the client why it is not served."""
        self._pipe.put(pack(MessageType.REFUSED, reason.encode(), sent=time.monotonic_ns()))
        await self._pipe.end()

    def offer(self, frame: ReadyFrame) -> None:
        """Have a frame sent as soon as the connection is free; a newer one takes its place."""
        if self._newest is not None:
            self.skipped += 1
        self._newest = frame
        self._wake.set()

    async def run(self) -> None:
        """Serve the client until it is gone.

        Raises:
            ProtocolError: It broke the protocol, or it stalled.
            ConnectionError: It left.
        """
        tasks = [asyncio.ensure_future(self._send_all()), asyncio.ensure_future(self._take_all())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await cancel_and_wait(tasks)
            for task in tasks:
                if not task.cancelled():
                    task.exception()  # Looked at, lest asyncio complain that nobody did.

    async def _send_all(self) -> None:
        while True:
            now = time.monotonic()
            if now >= self._next_ping:
                self._next_ping = now + PING_PERIOD
                self._pings += 1
                sent = time.monotonic_ns()
                self._pipe.put(pack(MessageType.PING, sequence=self._pings, sent=sent))
            # Answers go before the frame: a ping measures the network, not our queue.
            while self._answers:
                self._put_pong(*self._answers.pop(0))
            frame = self._take_frame(now)
            if frame is not None:
                self._put_frame(frame)
            await self._pipe.flush()
            is_held = len(self._in_flight) >= IN_FLIGHT
            if (self._newest is None or is_held) and not self._answers:
                self._wake.clear()
                await self._wait_until(self._next_ping)

    def _take_frame(self, now: float) -> ReadyFrame | None:
        """Return the newest frame, unless too many are on their way."""
        if len(self._in_flight) >= IN_FLIGHT:
            if now - self._moved > self._stall:
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

    def _put_frame(self, frame: ReadyFrame) -> None:
        header = pack_header(
            MessageType.FRAME,
            len(frame.payload),
            frame.checksum,
            sequence=frame.sequence,
            measured=frame.measured,
            sent=time.monotonic_ns(),
        )
        self._pipe.put(header, frame.payload)
        self.frames += 1
        if not self._in_flight:
            self._moved = time.monotonic()
        self._in_flight.append(frame.sequence)

    def _put_pong(self, sequence: int, ping_sent: int, ping_received: int) -> None:
        echo, sent = pack_echo(ping_sent, ping_received), time.monotonic_ns()
        self._pipe.put(pack(MessageType.PONG, echo, sequence=sequence, sent=sent))

    async def _take_all(self) -> None:
        while True:
            message = await self._pipe.receive()
            self._count()
            if message.header.type is MessageType.BYE:
                raise ConnectionResetError("it said goodbye")
            self._take(message)

    def _take(self, message: Message) -> None:
        header, now = message.header, time.monotonic_ns()
        if header.type is MessageType.PING:
            if len(self._answers) < 4:  # A client that reads nothing needs no answers.
                self._answers.append((header.sequence, header.sent, now))
                self._wake.set()
        elif header.type is MessageType.ACK:
            while self._in_flight and self._in_flight[0] <= header.sequence:
                self._in_flight.popleft()
            self._moved = time.monotonic()
            self._wake.set()
        elif header.type is MessageType.PONG:
            sent, received = unpack_echo(message.payload)
            self._clock.add(sent=sent, received=received, answered=header.sent, now=now)
        elif header.type is MessageType.HEAD:
            wish = unpack_head(message.payload)
            self._on_head(HeadWish(self.number, wish, None, self._local(header.measured, now)))
        elif header.type is MessageType.LOOK:
            angles = unpack_look(message.payload)
            self._on_head(HeadWish(self.number, None, angles, self._local(header.measured, now)))
        else:
            raise ProtocolError(f"{header.type.name} is not expected any more")

    def _local(self, measured: int, now: int) -> float:
        """Return when something was measured on our clock in [s]; not later than now."""
        if not self._clock.is_known:
            return now * 1e-9
        return min(self._clock.to_local(measured), now) * 1e-9

    def _count(self) -> None:
        begin, count = self._window
        now = time.monotonic()
        if now - begin > 1.0:
            begin, count = now, 0
        if count >= MOST_MESSAGES:
            raise ProtocolError(f"it sends more than {MOST_MESSAGES} messages a second")
        self._window = (begin, count + 1)

    async def _expect(self, kind: MessageType) -> Message:
        message = await self._pipe.receive()
        if message.header.type is not kind:
            raise ProtocolError(f"{kind.name} was expected, got {message.header.type.name}")
        return message
