# SPDX-License-Identifier: Apache-2.0
"""The source of every signal that a controller needs, decided before the session starts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teleop_system.devices.signal_catalogue import DERIVATIONS, SIGNALS, Derivation
from teleop_system.exceptions import ConfigError, MissingSignalError, UnknownNameError

MEASURED, DERIVED, MISSING = "measured", "derived", "missing"


@dataclass(frozen=True, slots=True)
class Need:
    """A signal that a controller uses.

    Attributes:
        controller: Name of the controller.
        signal: Name of the signal.
        required: Whether the controller cannot work without it.
        purpose: What the controller uses it for, as text.
    """

    controller: str
    signal: str
    required: bool = True
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One row of the signal table.

    Attributes:
        need: The controller and its signal.
        source: "measured", "derived" or "missing".
        provider: The driver that measures it, or the signals that it is derived from; for a
            missing signal, the configuration that would provide it.
    """

    need: Need
    source: str
    provider: str

    @property
    def is_missing(self) -> bool:
        """Whether a required signal has no source."""
        return self.source == MISSING and self.need.required


@dataclass(frozen=True, slots=True)
class SignalPlan:
    """Source of every signal.

    Attributes:
        rows: One row per controller and signal.
        measured: Driver by signal, including signals that only derivations use.
        derived: Derivations, in an order in which they can be computed.
    """

    rows: tuple[SignalRow, ...]
    measured: Mapping[str, str]
    derived: tuple[Derivation, ...]

    @property
    def missing(self) -> tuple[SignalRow, ...]:
        """Rows of required signals without a source."""
        return tuple(row for row in self.rows if row.is_missing)

    def require(self) -> None:
        """Check that every required signal has a source.

        Raises:
            MissingSignalError: The missing signals, their controllers and what would provide them.
        """
        if self.missing:
            raise MissingSignalError(
                [(row.need.controller, row.need.signal, row.provider) for row in self.missing]
            )


def plan_signals(needs: Iterable[Need], measured: Mapping[str, str]) -> SignalPlan:
    """Return the source of each signal: a device, other signals, or none.

    Args:
        needs: Signals that the controllers use.
        measured: Driver by signal, as configured.

    Raises:
        UnknownNameError: A signal does not exist.
    """
    needs = list(needs)
    for name in (*(need.signal for need in needs), *measured):
        if name not in SIGNALS:
            raise UnknownNameError("signal", name, SIGNALS)
    planner = _Planner(measured)
    rows = tuple(SignalRow(need, *planner.source(need.signal)) for need in needs)
    return SignalPlan(rows, planner.used, tuple(planner.derived))


class _Planner:
    """Finds the source of each signal and collects the drivers and derivations in use."""

    def __init__(self, measured: Mapping[str, str]) -> None:
        self._measured = measured
        self.used: dict[str, str] = {}
        self.derived: list[Derivation] = []

    def source(self, signal: str) -> tuple[str, str]:
        """Return the kind of source of a signal, and its provider."""
        if signal in self._measured:
            driver = self._measured[signal]
            self.used[signal] = driver
            return MEASURED, driver
        derivation = DERIVATIONS.get(signal)
        if derivation is None:
            return MISSING, f"no driver measures it; configure hardware.signals.{signal}"
        missing = [name for name in derivation.requires if not self._is_available(name)]
        if missing:
            keys = " and ".join(f"hardware.signals.{name}" for name in missing)
            return MISSING, f"configure hardware.signals.{signal}, or {keys} to derive it"
        for name in derivation.requires:
            self.source(name)
        if derivation not in self.derived:
            self.derived.append(derivation)
        return DERIVED, f"{derivation.how} ({', '.join(derivation.requires)})"

    def _is_available(self, signal: str, depth: int = 0) -> bool:
        if signal in self._measured:
            return True
        derivation = DERIVATIONS.get(signal)
        if derivation is None:
            return False
        if depth > len(DERIVATIONS):
            raise ConfigError(f"the derivation of signal {signal!r} is circular")
        return all(self._is_available(name, depth + 1) for name in derivation.requires)
