# SPDX-License-Identifier: Apache-2.0
"""Sends mutated messages to a server or a client over real connections.

`python -m tests.modules.camera.streaming.fuzz 100000` runs as many against each.
"""

import contextlib
import gc
import logging
import random
import socket
import struct
import sys
import time
import zlib
from dataclasses import dataclass

import psutil

from teleop_system.modules.camera.rgbd_streaming import (
    CodecConfig,
    RGBDCodec,
    RGBDStreamClient,
    RGBDStreamServer,
)
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.wire import MessageType
from tests.modules.camera.streaming import raw_server
from tests.modules.camera.streaming.raw_client import RawClient
from tests.modules.camera.streaming.scenes import TOKEN, FakeCamera, quick_config, scene
from tests.waiting import wait_for

BATCH = 200
"""Messages to a client between two measurements of memory."""
WARM_UP = 0.3
"""Share of the messages after which memory must not grow."""


@dataclass
class FuzzResult:
    """The result: messages sent, connections used, and growth of memory in [byte]."""

    messages: int
    connections: int
    growth: int


class Mutator:
    """Makes valid messages of one side and damages them in one of many ways."""

    def __init__(self, seed: int, kinds: frozenset[MessageType]) -> None:
        self._random = random.Random(seed)
        self._kinds = sorted(kinds)
        frame = scene(32, 24)
        self._frames = []
        for color in ("jpeg", "lossless"):
            images = RGBDCodec(CodecConfig(color=color)).encode(frame)  # type: ignore[arg-type]
            content = wire.FrameContent(images, frame.intrinsics, frame.extrinsics, 0.1, 0.2)
            self._frames.append(wire.pack_frame(content))

    def message(self) -> tuple[bytes, bool]:
        """Return a message, damaged more often than not, and whether its length is right."""
        data, how = self._damaged()
        return data, how in (0, 5, 6, 7)

    def _damaged(self) -> tuple[bytes, int]:
        pick = self._random
        kind = pick.choice(self._kinds)
        data = wire.pack(
            kind,
            self._payload(kind),
            sequence=pick.getrandbits(32),
            measured=pick.getrandbits(62),
            sent=pick.getrandbits(62),
        )
        how = pick.randrange(8)
        if how == 0:
            return data, how
        if how == 1:
            return data[: pick.randrange(len(data))], how
        if how == 2:
            return data + pick.randbytes(pick.randrange(1, 50)), how
        if how == 3:
            return pick.randbytes(pick.randrange(1, 200)), how
        if how == 4:
            length = pick.choice([0, 1, 2**31, 2**32 - 1, pick.getrandbits(32)])
            return data[:12] + struct.pack("!I", length) + data[16:], how
        changed = bytearray(data)
        first = 0 if how == 5 else min(wire.HEADER_SIZE, len(changed) - 1)
        for _ in range(pick.randrange(1, 6)):
            changed[pick.randrange(first, len(changed))] = pick.getrandbits(8)
        return (_sealed(bytes(changed)) if how == 7 else bytes(changed)), how

    def _payload(self, kind: MessageType) -> bytes:
        if kind is MessageType.FRAME:
            return self._random.choice(self._frames)
        if kind is MessageType.HEAD:
            return struct.pack("!4d", 0.0, 0.0, 0.6, 0.8)
        low, high = wire.LENGTHS[kind]
        return self._random.randbytes(self._random.randint(low, high))


def _sealed(data: bytes) -> bytes:
    """Return the message with the checksum its bytes have."""
    head, payload = data[: wire.HEADER_SIZE - 4], data[wire.HEADER_SIZE :]
    return head + struct.pack("!I", zlib.crc32(head, zlib.crc32(payload))) + payload


class _Memory:
    """Growth of this process once everything has been used."""

    def __init__(self, messages: int) -> None:
        self._from = int(WARM_UP * messages)
        self._base: int | None = None

    def look(self, message: int) -> int:
        if self._base is None and message >= self._from:
            self._base = self._now()
        return 0 if self._base is None else self._now() - self._base

    @staticmethod
    def _now() -> int:
        gc.collect()
        return int(psutil.Process().memory_info().rss)


