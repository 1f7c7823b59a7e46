# SPDX-License-Identifier: Apache-2.0
"""Which of the operator's modules are present, and whether their inputs are fresh."""

from dataclasses import dataclass

from teleop_system.safety.staleness import OPERATOR_MODULE, is_stale


@dataclass(frozen=True, slots=True)
class _Report:
    """The last report of a module."""

    fresh: bool
    detail: str
    time: float


class OperatorModules:
    """The last report of each of the operator's modules about its inputs.

    Args:
        timeout: Silence in [s] after which a module counts as absent.
    """

    def __init__(self, timeout: float = OPERATOR_MODULE.timeout) -> None:
        self._timeout = timeout
        self._reports: dict[str, _Report] = {}

    def receive(self, module: str, *, fresh: bool, detail: str, now: float) -> None:
        """Store the report of a module at time `now` [s].

        Args:
            module: Its name.
            fresh: Whether all inputs it needs are fresh.
            detail: Which inputs are not, in words.
            now: Time of the report.
        """
        self._reports[module] = _Report(fresh, detail, now)

    def present(self, now: float) -> tuple[str, ...]:
        """Return the modules that are present at time `now` [s], in order of first report."""
        return tuple(
            name
            for name, report in self._reports.items()
            if not is_stale(now - report.time, self._timeout)
        )

    def are_fresh(self, now: float) -> bool:
        """Tell whether at least one module is present, and all present ones have fresh inputs."""
        present = self.present(now)
        return bool(present) and all(self._reports[name].fresh for name in present)

    def some_are_fresh(self, now: float) -> bool:
        """Tell whether at least one module that is present has fresh inputs."""
        return any(self._reports[name].fresh for name in self.present(now))

    def missing(self, now: float) -> str:
        """Return which modules lack which inputs, in words; empty where none lacks any."""
        lacking = [name for name in self.present(now) if not self._reports[name].fresh]
        return "; ".join(f"{name}: {self._reports[name].detail}" for name in lacking)
