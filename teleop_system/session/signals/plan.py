# SPDX-License-Identifier: Apache-2.0
"""Who needs which signal, and where it will come from: settled once, before anything starts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teleop_system.devices.signal_catalogue import DERIVATIONS, SIGNALS, Derivation
from teleop_system.exceptions import ConfigError, MissingSignalError, UnknownNameError

MEASURED, DERIVED, MISSING = "measured", "derived", "missing"


@dataclass(frozen=True, slots=True)
class Need:
    """A signal that a controller wants.

    Attributes:
        controller: Who wants it.
        signal: What it wants.
        required: Whether it cannot work without.
        purpose: What for, for people.
    """

    controller: str
    signal: str
    required: bool = True
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One line of the table of signals.

    Attributes:
        need: Who wants what.
        source: "measured", "derived" or "missing".
        provider: The driver that measures it, or what it is derived from; what would help where
            it is missing.
    """

    need: Need
    source: str
    provider: str

    @property
    def is_missing(self) -> bool:
        """Whether the controller cannot work."""
        return self.source == MISSING and self.need.required


@dataclass(frozen=True, slots=True)
class SignalPlan:
    """Where every wanted signal comes from.

    Attributes:
        rows: One line per controller and signal.
        measured: Drivers by the signals to read from them, those for derivations included.
        derived: Derivations in an order in which they can be computed.
    """

    rows: tuple[SignalRow, ...]
    measured: Mapping[str, str]
    derived: tuple[Derivation, ...]

    @property
    def missing(self) -> tuple[SignalRow, ...]:
        """The lines that keep a controller from working."""
        return tuple(row for row in self.rows if row.is_missing)

    def require(self) -> None:
        """Make sure that every controller has what it cannot do without.

        Raises:
            MissingSignalError: Naming every signal that is missing, for whom, and what would help.
        """
        if self.missing:
            raise MissingSignalError(
                [(row.need.controller, row.need.signal, row.provider) for row in self.missing]
            )


def plan_signals(needs: Iterable[Need], measured: Mapping[str, str]) -> SignalPlan:
    """Return where wanted signals come from: from a device, from other signals, or from nowhere.

    Args:
        needs: What the controllers want.
        measured: Which driver measures a signal, as configured.

    Raises:
        UnknownNameError: A signal does not exist.
    """
    wanted = list(needs)
    for name in (*(need.signal for need in wanted), *measured):
        if name not in SIGNALS:
            raise UnknownNameError("signal", name, SIGNALS)
    planner = _Planner(measured)
    rows = tuple(SignalRow(need, *planner.source(need.signal)) for need in wanted)
    return SignalPlan(rows, planner.used, tuple(planner.derived))


class _Planner:
    """Finds sources, and remembers what they rest on."""

    def __init__(self, measured: Mapping[str, str]) -> None:
        self._measured = measured
        self.used: dict[str, str] = {}
        self.derived: list[Derivation] = []

    def source(self, signal: str) -> tuple[str, str]:
        """Return the kind of source of a signal, and who or what it is."""
        if signal in self._measured:
            driver = self._measured[signal]
            self.used[signal] = driver
            return MEASURED, driver
        derivation = DERIVATIONS.get(signal)
        if derivation is None:
            return MISSING, f"no driver measures it; configure hardware.signals.{signal}"
        lacking = [name for name in derivation.requires if not self._can_have(name)]
        if lacking:
            either = " and ".join(f"hardware.signals.{name}" for name in lacking)
            return MISSING, f"configure hardware.signals.{signal}, or {either} to derive it"
        for name in derivation.requires:
            self.source(name)
        if derivation not in self.derived:
            self.derived.append(derivation)
        return DERIVED, f"{derivation.how} ({', '.join(derivation.requires)})"

    def _can_have(self, signal: str, depth: int = 0) -> bool:
        if signal in self._measured:
            return True
        derivation = DERIVATIONS.get(signal)
        if derivation is None:
            return False
        if depth > len(DERIVATIONS):
            raise ConfigError(f"the derivation of {signal!r} needs itself")
        return all(self._can_have(name, depth + 1) for name in derivation.requires)
