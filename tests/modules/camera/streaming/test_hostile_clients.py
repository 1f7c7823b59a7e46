# SPDX-License-Identifier: Apache-2.0
"""Hostile clients: memory and time stay bounded, and other clients are not affected."""

import resource
import socket
import time
from collections.abc import Iterator

import psutil
import pytest

from teleop_system.modules.camera.rgbd_streaming import RGBDStreamClient, RGBDStreamServer
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.client_session import MAX_MESSAGES
from teleop_system.modules.camera.streaming.wire import MessageType
from tests.modules.camera.streaming.raw_client import RawClient
from tests.modules.camera.streaming.scenes import TOKEN, FakeCamera, quick_config
from tests.waiting import wait_for


@pytest.fixture
def server() -> Iterator[RGBDStreamServer]:
    camera = FakeCamera(fps=60.0)
    with RGBDStreamServer(
        camera, quick_config(handshake=0.5, message=1.0, stall=8.0, silence=10.0), token=TOKEN
    ) as found:
        yield found
    camera.shutdown()


@pytest.fixture
def honest(server: RGBDStreamServer) -> Iterator[RGBDStreamClient]:
    """A client that must not be affected."""
    patient = quick_config(server.address[1], message=5.0, silence=10.0, handshake=5.0)
    client = RGBDStreamClient(patient, token=TOKEN)
    assert client.initialize()
    yield client
    frames = client.stats().frames
    wait_for(lambda: client.stats().frames > frames + 5, "other clients must not notice")
    assert client.stats().connections == 1
    client.shutdown()


def header(kind: MessageType, length: int) -> bytes:
    return wire.pack_header(kind, length, 0)


@pytest.mark.usefixtures("honest")
@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"\x00" * 100, "begins with b'RGBD'"),
        (b"SSH-2.0-OpenSSH\r\n", "begins with b'RGBD'"),
        (b"GET / HTTP/9.9\r\n\r\n", "not an HTTP request"),
        (b"GET /" + b"x" * 20000, "not an HTTP request"),
        (b"RGBD\x09" + bytes(60), "version 1"),
        (header(MessageType.HELLO, 2**32 - 1), "got 4294967295"),
        (header(MessageType.FRAME, 100), "not one of those expected"),
        (wire.pack(MessageType.HELLO, bytes(32))[:-1] + b"x", "checksum"),
        (wire.pack(MessageType.HEAD, bytes(32)), "HELLO was expected"),
    ],
)
def test_garbage_ends_that_connection_only_and_is_logged(
    server: RGBDStreamServer, data: bytes, complaint: str, caplog: pytest.LogCaptureFixture
) -> None:
    raw = RawClient(server.address[1])
    raw.send(data)
    assert raw.is_closed()
    wait_for(lambda: complaint in caplog.text, lambda: caplog.text)
    raw.close()


@pytest.mark.usefixtures("honest")
@pytest.mark.parametrize(
    "data",
    [
        header(MessageType.FRAME, 5000),
        wire.pack(MessageType.HEAD, bytes(32)),
        wire.pack(MessageType.PROOF, bytes(32)),
        wire.pack(MessageType.LOOK, b"\x7f\xf0" + bytes(14)),
        b"RGBD" + bytes(100),
    ],
)
def test_garbage_of_an_authenticated_client_ends_it_too(
    server: RGBDStreamServer, data: bytes
) -> None:
    raw = RawClient(server.address[1])
    raw.greet(TOKEN)
    raw.send(data)
    assert raw.is_closed()
    wait_for(lambda: server.stats().clients == 1)


@pytest.mark.usefixtures("honest")
def test_a_silent_connection_is_closed(server: RGBDStreamServer) -> None:
    raw = RawClient(server.address[1])
    begun = time.monotonic()
    assert raw.is_closed()
    assert 0.3 < time.monotonic() - begun < 2.0


@pytest.mark.usefixtures("honest")
@pytest.mark.parametrize("data", [b"RGBD", b"GET / HTTP/1.1\r\nHost: a"])
def test_a_client_that_sends_single_bytes_slowly_is_closed(
    server: RGBDStreamServer, data: bytes
) -> None:
    raw = RawClient(server.address[1])
    begun = time.monotonic()
    raw.send(data)
    with pytest.raises(OSError):
        while time.monotonic() - begun < 5.0:
            raw.send(b"a")
            time.sleep(0.05)  # The client of this test is slow.
    assert time.monotonic() - begun < 2.0


@pytest.mark.usefixtures("honest")
def test_half_a_message_of_an_authenticated_client_times_out(
    server: RGBDStreamServer, caplog: pytest.LogCaptureFixture
) -> None:
    raw = RawClient(server.address[1])
    raw.greet(TOKEN)
    raw.send(wire.pack(MessageType.HEAD, bytes(32))[:40])
    assert raw.is_closed()
    assert "a message took more than 1.0 s" in caplog.text


@pytest.mark.usefixtures("honest")
def test_a_thousand_connections_are_refused(
    server: RGBDStreamServer, caplog: pytest.LogCaptureFixture
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    before = server.stats().refused
    memory = psutil.Process().memory_info().rss
    connections = []
    try:
        for _ in range(1000):
            connections.append(socket.create_connection(server.address, timeout=5.0))
        wait_for(lambda: server.stats().refused >= before + 900)
        # Both ends are in this process, and only some of them are kept.
        assert psutil.Process().memory_info().rss - memory < 50e6
        late = RGBDStreamClient(quick_config(server.address[1]), token=TOKEN)
        late.start()
        wait_for(late.is_connected, "slots are free again once the others timed out")
        late.shutdown()
    finally:
        for connection in connections:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    lines = [line for line in caplog.text.splitlines() if "refused" in line]
    assert 1 <= len(lines) <= 20, "a flood must not flood the log"


@pytest.mark.usefixtures("honest")
def test_a_flood_of_messages_ends_its_sender(server: RGBDStreamServer) -> None:
    raw = RawClient(server.address[1])
    raw.greet(TOKEN)
    ping = wire.pack(MessageType.PING)
    with pytest.raises(OSError):
        for _ in range(500):
            raw.send(ping * MAX_MESSAGES)
            time.sleep(0.02)  # The server reads meanwhile: the rate counts, not the backlog.
    wait_for(lambda: server.stats().clients == 1)


@pytest.mark.usefixtures("honest")
def test_a_silent_client_is_disconnected() -> None:
    camera = FakeCamera(fps=30.0)
    with RGBDStreamServer(camera, quick_config(silence=0.4), token=TOKEN) as server:
        raw = RawClient(server.address[1])
        raw.greet(TOKEN)
        assert raw.is_closed()
    camera.shutdown()
