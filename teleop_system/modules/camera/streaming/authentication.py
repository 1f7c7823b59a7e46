# SPDX-License-Identifier: Apache-2.0
"""Mutual authentication by a shared token that is never sent, and TLS.

Client and server exchange random nonces, and each sends an HMAC over both. An eavesdropper cannot
replay it, and a client leaves a server that cannot prove to know the token.
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
    """Return random bytes that are used once."""
    return secrets.token_bytes(NONCE_SIZE)


def client_proof(token: str | None, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """Return the proof of a client; without a token the key is empty."""
    return _proof(_CLIENT, token, client_nonce, server_nonce)


def server_proof(token: str | None, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """Return the proof of a server."""
    return _proof(_SERVER, token, client_nonce, server_nonce)


def is_same(found: bytes, expected: bytes) -> bool:
    """Compare two proofs in constant time."""
    return hmac.compare_digest(found, expected)


def _proof(role: bytes, token: str | None, client_nonce: bytes, server_nonce: bytes) -> bytes:
    key = (token or "").encode("utf-8")
    return hmac.digest(key, role + client_nonce + server_nonce, "sha256")


@functools.cache
def is_loopback(host: str) -> bool:
    """Whether every address of a host name belongs to this machine.

    Raises:
        ConfigError: The name has no address.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"host {host!r} has no address: {error}") from error
    return all(ipaddress.ip_address(str(item[4][0])).is_loopback for item in found)


def require_safe_bind(config: StreamingConfig, token: str | None) -> None:
    """Require a token unless the address is this machine's loopback.

    Raises:
        ConfigError: Other machines can reach the address, and there is no token.
    """
    if token is None and not is_loopback(config.host):
        raise ConfigError(
            f"host {config.host!r} can be reached from other machines, which needs a token: set "
            "TELEOP_STREAM_TOKEN or streaming.token_file (make one with: openssl rand -hex 16)"
        )


def server_tls(config: StreamingConfig) -> ssl.SSLContext | None:
    """Return the TLS context of the server, or None without TLS.

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
    """Return the TLS context of the client, or None without TLS.

    Raises:
        ConfigError: The file cannot be used.
    """
    if config.tls.authority is None:
        return None
    try:
        return ssl.create_default_context(cafile=config.tls.authority)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"cannot use tls.authority {config.tls.authority}: {error}") from error
