# SPDX-License-Identifier: Apache-2.0
"""Both ends prove that they know the token, without ever sending it.

The client begins with a random number, the server answers with one of its own, and each side
sends a keyed hash over both. Somebody who listens learns nothing that helps next time; somebody
who answers in the server's place cannot prove it and is left.
"""

import functools
import hmac
import ipaddress
import secrets
import socket
import ssl

from teleop_system.exceptions import ConfigError
from teleop_system.modules.camera.streaming.config import StreamingConfig
from teleop_system.modules.camera.streaming.wire import NONCE_SIZE

_CLIENT, _SERVER = b"teleop-rgbd-client", b"teleop-rgbd-server"


def new_nonce() -> bytes:
    """Return a random number that is used once."""
    return secrets.token_bytes(NONCE_SIZE)


def client_proof(token: str | None, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """Return what a client that knows the token sends; without a token its key is empty."""
    return _proof(_CLIENT, token, client_nonce, server_nonce)


def server_proof(token: str | None, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """Return what a server that knows the token sends."""
    return _proof(_SERVER, token, client_nonce, server_nonce)


def is_same(found: bytes, expected: bytes) -> bool:
    """Compare two proofs in a time that tells nothing about where they differ."""
    return hmac.compare_digest(found, expected)


def _proof(role: bytes, token: str | None, client_nonce: bytes, server_nonce: bytes) -> bytes:
    key = (token or "").encode("utf-8")
    return hmac.digest(key, role + client_nonce + server_nonce, "sha256")


@functools.cache
def is_loopback(host: str) -> bool:
    """Whether every address a host name stands for leads back to this machine.

    Raises:
        ConfigError: The name stands for no address.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"host {host!r} stands for no address: {error}") from error
    return all(ipaddress.ip_address(str(item[4][0])).is_loopback for item in found)


def require_safe_bind(config: StreamingConfig, token: str | None) -> None:
    """Refuse to show the robot's view to a whole network without a token.

    Raises:
        ConfigError: The address is reachable from elsewhere, and there is no token.
    """
    if token is None and not is_loopback(config.host):
        raise ConfigError(
            f"host {config.host!r} can be reached from other machines, so a token is needed: set "
            "TELEOP_STREAM_TOKEN or streaming.token_file (make one with: openssl rand -hex 16)"
        )


def server_tls(config: StreamingConfig) -> ssl.SSLContext | None:
    """Return the server's side of TLS, or None where it is off.

    Raises:
        ConfigError: A file cannot be used.
    """
    tls = config.tls
    if tls.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"cannot use tls.certificate {tls.certificate} with tls.key {tls.key}: {error}"
        ) from error
    return context


def client_tls(config: StreamingConfig) -> ssl.SSLContext | None:
    """Return the client's side of TLS, or None where it is off.

    Raises:
        ConfigError: The file cannot be used.
    """
    if config.tls.authority is None:
        return None
    try:
        return ssl.create_default_context(cafile=config.tls.authority)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"cannot use tls.authority {config.tls.authority}: {error}") from error
