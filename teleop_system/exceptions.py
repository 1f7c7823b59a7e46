# SPDX-License-Identifier: Apache-2.0
"""Every error the package raises on purpose; anything else is a bug."""

import difflib
from collections.abc import Iterable
from pathlib import Path


class TeleopError(Exception):
    """Root of all errors whose cause is the input, the configuration or the equipment."""


class InvalidValueError(TeleopError, ValueError):
    """A value does not have the shape, type or range its field needs.

    Attributes:
        not_finite: Whether it has numbers of the right shape, but some are NaN or infinite.
    """

    def __init__(self, message: str, *, not_finite: bool = False) -> None:
        super().__init__(message)
        self.not_finite = not_finite


class InvalidPoseError(InvalidValueError):
    """A pose is not six finite degrees of freedom."""


class InvalidHandStateError(InvalidValueError):
    """A hand state does not carry the angles or tips it should."""


class InvalidJointStateError(InvalidValueError):
    """A joint vector has the wrong length or a value that is not finite."""


class ConfigError(TeleopError):
    """A configuration file or override cannot be used as it stands."""


class ModelError(TeleopError):
    """A robot model file is missing, broken or does not say what is needed.

    Attributes:
        path: The file or folder at fault, where there is one.
    """

    def __init__(self, message: str, path: Path | str | None = None) -> None:
        super().__init__(f"{path}: {message}" if path is not None else message)
        self.path = Path(path) if path is not None else None


class BVHError(TeleopError):
    """A motion file cannot be read or cannot be used as it stands.

    Attributes:
        path: The file.
        line: The line at fault, counted from 1; None where no single line is.
    """

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {message}")
        self.path = Path(path)
        self.line = line


class SimulationError(TeleopError):
    """The simulator was asked for something it cannot do in its present state."""


class RenderingUnavailableError(SimulationError):
    """No OpenGL back end works here, so cameras cannot be rendered."""


class CodecError(TeleopError):
    """An image cannot be packed as asked, or packed data are not those of an image."""


class ProtocolError(TeleopError):
    """The far end of a connection sent something that is not the protocol."""


class StreamError(TeleopError):
    """A stream cannot be opened, or is used while it is not."""


class AuthenticationError(TeleopError):
    """The far end of a connection could not prove that it knows the token."""


class RegistryError(TeleopError):
    """A registered name does not lead to a usable class."""


class UnknownNameError(TeleopError, LookupError):
    """A name was asked for that does not exist; the message lists those that do.

    Attributes:
        kind: What sort of thing was asked for, such as "chain".
        name: The name as it was given.
        choices: The names that would have been valid.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        super().__init__(f"no {kind} named {name!r}{suggestion(name, self.choices)}")


class MissingSignalError(ConfigError):
    """Controllers need signals of the operator that no device provides.

    Attributes:
        missing: Controller, signal, and what would help, one entry per lack.
    """

    def __init__(self, missing: Iterable[tuple[str, str, str]]) -> None:
        self.missing = tuple(missing)
        lacks = "; ".join(
            f"{controller} needs {signal!r}: {remedy}"
            for controller, signal, remedy in self.missing
        )
        super().__init__(f"signals are missing: {lacks}")


class DeviceNotConnectedError(TeleopError):
    """A device was used before `initialize()` succeeded or after `shutdown()`."""

    def __init__(self, device: str) -> None:
        super().__init__(f"{device!r} is not connected; call initialize() first")
        self.device = device


class MissingExtraError(TeleopError):
    """An optional dependency is absent; the message says how to install it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: pip install 'teleop_system[{extra}]'"
        )
        self.package = package
        self.extra = extra


def suggestion(name: str, choices: Iterable[str]) -> str:
    """Return the tail of a message that names the nearest valid choice and lists them all."""
    choices = [str(choice) for choice in choices]
    if not choices:
        return "; there are none to choose from"
    nearest = difflib.get_close_matches(str(name), choices, n=1, cutoff=0.6)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ";"
    return f"{hint} valid choices: {', '.join(choices)}"
