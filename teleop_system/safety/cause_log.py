# SPDX-License-Identifier: Apache-2.0
"""Collects the causes of a cycle and remembers since when each has acted."""

from teleop_system.interfaces.causes import Cause, Rule, Severity


class CauseLog:
    """The causes of one cycle; one that continues from cycle to cycle keeps its `since`."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}
        self._causes: dict[tuple[str, str], Cause] = {}
        self._now = 0.0

    def begin(self, now: float) -> None:
        """Start a cycle at time `now` [s]; what is not reported in it has ended."""
        if self._causes or self._since:
            self._since = {key: cause.since for key, cause in self._causes.items()}
            self._causes = {}
        self._now = now

    def add(
        self,
        rule: Rule,
        subject: str,
        value: float,
        limit: float,
        severity: Severity = Severity.LIMITED,
    ) -> None:
        """Report that a rule acts on a subject; of several reports the most severe counts."""
        key = (rule.id, subject)  # Members of an enumeration are slow to hash.
        known = self._causes.get(key)
        if known is None or severity > known.severity:
            since = self._since.get(key, self._now)
            self._causes[key] = Cause(rule, subject, value, limit, since, severity)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What was reported since the cycle began, in that order."""
        return tuple(self._causes.values()) if self._causes else ()

    def clear(self) -> None:
        """Forget everything."""
        self._since = {}
        self._causes = {}
