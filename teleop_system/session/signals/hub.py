# SPDX-License-Identifier: Apache-2.0
"""Reads every device once per tick, and derives further signals from those."""

import abc
import inspect
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from teleop_system import registry
from teleop_system.devices.config import DriverSettings, HardwareSettings
from teleop_system.devices.signal_catalogue import SIGNALS, OperatorSample, Signal
from teleop_system.exceptions import (
    ConfigError,
    InvalidValueError,
    MissingSignalError,
    UnknownNameError,
    suggestion,
)
from teleop_system.interfaces import IHandInput, IMasterTracker, IReplayDevice
from teleop_system.interfaces.causes import Cause, Severity
from teleop_system.modules.gate import malformed_rule
from teleop_system.safety.cause_log import CauseLog
from teleop_system.session.signals.plan import SignalPlan

logger = logging.getLogger(__name__)

Samples = dict[str, OperatorSample | None]
Clock = Callable[[], float]
Reader = Callable[[], OperatorSample]


class ISignalSource(abc.ABC):
    """Where the operator's samples come from: devices, or a recording.

    Attributes:
        follows_clock: Whether its samples are stamped by the session's clock.
    """

    follows_clock = True

    @abc.abstractmethod
    def connect(self) -> None:
        """Connect to the devices."""

    @abc.abstractmethod
    def read(self, now: float) -> Samples:
        """Return the newest sample of every signal at time `now` [s]; None without one."""

    def engaged(self) -> None:  # noqa: B027 - Most sources need not know.
        """Note that the operator has taken control; a recording may begin."""

    @property
    def is_over(self) -> bool:
        """Whether the source has ended, such as a recording."""
        return False

    @property
    @abc.abstractmethod
    def causes(self) -> tuple[Cause, ...]:
        """Why samples of the last `read()` are None."""

    @abc.abstractmethod
    def close(self) -> None:
        """Disconnect the devices; safe to call twice."""


class SignalHub(ISignalSource):
    """The devices of a session, created and read according to a plan.

    Args:
        plan: Which signals to read and to derive.
        hardware: The drivers.
        clock: Monotonic time in [s] for drivers that take one; a simulation has its own.

    Raises:
        UnknownNameError: No driver of that name is registered.
        ConfigError: A driver does not take an option.
    """

    def __init__(self, plan: SignalPlan, hardware: HardwareSettings, clock: Clock) -> None:
        self._plan = plan
        self.follows_clock = True
        self._devices: dict[str, IMasterTracker | IHandInput] = {}
        shared: dict[tuple[str, str], IMasterTracker | IHandInput] = {}
        for name, driver in plan.measured.items():
            signal = SIGNALS[name]
            key = (driver, signal.worn_at)
            if key not in shared:
                # Angles and tips of one hand come from one device.
                shared[key] = self._create(driver, hardware.drivers[driver], signal, clock)
            self._devices[name] = shared[key]
        self._replays = [each for each in shared.values() if isinstance(each, IReplayDevice)]
        self._readers: dict[str, Reader] = {}
        self._log = CauseLog()

    @override
    def connect(self) -> None:
        failed = []
        for name, device in self._devices.items():
            if device.is_connected() or device.initialize():
                self._readers[name] = _reader(device)
            else:
                failed.append(name)
        needed = [
            (row.need.controller, row.need.signal, f"driver {row.provider!r} did not start")
            for row in self._plan.rows
            if row.need.signal in failed and row.need.required
        ]
        if needed:
            self.close()
            raise MissingSignalError(needed)
        for name in failed:
            logger.warning("signal %s is missing: its driver did not start", name)

    @override
    def read(self, now: float) -> Samples:
        self._log.begin(now)
        samples: Samples = {}
        for name, reader in self._readers.items():
            try:
                samples[name] = reader()
            except InvalidValueError as error:
                self._log.add(malformed_rule(error), name, math.nan, 0.0, Severity.HOLD)
                samples[name] = None
        for derivation in self._plan.derived:
            values = [samples.get(name) for name in derivation.requires]
            known = all(value is not None for value in values)
            samples[derivation.signal] = derivation.compute(*values) if known else None
        return samples

    @override
    def engaged(self) -> None:
        for device in self._replays:
            device.play()

    @property
    @override
    def is_over(self) -> bool:
        return bool(self._replays) and all(device.is_over for device in self._replays)

    @property
    @override
    def causes(self) -> tuple[Cause, ...]:
        return self._log.causes

    @override
    def close(self) -> None:
        self._readers.clear()
        for device in self._devices.values():
            device.shutdown()

    def _create(
        self, name: str, settings: DriverSettings, signal: Signal, clock: Clock
    ) -> IMasterTracker | IHandInput:
        try:
            driver = registry.find(settings.kind, settings.name)
        except UnknownNameError as error:
            raise UnknownNameError(
                f"{settings.kind} driver (in hardware.drivers.{name})",
                settings.name,
                error.choices,
            ) from error
        accepted = inspect.signature(driver).parameters
        _check_options(name, settings.options, accepted)
        options: dict[str, Any] = dict(settings.options)
        if "clock" in accepted:
            options["clock"] = clock
        else:
            self.follows_clock = False
        device: IMasterTracker | IHandInput = driver(signal.worn_at, **options)
        return device


def _reader(device: IMasterTracker | IHandInput) -> Reader:
    return device.get_pose if isinstance(device, IMasterTracker) else device.get_joint_state


def _check_options(
    name: str, options: Mapping[str, Any], accepted: Mapping[str, inspect.Parameter]
) -> None:
    if any(entry.kind is inspect.Parameter.VAR_KEYWORD for entry in accepted.values()):
        return
    choices = [entry for entry in list(accepted)[1:] if entry != "clock"]
    for option in options:
        if option not in choices:
            raise ConfigError(
                f"hardware.drivers.{name}.options: no option named {option!r}"
                f"{suggestion(option, choices)}"
            )
