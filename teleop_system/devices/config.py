# SPDX-License-Identifier: Apache-2.0
"""Settings of devices and of the signals they measure."""

from dataclasses import dataclass, field
from typing import Any, Literal

from teleop_system.devices.signal_catalogue import SIGNALS
from teleop_system.exceptions import ConfigError, UnknownNameError


@dataclass(frozen=True, slots=True)
class DriverSettings:
    """A driver; one instance is created per signal."""

    kind: Literal["tracker", "hand_input"]
    """What it measures: body poses, or hand states."""
    name: str
    """Registered name of the driver."""
    options: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of its constructor, except role or side."""


@dataclass(frozen=True, slots=True)
class HardwareSettings:
    """The devices of a session."""

    robot: str | None = None
    """Registered name of the robot's drivers for mode `hardware`; null without one."""
    drivers: dict[str, DriverSettings] = field(default_factory=dict)
    """Drivers by a free name."""
    signals: dict[str, str | None] = field(default_factory=dict)
    """Driver of each signal; null if none measures it."""

    def __post_init__(self) -> None:
        for signal, driver in self.signals.items():
            if signal not in SIGNALS:
                raise UnknownNameError("signal", signal, SIGNALS)
            if driver is None:
                continue
            if driver not in self.drivers:
                raise UnknownNameError("driver", driver, self.drivers)
            kind, needed = self.drivers[driver].kind, SIGNALS[signal].kind
            if kind != needed:
                raise ConfigError(
                    f"signals.{signal} needs a driver of kind {needed!r}, "
                    f"but {driver!r} is a {kind!r}"
                )

    @property
    def measured(self) -> dict[str, str]:
        """Driver of every measured signal."""
        return {signal: driver for signal, driver in self.signals.items() if driver is not None}
