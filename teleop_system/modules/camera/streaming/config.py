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
"""Environment variable with the token; it goes before `token_file`."""
SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """How frames are packed."""

    color: Literal["jpeg", "lossless"] = "jpeg"
    """Coding of the colour image; depth is always lossless at 1 mm."""
    quality: int = 85
    """JPEG quality from 1 to 100."""
    subsampling: Literal["420", "422", "444"] = "420"
    """Resolution of JPEG's colour components; "444" keeps all of it and costs twice the time."""
    region: tuple[int, int, int, int] | None = None
    """Left, top, width and height in [px] of what is sent; null sends all."""
    shrink: int = 1
    """Rows and columns are divided by this, after the region is cut out."""

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
    """Encryption of the stream; off where all are null."""

    certificate: str | None = None
    """The server's certificate chain, a PEM file."""
    key: str | None = None
    """Its private key, a PEM file."""
    authority: str | None = None
    """Certificate that clients trust, a PEM file; for a self-signed one, that itself."""

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ConfigError(
                f"certificate and key go together, got {self.certificate!r} and {self.key!r}"
            )


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """What one client, or a thousand, may cost the server."""

    clients: int = 16
    """Most clients served at once."""
    waiting: int = 32
    """Most connections that have not yet proved who they are."""
    handshake: float = 5.0
    """Time in [s] for a new connection to prove it."""
    message: float = 5.0
    """Time in [s] for a message to arrive, from its first byte to its last."""
    silence: float = STREAM_CLIENT.timeout
    """Time in [s] without any message after which a client is gone."""
    stall: float = 10.0
    """Time in [s] after which a client that reads nothing is disconnected."""

    def __post_init__(self) -> None:
        require_in_range(self, "clients", 1, 1000)
        require_in_range(self, "waiting", 1, 1000)
        require_positive(self, "handshake", "message", "silence", "stall")


@dataclass(frozen=True, slots=True)
class StreamingConfig:
    """Where frames are streamed, to whom, and how."""

    host: str = "127.0.0.1"
    """Address to listen on, or to connect to. Beyond this machine only with a token."""
    port: int = 9090
    """TCP port of stream and viewer page; 0 lets a server take any free one."""
    fps: float = 30.0
    """Most frames sent per second in [Hz]."""
    token_file: str | None = None
    """File with the token that clients must know; TELEOP_STREAM_TOKEN goes before it."""
    page: bool = True
    """Whether a browser that opens the address gets the viewer page."""
    head: bool = True
    """Whether clients may turn the robot's head."""
    head_release: float = HEAD_CLIENT.timeout
    """Silence in [s] after which the client that turns the head has let it go."""
    reconnect: float = 2.0
    """Longest pause in [s] before a client tries again."""
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
    """Return the token of the environment or of the file; None where neither is there.

    It is no part of the configuration itself, which is written into the artefacts of a run.

    Raises:
        ConfigError: The file cannot be read, or the token is too short to be one.
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
