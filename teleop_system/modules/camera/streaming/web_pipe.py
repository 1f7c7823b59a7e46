# SPDX-License-Identifier: Apache-2.0
"""The stream for a browser: a page, and the same messages through a WebSocket."""

import asyncio
import functools
import importlib.resources
import ipaddress
import urllib.parse
from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from teleop_system.exceptions import MissingExtraError, ProtocolError
from teleop_system.modules.camera.streaming.authentication import is_loopback
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.pipe import Pipe, within
from teleop_system.modules.camera.streaming.wire import FROM_CLIENT, Message, unpack

STREAM_PATH = "/stream"
LARGEST_MESSAGE = 4096
"""Most bytes of a browser's message; none of those it may send is longer."""
_CHUNK = 65536
_PAGES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/viewer.js": ("viewer.js", "text/javascript; charset=utf-8"),
    "/decoder.js": ("decoder.js", "text/javascript; charset=utf-8"),
    "/viewer.css": ("viewer.css", "text/css; charset=utf-8"),
}
# The page may load nothing from anywhere else, and nobody may show it within theirs.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Connection": "close",
}


class WebPipe(Pipe):
    """One message in each binary frame of a WebSocket."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        config: StreamingConfig,
        protocol: Any,
    ) -> None:
        super().__init__(reader, writer, FROM_CLIENT, config.limits)
        self._protocol = protocol
        self._pending: list[Any] = []

    @override
    async def receive(self) -> Message:
        limit = self._limits.silence
        return await within(limit, self._next(), f"no message came for {limit} s")

    @override
    def put(self, header: bytes, payload: bytes = b"") -> None:
        self._protocol.send_binary(header + payload)
        _send(self._writer, self._protocol)

    async def _next(self) -> Message:
        library = _library()
        while True:
            while self._pending:
                frame = self._pending.pop(0)
                if frame.opcode is library.Opcode.BINARY and frame.fin:
                    return unpack(bytes(frame.data), FROM_CLIENT)
                if frame.opcode is library.Opcode.CLOSE:
                    raise ConnectionResetError("the browser closed the connection")
                if frame.opcode not in (library.Opcode.PING, library.Opcode.PONG):
                    raise ProtocolError("a browser's message is one binary frame")
            await _feed(self._reader, self._protocol)
            _send(self._writer, self._protocol)
            self._pending.extend(self._protocol.events_received())


async def open_web_pipe(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    config: StreamingConfig,
    begun: bytes,
) -> WebPipe | None:
    """Answer a browser; return its stream, or None where it only asked for a page.

    Args:
        reader: The connection's incoming half.
        writer: Its outgoing half.
        config: Whether there is a page, and the time-outs.
        begun: What was read of the request.

    Raises:
        ProtocolError: The request is none.
        MissingExtraError: The library for WebSockets is not installed.
        ConnectionError: The browser is gone.
    """
    library = _library()
    protocol = library.ServerProtocol(max_size=LARGEST_MESSAGE, logger=library.logger)
    protocol.receive_data(begun)
    while not (events := protocol.events_received()):
        if protocol.handshake_exc is not None:
            _send(writer, protocol)
            raise ProtocolError(f"no HTTP request: {protocol.handshake_exc}")
        await _feed(reader, protocol)
    request = events[0]
    problem = _objection(request, config)
    if problem:
        response = protocol.reject(403, f"{problem}\n")
    elif request.path.partition("?")[0] == STREAM_PATH:
        response = protocol.accept(request)
    else:
        response = _page(library, request.path.partition("?")[0])
    protocol.send_response(response)
    _send(writer, protocol)
    if response.status_code != 101:
        await within(config.limits.handshake, writer.drain(), "it does not read the page")
        return None
    return WebPipe(reader, writer, config, protocol)


def _objection(request: Any, config: StreamingConfig) -> str | None:
    """Return why a request is refused, or None.

    A page of somebody else's, open in the operator's browser, can reach this server too. It
    cannot lie about its origin, and where only this machine is served, not about the host either.
    """
    hosts: Sequence[str] = request.headers.get_all("Host")
    if len(hosts) != 1:
        return "a request names one host"
    name = urllib.parse.urlsplit(f"//{hosts[0]}").hostname or ""
    if is_loopback(config.host) and not _names_this_machine(name):
        return "this server serves its own machine only"
    for origin in request.headers.get_all("Origin"):
        if urllib.parse.urlsplit(origin).netloc.lower() != hosts[0].lower():
            return "the page that asks is not this server's"
    return None


def _names_this_machine(name: str) -> bool:
    # Never looked up: a name of somebody else's may lead here, which is the trick itself.
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _page(library: Any, path: str) -> Any:
    if path not in _PAGES:
        body, kind, status = b"There is no such page.\n", "text/plain; charset=utf-8", 404
    else:
        (name, kind), status = _PAGES[path], 200
        body = read_page(name)
    headers = library.Headers({**_HEADERS, "Content-Type": kind, "Content-Length": len(body)})
    return library.Response(status, "OK" if status == 200 else "Not Found", headers, body)


@functools.cache
def read_page(name: str) -> bytes:
    """Return a file of the viewer page."""
    return (importlib.resources.files(__package__) / "web" / name).read_bytes()


async def _feed(reader: asyncio.StreamReader, protocol: Any) -> None:
    data = await reader.read(_CHUNK)
    if not data:
        raise ConnectionResetError("the browser closed the connection")
    protocol.receive_data(data)


def _send(writer: asyncio.StreamWriter, protocol: Any) -> None:
    for data in protocol.data_to_send():
        if data:  # An empty one asks for the end of the connection, which the caller sees to.
            writer.write(data)


class _Library:
    """The parts of `websockets` that are used, imported when a browser first comes."""

    def __init__(self) -> None:
        import logging

        from websockets.datastructures import Headers
        from websockets.frames import Opcode
        from websockets.http11 import Response
        from websockets.server import ServerProtocol

        self.Headers, self.Opcode = Headers, Opcode
        self.Response, self.ServerProtocol = Response, ServerProtocol
        # It tells of every connection; we tell of what matters ourselves.
        self.logger = logging.getLogger(f"{__name__}.websockets")
        self.logger.setLevel(logging.ERROR)


@functools.cache
def _library() -> Any:
    try:
        return _Library()
    except ImportError as error:
        raise MissingExtraError("websockets", "streaming") from error
