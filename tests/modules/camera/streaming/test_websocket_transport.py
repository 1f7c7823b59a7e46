# SPDX-License-Identifier: Apache-2.0

import http.client
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from teleop_system.modules.camera.rgbd_streaming import RGBDStreamServer
from teleop_system.modules.camera.streaming import wire
from teleop_system.modules.camera.streaming.wire import MessageType
from tests.modules.camera.streaming.scenes import TOKEN, FakeCamera, quick_config
from tests.waiting import wait_for


@pytest.fixture
def server() -> Iterator[RGBDStreamServer]:
    camera = FakeCamera(fps=30.0)
    with RGBDStreamServer(camera, quick_config(), token=TOKEN) as found:
        yield found
    camera.shutdown()


def get(
    server: RGBDStreamServer, path: str, **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(*server.address, timeout=5.0)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    return response, response.read()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/?anything", "text/html"),
        ("/viewer.js", "text/javascript"),
        ("/decoder.js", "text/javascript"),
        ("/viewer.css", "text/css"),
    ],
)
def test_the_page_loads_nothing_from_other_hosts(
    server: RGBDStreamServer, path: str, kind: str
) -> None:
    response, body = get(server, path)
    assert response.status == 200
    assert (response.getheader("Content-Type") or "").startswith(kind)
    assert "default-src 'none'" in (response.getheader("Content-Security-Policy") or "")
    assert b"SPDX" in body
    assert b"https://" not in body


@pytest.mark.parametrize("path", ["/etc/passwd", "/../client.py", "//", "/web/index.html"])
def test_nothing_else_is_served(server: RGBDStreamServer, path: str) -> None:
    assert get(server, path)[0].status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "192.168.1.1", ""])
def test_dns_rebinding_is_refused(server: RGBDStreamServer, host: str) -> None:
    assert get(server, "/", Host=host)[0].status == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_every_name_of_this_machine_is_served(server: RGBDStreamServer, host: str) -> None:
    assert get(server, "/", Host=f"{host}:{server.address[1]}")[0].status == 200


def test_a_foreign_page_cannot_open_the_stream(server: RGBDStreamServer) -> None:
    host, port = server.address
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{host}:{port}/stream", origin="http://evil.example")  # type: ignore[arg-type]
    with connect(f"ws://{host}:{port}/stream", origin=f"http://{host}:{port}"):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    "data",
    ["text", b"garbage", wire.pack(MessageType.HEAD, bytes(32)), bytes(100_000)],
    ids=["text", "garbage", "wrong message", "too long"],
)
def test_a_browser_that_breaks_the_protocol_is_disconnected(
    server: RGBDStreamServer, data: bytes | str
) -> None:
    host, port = server.address
    with connect(f"ws://{host}:{port}/stream") as socket:
        socket.send(data)
        wait_for(lambda: server.stats().refused == 1)
    assert server.stats().clients == 0


def test_without_a_page_a_browser_is_refused() -> None:
    camera = FakeCamera(fps=30.0)
    with RGBDStreamServer(camera, quick_config(page=False)) as server:
        with pytest.raises((http.client.HTTPException, OSError)):
            get(server, "/")
        assert server.stats().refused == 1
    camera.shutdown()