def fuzz_server(messages: int, seed: int = 0) -> FuzzResult:
    """Send messages to a server, most of them from an authenticated client."""
    mutator, memory = Mutator(seed, wire.FROM_CLIENT), _Memory(messages)
    camera = FakeCamera(fps=30.0)
    sent = connections = 0
    with RGBDStreamServer(camera, quick_config(), token=TOKEN, on_head=_drop) as server:
        watcher = RGBDStreamClient(quick_config(server.address[1]), token=TOKEN)
        assert watcher.initialize()
        while sent < messages:
            raw = RawClient(server.address[1])
            connections += 1
            is_known = bool(connections % 4)
            with contextlib.suppress(OSError):
                if is_known:
                    raw.greet(TOKEN)
                sent += 1
                while _survives(raw.socket, *mutator.message(), is_known, wire.FROM_SERVER):
                    sent += 1
            raw.close()
            if connections % 500 == 0:
                memory.look(sent)
        frames = watcher.stats().frames
        wait_for(lambda: watcher.stats().frames > frames + 3, "the server must continue")
        assert watcher.stats().connections == 1
        watcher.shutdown()
        wait_for(lambda: server.stats().clients == 0)
    camera.shutdown()
    return FuzzResult(sent, connections, memory.look(sent))


def fuzz_client(messages: int, seed: int = 0) -> FuzzResult:
    """Send messages to a client, most of them after the welcome message."""
    mutator, memory = Mutator(seed, wire.FROM_SERVER), _Memory(messages)
    counts = {"sent": 0, "connections": 0}

    def behave(connection: socket.socket) -> None:
        counts["connections"] += 1
        is_known = bool(counts["connections"] % 4)
        if is_known:
            raw_server.greet(connection, TOKEN)
        counts["sent"] += 1
        while _survives(connection, *mutator.message(), is_known, wire.FROM_CLIENT):
            counts["sent"] += 1

    with raw_server.serving(behave, lingers=False) as port:
        config = quick_config(port, reconnect=0.001, message=0.2, handshake=0.5)
        client = RGBDStreamClient(config, token=TOKEN)
        client.start()
        while counts["sent"] < messages:
            seen = counts["sent"]
            goal = min(seen + BATCH, messages)
            wait_for(
                lambda goal=goal: counts["sent"] >= goal,
                "the client must come back",
                progress=lambda: counts["sent"],
            )
            memory.look(seen)
        growth = memory.look(counts["sent"])
        client.shutdown()
    return FuzzResult(counts["sent"], counts["connections"], growth)


def _survives(
    connection: socket.socket,
    data: bytes,
    has_right_length: bool,
    is_known: bool,
    expected: frozenset[MessageType],
) -> bool:
    """Send a message, and return whether the peer keeps the connection; it has checked it by then.

    A ping behind the message is only answered by who has read it. Where the length is wrong, or
    pings are not answered yet, something is sent that fills up whatever is waited for.
    """
    mark = random.getrandbits(31)
    is_pinged = has_right_length and is_known
    try:
        connection.sendall(data)
        connection.sendall(
            wire.pack(MessageType.PING, sequence=mark) if is_pinged else bytes(2048)
        )
        while True:
            header = wire.unpack_header(_exactly(connection, wire.HEADER_SIZE), expected)
            _exactly(connection, header.length)
            if header.type is MessageType.PONG and header.sequence == mark:
                return True
    except OSError:
        return False


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise ConnectionResetError
        data += chunk
    return data


def _drop(request: object) -> None:
    del request


def main() -> int:
    """Run both, and return the result."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    logging.basicConfig(level=logging.ERROR)
    for name, fuzz in (("server", fuzz_server), ("client", fuzz_client)):
        begun = time.monotonic()
        result = fuzz(count)
        print(f"{name}: {result}, {time.monotonic() - begun:.0f} s", flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
