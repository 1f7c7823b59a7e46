# SPDX-License-Identifier: Apache-2.0
"""Hostile servers: a client survives, logs the reason and reconnects."""

import dataclasses
import socket
import time
from collections.abc import Callable

import pytest

from teleop_system.modules.camera.rgbd_streaming import RGBDCodec, RGBDStreamClient
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.wire import MessageType
from tests.modules.camera.streaming.raw_server import greet, serving
from tests.modules.camera.streaming.scenes import TOKEN, quick_config, scene
from tests.waiting import wait_for


def frame_payload() -> bytes:
    frame = scene(32, 24)
    images = RGBDCodec().encode(frame)
    return wire.pack_frame(wire.FrameContent(images, frame.intrinsics, frame.extrinsics, 0.0, 0.0))


def absurd_frame() -> bytes:
    """Return a frame that claims 4096 x 4096 pixels in a few bytes."""
    frame = scene(32, 24)
    images = dataclasses.replace(RGBDCodec().encode(frame), width=4096, height=4096)
    return wire.pack_frame(wire.FrameContent(images, frame.intrinsics, frame.extrinsics, 0.0, 0.0))


def sends(*messages: bytes, pause: float = 0.05) -> Callable[[socket.socket], None]:
    def behave(connection: socket.socket) -> None:
        greet(connection, TOKEN)
        for message in messages:
            connection.sendall(message)
        time.sleep(pause)  # The server keeps the connection open for this long.

    return behave


GOOD = wire.pack(MessageType.FRAME, frame_payload(), sequence=1)


@pytest.mark.parametrize(
    ("behave", "complaint"),
    [
        (
            lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 3),
            "got b'HTTP'",
        ),
        (lambda connection: None, "closed the connection"),
        (sends(GOOD[: len(GOOD) // 2]), "ended within a message"),
        (sends(GOOD[:-1] + b"?"), "checksum"),
        (sends(wire.pack_header(MessageType.FRAME, 2**31, 0)), "got 2147483648"),
        (sends(wire.pack(MessageType.CHALLENGE, bytes(32))), "not allowed after the handshake"),
        (sends(wire.pack(MessageType.HEAD, bytes(32))), "not one of those expected"),
        (sends(wire.pack(MessageType.BYE, b"for lunch")), "for lunch"),
        (sends(wire.pack(MessageType.REFUSED, b"go away")), "go away"),
    ],
)
def test_a_broken_server_is_left_and_tried_again(
    behave: Callable[[socket.socket], None], complaint: str, caplog: pytest.LogCaptureFixture
) -> None:
    connections = []

    def counted(connection: socket.socket) -> None:
        connections.append(1)
        behave(connection)

    with serving(counted) as port:
        client = RGBDStreamClient(quick_config(port, reconnect=0.05), token=TOKEN)
        client.start()
        wait_for(lambda: len(connections) >= 2)
        wait_for(lambda: complaint in caplog.text, lambda: caplog.text)
        client.shutdown()


@pytest.mark.parametrize("payload", [absurd_frame(), frame_payload()[:-20] + bytes(20)])
def test_a_broken_frame_is_counted_and_the_next_one_shown(payload: bytes) -> None:
    bad = wire.pack(MessageType.FRAME, payload, sequence=1)
    with serving(sends(bad, bad, GOOD, pause=1.0)) as port:
        client = RGBDStreamClient(quick_config(port), token=TOKEN)
        assert client.initialize()
        assert client.stats().frames == 1
        client.shutdown()


def test_a_server_that_vanishes_in_the_middle_of_a_frame_leaves_no_picture() -> None:
    half = wire.pack(MessageType.FRAME, frame_payload(), sequence=2)[:200]
    with serving(sends(GOOD, half, pause=0.2)) as port:
        client = RGBDStreamClient(quick_config(port, reconnect=30.0), token=TOKEN)
        assert client.initialize()
        wait_for(lambda: not client.is_connected())
        begun = time.monotonic()
        client.shutdown()
        assert time.monotonic() - begun < 1.0


def test_a_silent_server_is_left(caplog: pytest.LogCaptureFixture) -> None:
    with serving(sends(GOOD, pause=2.0)) as port:
        client = RGBDStreamClient(quick_config(port, silence=0.3), token=TOKEN)
        client.start()
        wait_for(lambda: "nothing came for 0.3 s" in caplog.text)
        client.shutdown()
