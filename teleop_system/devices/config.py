# SPDX-License-Identifier: Apache-2.0
"""Which devices the operator uses, and which signals they measure."""

from dataclasses import dataclass, field
from typing import Any, Literal

from teleop_system.devices.signal_catalogue import SIGNALS
from teleop_system.exceptions import ConfigError, UnknownNameError


@dataclass(frozen=True, slots=True)
class DriverSettings:
    """A kind of device; one instance of it is made for every signal it measures."""

    kind: Literal["tracker", "hand_input"]
    """What it measures: poses of the body, or states of a hand."""
    name: str
    """Registered name of the driver."""
    options: dict[str, Any] = field(default_factory=dict)
    """What its constructor takes by keyword, besides where it is worn."""


@dataclass(frozen=True, slots=True)
class HardwareSettings:
    """The devices of a session."""

    robot: str | None = None
    """Registered name of the robot's drivers for mode `hardware`; null where there are none."""
    drivers: dict[str, DriverSettings] = field(default_factory=dict)
    """Devices by a name of your choice."""
    signals: dict[str, str | None] = field(default_factory=dict)
    """The driver that measures a signal; null where nobody does."""

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
        """The driver of every signal that has one."""
        return {signal: driver for signal, driver in self.signals.items() if driver is not None}
