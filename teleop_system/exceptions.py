# SPDX-License-Identifier: Apache-2.0
"""Every error that the package raises on purpose; anything else is a bug."""

import difflib
from collections.abc import Iterable
from pathlib import Path


class TeleopError(Exception):
    """Base of all errors that input, configuration or hardware cause."""


class InvalidValueError(TeleopError, ValueError):
    """A value has the wrong shape, type or range.

    Attributes:
        not_finite: Whether the shape is right but some numbers are NaN or infinite.
    """

    def __init__(self, message: str, *, not_finite: bool = False) -> None:
        super().__init__(message)
        self.not_finite = not_finite


class InvalidPoseError(InvalidValueError):
    """A pose has the wrong shape or a value that is not finite."""


class InvalidHandStateError(InvalidValueError):
    """A hand state has wrong angles or fingertips."""


class InvalidJointStateError(InvalidValueError):
    """A joint vector has the wrong length or a value that is not finite."""


class ConfigError(TeleopError):
    """A configuration file or an override is invalid."""


class ModelError(TeleopError):
    """A robot model file is missing, invalid or incomplete.

    Attributes:
        path: The file or folder with the error, or None.
    """

    def __init__(self, message: str, path: Path | str | None = None) -> None:
        super().__init__(f"{path}: {message}" if path is not None else message)
        self.path = Path(path) if path is not None else None


class BVHError(TeleopError):
    """A motion file is unreadable or invalid.

    Attributes:
        path: The file.
        line: The line with the error, counted from 1, or None.
    """

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        location = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{location}: {message}")
        self.path = Path(path)
        self.line = line


class SimulationError(TeleopError):
    """The simulator cannot do this in its current state."""


class RenderingUnavailableError(SimulationError):
    """No OpenGL back end works, so cameras cannot be rendered."""


class CodecError(TeleopError):
    """An image cannot be encoded, or data cannot be decoded as an image."""


class ProtocolError(TeleopError):
    """The peer of a connection violated the protocol."""


class StreamError(TeleopError):
    """A stream cannot be opened, or is used while it is closed."""


class AuthenticationError(TeleopError):
    """The peer of a connection could not authenticate with the token."""


class RegistryError(TeleopError):
    """A registered name does not refer to a usable class."""


class UnknownNameError(TeleopError, LookupError):
    """A name does not exist; the message lists the valid names.

    Attributes:
        kind: Kind of object, such as "chain".
        name: The unknown name.
        choices: The valid names.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        super().__init__(f"no {kind} named {name!r}{suggestion(name, self.choices)}")


class MissingSignalError(ConfigError):
    """Required signals of the operator have no source.

    Attributes:
        missing: Controller, signal and remedy of each missing signal.
    """

    def __init__(self, missing: Iterable[tuple[str, str, str]]) -> None:
        self.missing = tuple(missing)
        needs = "; ".join(
            f"{controller} needs {signal!r}: {remedy}"
            for controller, signal, remedy in self.missing
        )
        super().__init__(f"signals are missing: {needs}")


class DeviceNotConnectedError(TeleopError):
    """A device was used before `initialize()` succeeded or after `shutdown()`."""

    def __init__(self, device: str) -> None:
        super().__init__(f"{device!r} is not connected; call initialize() first")
        self.device = device


class MissingExtraError(TeleopError):
    """An optional dependency is not installed; the message gives the command that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: pip install 'teleop_system[{extra}]'"
        )
        self.package = package
        self.extra = extra


def suggestion(name: str, choices: Iterable[str]) -> str:
    """Return the end of a message with the closest valid choice and the list of all."""
    choices = [str(choice) for choice in choices]
    if not choices:
        return "; there are no valid choices"
    nearest = difflib.get_close_matches(str(name), choices, n=1, cutoff=0.6)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ";"
    return f"{hint} valid choices: {', '.join(choices)}"
