# SPDX-License-Identifier: Apache-2.0
"""A client that breaks the protocol, on a bare socket."""

import os
import socket

from teleop_system.modules.camera.streaming import authentication, wire
from teleop_system.modules.camera.streaming.wire import MessageType


class RawClient:
    """A connection whose bytes the test chooses."""

    def __init__(self, port: int, *, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10.0)
        self.socket.connect(("127.0.0.1", port))

    def greet(self, token: str | None) -> None:
        ours = os.urandom(32)
        self.send(wire.pack(MessageType.HELLO, ours + b"raw"))
        theirs = self.receive().payload
        self.send(wire.pack(MessageType.PROOF, authentication.client_proof(token, ours, theirs)))
        assert self.receive().header.type is MessageType.WELCOME

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> wire.Message:
        data = self._exactly(wire.HEADER_SIZE)
        header = wire.unpack_header(data, wire.FROM_SERVER)
        return wire.verify(data, header, self._exactly(header.length))

    def is_closed(self, timeout: float = 5.0) -> bool:
        """Whether the server ends the connection, after its remaining messages."""
        self.socket.settimeout(timeout)
        try:
            while self.socket.recv(65536):
                pass
        except (ConnectionError, BrokenPipeError):
            return True
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            if not chunk:
                raise ConnectionResetError("the server closed the connection")
            data += chunk
        return data
