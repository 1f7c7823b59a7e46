# SPDX-License-Identifier: Apache-2.0
"""Serves browsers: the viewer page, and the same messages over a WebSocket."""

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
from teleop_system.modules.camera.streaming.transport import Transport, wait_at_most
from teleop_system.modules.camera.streaming.wire import FROM_CLIENT, Message, unpack

STREAM_PATH = "/stream"
LARGEST_MESSAGE = 4096
"""Largest message of a browser in [byte]; every type it may send is shorter."""
_CHUNK = 65536
_PAGES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/viewer.js": ("viewer.js", "text/javascript; charset=utf-8"),
    "/decoder.js": ("decoder.js", "text/javascript; charset=utf-8"),
    "/viewer.css": ("viewer.css", "text/css; charset=utf-8"),
}
# The page may load nothing from other servers, and other pages may not embed it.
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


class WebSocketTransport(Transport):
    """One message per binary frame of a WebSocket."""

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
        return await wait_at_most(limit, self._next_message(), f"no message came for {limit} s")

    @override
    def send(self, header: bytes, payload: bytes = b"") -> None:
        self._protocol.send_binary(header + payload)
        _write(self._writer, self._protocol)

    async def _next_message(self) -> Message:
        library = _library()
        while True:
            while self._pending:
                frame = self._pending.pop(0)
                if frame.opcode is library.Opcode.BINARY and frame.fin:
                    return unpack(bytes(frame.data), FROM_CLIENT)
                if frame.opcode is library.Opcode.CLOSE:
                    raise ConnectionResetError("the browser closed the connection")
                if frame.opcode not in (library.Opcode.PING, library.Opcode.PONG):
                    raise ProtocolError("a browser sends each message as one binary frame")
            await _read(self._reader, self._protocol)
            _write(self._writer, self._protocol)
            self._pending.extend(self._protocol.events_received())


async def accept_browser(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    config: StreamingConfig,
    first_bytes: bytes,
) -> WebSocketTransport | None:
    """Answer an HTTP request; return the WebSocket, or None after a request for a page.

    Args:
        reader: The connection's incoming half.
        writer: Its outgoing half.
        config: Address and time-outs.
        first_bytes: Bytes of the request that were already read.

    Raises:
        ProtocolError: It is not an HTTP request.
        MissingExtraError: The WebSocket library is not installed.
        ConnectionError: The browser has closed the connection.
    """
    library = _library()
    protocol = library.ServerProtocol(max_size=LARGEST_MESSAGE, logger=library.logger)
    protocol.receive_data(first_bytes)
    while not (events := protocol.events_received()):
        if protocol.handshake_exc is not None:
            _write(writer, protocol)
            raise ProtocolError(f"not an HTTP request: {protocol.handshake_exc}")
        await _read(reader, protocol)
    request = events[0]
    problem = _refusal_reason(request, config)
    if problem:
        response = protocol.reject(403, f"{problem}\n")
    elif request.path.partition("?")[0] == STREAM_PATH:
        response = protocol.accept(request)
    else:
        response = _page(library, request.path.partition("?")[0])
    protocol.send_response(response)
    _write(writer, protocol)
    if response.status_code != 101:
        await wait_at_most(config.limits.handshake, writer.drain(), "it does not read the page")
        return None
    return WebSocketTransport(reader, writer, config, protocol)


def _refusal_reason(request: Any, config: StreamingConfig) -> str | None:
    """Return why a request is refused, or None.

    A foreign page in the operator's browser can reach this server too. The browser reports its
    origin truthfully, and for a server on loopback also the host.
    """
    hosts: Sequence[str] = request.headers.get_all("Host")
    if len(hosts) != 1:
        return "a request needs exactly one Host header"
    name = urllib.parse.urlsplit(f"//{hosts[0]}").hostname or ""
    if is_loopback(config.host) and not _names_this_machine(name):
        return "this server accepts its own machine only"
    for origin in request.headers.get_all("Origin"):
        if urllib.parse.urlsplit(origin).netloc.lower() != hosts[0].lower():
            return "the requesting page is from another server"
    return None


def _names_this_machine(name: str) -> bool:
    # No DNS lookup: an attacker's name may resolve to this machine (DNS rebinding).
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _page(library: Any, path: str) -> Any:
    if path not in _PAGES:
        body, kind, status = b"Page not found.\n", "text/plain; charset=utf-8", 404
    else:
        (name, kind), status = _PAGES[path], 200
        body = read_page(name)
    headers = library.Headers({**_HEADERS, "Content-Type": kind, "Content-Length": len(body)})
    return library.Response(status, "OK" if status == 200 else "Not Found", headers, body)


@functools.cache
def read_page(name: str) -> bytes:
    """Return a file of the viewer page."""
    return (importlib.resources.files(__package__) / "web" / name).read_bytes()


async def _read(reader: asyncio.StreamReader, protocol: Any) -> None:
    data = await reader.read(_CHUNK)
    if not data:
        raise ConnectionResetError("the browser closed the connection")
    protocol.receive_data(data)


def _write(writer: asyncio.StreamWriter, protocol: Any) -> None:
    for data in protocol.data_to_send():
        if data:  # Empty data asks to close the connection; the caller does that.
            writer.write(data)


class _Library:
    """The used parts of `websockets`, imported when the first browser connects."""

    def __init__(self) -> None:
        import logging

        from websockets.datastructures import Headers
        from websockets.frames import Opcode
        from websockets.http11 import Response
        from websockets.server import ServerProtocol

        self.Headers, self.Opcode = Headers, Opcode
        self.Response, self.ServerProtocol = Response, ServerProtocol
        # The library logs every connection; the server logs the relevant ones itself.
        self.logger = logging.getLogger(f"{__name__}.websockets")
        self.logger.setLevel(logging.ERROR)


@functools.cache
def _library() -> Any:
    try:
        return _Library()
    except ImportError as error:
        raise MissingExtraError("websockets", "streaming") from error
