# SPDX-License-Identifier: Apache-2.0
"""A server that breaks the protocol, on a bare socket."""

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator

from teleop_system.modules.camera.streaming import authentication, wire
from teleop_system.modules.camera.streaming.wire import MessageType


@contextlib.contextmanager
def serving(behave: Callable[[socket.socket], None], *, lingers: bool = True) -> Iterator[int]:
    """Yield the port of a server that handles one connection after another with `behave`."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopping = threading.Event()

    def run() -> None:
        while not stopping.is_set():
            with contextlib.suppress(OSError, AssertionError):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(5.0)
                    behave(connection)
                    if not lingers:
                        continue
                    # Closing with anything unread would take back what was sent.
                    connection.shutdown(socket.SHUT_WR)
                    connection.settimeout(0.5)
                    while connection.recv(65536):
                        pass

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        stopping.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10.0)


def greet(connection: socket.socket, token: str | None) -> None:
    """Welcome a client with any proof."""
    hello = _message(connection)
    nonce = os.urandom(32)
    connection.sendall(wire.pack(MessageType.CHALLENGE, nonce))
    _message(connection)
    proof = authentication.server_proof(token, hello.payload[:32], nonce)
    connection.sendall(wire.pack(MessageType.WELCOME, proof))


@contextlib.contextmanager
def impostor() -> Iterator[int]:
    """Yield the port of a server that welcomes every client without knowing the token."""
    with serving(lambda connection: greet(connection, "no idea what it is")) as port:
        yield port


def _message(connection: socket.socket) -> wire.Message:
    data = _exactly(connection, wire.HEADER_SIZE)
    header = wire.unpack_header(data, wire.FROM_CLIENT)
    return wire.verify(data, header, _exactly(connection, header.length))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        assert chunk
        data += chunk
    return data
