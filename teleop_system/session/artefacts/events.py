# SPDX-License-Identifier: Apache-2.0
"""Events of a run: state changes and causes that began and ended, one JSON object per line.

A separate thread writes each line at once: control never waits for the disk, and the events
survive a crash.
"""

import json
import logging
import math
import queue
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from teleop_system.interfaces.causes import Cause, Rule, Severity

logger = logging.getLogger(__name__)

Key = tuple[Rule, str]

SHORTEST_BREAK = 0.25
"""A cause that returns within this time in [s] counts as one."""
LOG_INTERVAL = 1.0
"""Shortest time between two log lines of the same cause in [s]."""


@dataclass(slots=True)
class Intervention:
    """One cause from its beginning to its end.

    Attributes:
        rule: The rule that acted.
        subject: The joint, link, part or signal that it acted on.
        severity: The highest severity.
        began: Time of its beginning in [s].
        ended: Time when it last acted in [s].
        value: The value furthest from its limit, in the rule's unit.
        limit: The limit at that moment, in the rule's unit.
        ticks: Number of ticks in which it acted.
    """

    rule: Rule
    subject: str
    severity: Severity
    began: float
    ended: float
    value: float
    limit: float
    ticks: int = 1

    @property
    def duration(self) -> float:
        """Time from beginning to end in [s]."""
        return self.ended - self.began


class EventLog:
    """Turns the causes of every tick into events, keeps them and writes them.

    Args:
        path: The file to write; None keeps the events in memory only.

    Attributes:
        interventions: All causes so far, in order of their beginning.
        events: All events so far.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.interventions: list[Intervention] = []
        self.events: list[dict[str, Any]] = []
        self._active: dict[Key, Intervention] = {}
        self._logged: dict[Key, float] = {}
        self._lines: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        if path is not None:
            file = path.open("w", encoding="utf-8")
            self._writer = threading.Thread(
                target=self._write, args=(file,), name="event log", daemon=True
            )
            self._writer.start()

    def add(self, now: float, kind: str, **facts: Any) -> None:
        """Add an event of a kind, with its facts by name."""
        event = {"time": round(now, 4), "event": kind} | _json_facts(facts)
        self.events.append(event)
        if self._writer is not None:
            self._lines.put(event)

    def add_causes(self, now: float, causes: Iterable[Cause]) -> None:
        """Add the causes of one tick at time `now` [s]."""
        active = self._active
        for cause in causes:
            if cause.rule is Rule.NOT_ENGAGED:
                continue  # Every state of the engagement is an event.
            key: Key = (cause.rule, cause.subject)
            known = active.get(key)
            if known is None:
                active[key] = self._begin(now, cause)
            else:
                known.ended = now
                known.ticks += 1
                if cause.severity > known.severity:
                    known.severity = cause.severity
                if abs(cause.value - cause.limit) > abs(known.value - known.limit):
                    known.value, known.limit = cause.value, cause.limit
        if active:
            for key in [k for k, each in active.items() if now - each.ended > SHORTEST_BREAK]:
                self._end(active.pop(key))

    def close(self) -> None:
        """End the active causes and finish writing; safe to call twice."""
        for known in self._active.values():
            self._end(known)
        self._active.clear()
        if self._writer is not None:
            self._lines.put(None)
            self._writer.join()
            self._writer = None

    def _begin(self, now: float, cause: Cause) -> Intervention:
        known = Intervention(
            cause.rule, cause.subject, cause.severity, now, now, cause.value, cause.limit
        )
        self.interventions.append(known)
        self.add(now, "cause", **_facts(known), message=str(cause))
        key = (cause.rule, cause.subject)
        if cause.severity >= Severity.HOLD and now - self._logged.get(key, -math.inf) >= (
            LOG_INTERVAL
        ):
            self._logged[key] = now
            logger.info("%s", cause)
        return known

    def _end(self, known: Intervention) -> None:
        facts = _facts(known)
        self.add(known.ended, "cause ended", **facts, duration=known.duration, ticks=known.ticks)

    def _write(self, file: TextIO) -> None:
        with file:
            while (event := self._lines.get()) is not None:
                file.write(json.dumps(event) + "\n")
                if self._lines.empty():
                    file.flush()


def _facts(known: Intervention) -> dict[str, Any]:
    return {
        "rule": known.rule.id,
        "subject": known.subject,
        "severity": known.severity.name.lower(),
        "value": known.value,
        "limit": known.limit,
        "unit": known.rule.unit,
    }


def _json_facts(facts: dict[str, Any]) -> dict[str, Any]:
    # JSON has neither NaN nor infinity.
    return {
        name: None
        if isinstance(value, float) and not math.isfinite(value)
        else round(value, 6)
        if isinstance(value, float)
        else value
        for name, value in facts.items()
    }
