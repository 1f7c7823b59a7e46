# SPDX-License-Identifier: Apache-2.0
"""Parameters of RGB-D streaming."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from teleop_system.exceptions import ConfigError
from teleop_system.safety.staleness import HEAD_CLIENT, STREAM_CLIENT
from teleop_system.utils.validators import require_in_range, require_non_negative, require_positive

TOKEN_VARIABLE = "TELEOP_STREAM_TOKEN"
"""Environment variable with the token; it overrides `token_file`."""
SHORTEST_TOKEN = 16
"""Smallest number of characters of a token."""


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """How frames are compressed."""

    color: Literal["jpeg", "lossless"] = "jpeg"
    """Format of the colour image; depth is always lossless at 1 mm."""
    quality: int = 85
    """JPEG quality from 1 to 100."""
    subsampling: Literal["420", "422", "444"] = "420"
    """Chroma subsampling of JPEG; "444" keeps the full resolution and takes twice the time."""
    region: tuple[int, int, int, int] | None = None
    """Left, top, width and height in [px] of the part that is sent; null sends all."""
    shrink: int = 1
    """Divisor of the number of rows and columns, applied after cropping to the region."""

    def __post_init__(self) -> None:
        require_in_range(self, "quality", 1, 100)
        require_in_range(self, "shrink", 1, 16)
        if self.region is not None:
            left, top, width, height = self.region
            if left < 0 or top < 0 or width < 1 or height < 1:
                raise ConfigError(
                    "region must be left, top >= 0 and width, height >= 1 in [px], got "
                    f"{list(self.region)}"
                )


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """Encryption of the stream; off if all values are null."""

    certificate: str | None = None
    """PEM file with the server's certificate chain."""
    key: str | None = None
    """PEM file with its private key."""
    authority: str | None = None
    """PEM file with the certificate that clients trust; a self-signed one is its own."""

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ConfigError(
                f"certificate and key go together, got {self.certificate!r} and {self.key!r}"
            )


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Limits on clients and their connections."""

    clients: int = 16
    """Largest number of clients at once."""
    waiting: int = 32
    """Largest number of connections in their handshake."""
    handshake: float = 5.0
    """Longest time in [s] of a handshake."""
    message: float = 5.0
    """Longest time in [s] from the first byte of a message to its last."""
    silence: float = STREAM_CLIENT.timeout
    """Time in [s] without any message after which a client is disconnected."""
    stall: float = 10.0
    """Time in [s] after which a client that reads nothing is disconnected."""

    def __post_init__(self) -> None:
        require_in_range(self, "clients", 1, 1000)
        require_in_range(self, "waiting", 1, 1000)
        require_positive(self, "handshake", "message", "silence", "stall")


@dataclass(frozen=True, slots=True)
class StreamingConfig:
    """Address, coding and limits of the stream."""

    host: str = "127.0.0.1"
    """Address to listen on, or to connect to. Other than loopback needs a token."""
    port: int = 9090
    """TCP port of stream and viewer page; with 0 a server takes any free port."""
    fps: float = 30.0
    """Largest frame rate in [Hz]."""
    token_file: str | None = None
    """File with the token that clients must know; TELEOP_STREAM_TOKEN overrides it."""
    page: bool = True
    """Whether the server offers the viewer page to browsers."""
    head: bool = True
    """Whether clients may turn the robot's head."""
    head_release: float = HEAD_CLIENT.timeout
    """Silence in [s] of the client that turns the head, after which another one may."""
    reconnect: float = 2.0
    """Longest pause in [s] between two attempts of a client to connect."""
    codec: CodecConfig = field(default_factory=CodecConfig)
    tls: TlsConfig = field(default_factory=TlsConfig)
    limits: StreamLimits = field(default_factory=StreamLimits)

    def __post_init__(self) -> None:
        if not self.host.strip():
            raise ConfigError("host must be an address or a name, got ''")
        require_in_range(self, "port", 0, 65535)
        require_in_range(self, "fps", 0.1, 240.0, unit="Hz")
        require_positive(self, "head_release", "reconnect")
        require_non_negative(self, "port")


def load_token(config: StreamingConfig) -> str | None:
    """Return the token from the environment or the file; None if neither is set.

    The configuration never contains the token, because it is written into a run's artefacts.

    Raises:
        ConfigError: The file cannot be read, or the token is too short.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    source = TOKEN_VARIABLE
    if not token and config.token_file is not None:
        source = config.token_file
        try:
            token = Path(config.token_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read token_file {config.token_file}: {error}") from error
        if not token:
            raise ConfigError(f"token_file {config.token_file} is empty")
    if not token:
        return None
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"the token in {source} must have at least {SHORTEST_TOKEN} characters, got "
            f"{len(token)}; make one with: openssl rand -hex 16"
        )
    return token
